import { toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer as OldServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { randomUUID } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { remoteMcp } from "../../../server/connectors/remote/remote.ts";
import { testScope } from "../../support/scope.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

const scope = testScope();
const INPUT = { id: z.string() };
const answer = ({ id }: { id: string }) => ({ content: [{ type: "text" as const, text: id }] });

/** Serves on any free port and gives the address of the endpoint. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  open.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

async function expectToWork(url: string, options: { protocol?: "legacy" } = {}): Promise<void> {
  const crm = remoteMcp({ id: "crm", url, ...options });
  expect(await crm.listTools(scope)).toMatchObject({
    ok: true,
    value: [{ name: "get", description: "Gets.", annotations: { readOnlyHint: true } }],
  });
  expect(await crm.callTool("get", { id: "r7" }, scope)).toEqual({
    ok: true,
    value: { kind: "mcp", content: [{ type: "text", text: "r7" }] },
  });
  await crm.close?.();
}

describe("servers of the official kits", () => {
  const definition = { description: "Gets.", annotations: { readOnlyHint: true } };

  test.each([
    ["asked what it is", {}],
    ["taken for one of the older generation", { protocol: "legacy" as const }],
  ])("one of both generations, %s", async (_, options) => {
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: "crm", version: "1" });
      server.registerTool("get", { ...definition, inputSchema: z.object(INPUT) }, answer);
      return server;
    });
    const handle = toNodeHandler(handler);
    const url = await serve((request, response) => void handle(request as never, response));
    await expectToWork(url, options);
  });

  test("one of the older generation with sessions, which closing ends", async () => {
    const sessions = new Map<string, StreamableHTTPServerTransport>();
    let ended = 0;
    const url = await serve((request, response) => {
      void (async () => {
        const known = sessions.get(String(request.headers["mcp-session-id"]));
        if (known) return known.handleRequest(request, response);
        const transport = new StreamableHTTPServerTransport({
          sessionIdGenerator: () => randomUUID(),
          onsessioninitialized: (id) => void sessions.set(id, transport),
          onsessionclosed: () => void ended++,
        });
        const server = new OldServer({ name: "crm", version: "1" });
        server.registerTool("get", { ...definition, inputSchema: INPUT }, answer);
        await server.connect(transport as never);
        await transport.handleRequest(request, response);
      })();
    });
    await expectToWork(url);
    expect({ begun: sessions.size, ended }).toEqual({ begun: 1, ended: 1 });
  });

  test("one of the older generation without sessions", async () => {
    const url = await serve((request, response) => {
      void (async () => {
        const transport = new StreamableHTTPServerTransport({} as never);
        const server = new OldServer({ name: "crm", version: "1" });
        server.registerTool("get", { ...definition, inputSchema: INPUT }, answer);
        await server.connect(transport as never);
        await transport.handleRequest(request, response);
      })();
    });
    await expectToWork(url);
  });
});
