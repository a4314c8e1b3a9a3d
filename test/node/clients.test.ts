import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listen, quickjsExecutor, type Listening } from "../../server/node/index.ts";
import { exercise } from "../support/exercise.ts";
import { fixtureConnectors } from "../support/gateway.ts";

let server: Listening;
beforeAll(async () => {
  const opened = await listen(
    { connectors: fixtureConnectors(), executor: quickjsExecutor({ processes: 1 }) },
    { port: 0 },
  );
  if (!opened.ok) throw new Error(opened.failure.message);
  server = opened.value;
});
afterAll(() => server.close());

const INFO = { name: "test", version: "1" };
const AMOUNT = '(await crm.get_record({ id: "r7" })).amount';

describe("real clients over a real socket", () => {
  test("G1: the current client, as it comes", async () => {
    const client = new Client(INFO);
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)));
    await exercise(client, AMOUNT, 137);
    await client.close();
  });

  test("G1: the current client negotiating 2026-07-28", async () => {
    const client = new Client(INFO, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)));
    await exercise(client, AMOUNT, 137);
    await client.close();
  });

  test("G1: a client of the 2025 generation", async () => {
    const client = new OldClient(INFO);
    await client.connect(new OldTransport(new URL(`${server.url}/mcp`)));
    await exercise(client, AMOUNT, 137);
    await client.close();
  });

  test("an address other than loopback is not opened without auth", async () => {
    const refused = await listen({ connectors: [] }, { hostname: "0.0.0.0", port: 0 });
    expect(refused).toMatchObject({ ok: false, failure: { code: "unavailable" } });
  });

  test("with a bearer, a client without it is turned away and one with it is served", async () => {
    const token = "correct-horse-battery";
    const opened = await listen(
      {
        connectors: fixtureConnectors(),
        executor: quickjsExecutor({ processes: 1 }),
        auth: { bearer: token },
      },
      { port: 0, hostname: "0.0.0.0" },
    );
    if (!opened.ok) throw new Error(opened.failure.message);
    const url = new URL(`http://127.0.0.1:${opened.value.port}/mcp`);
    try {
      const stranger = new Client(INFO);
      await expect(stranger.connect(new StreamableHTTPClientTransport(url))).rejects.toThrow();
      const client = new Client(INFO);
      const requestInit = { headers: { authorization: `Bearer ${token}` } };
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
      expect((await client.listTools()).tools).toHaveLength(7);
      await client.close();
    } finally {
      await opened.value.close();
    }
  });
});
