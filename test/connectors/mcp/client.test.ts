import { InMemoryTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { connect, makeClient } from "../../../server/connectors/mcp/client.ts";

test("servers are told our name and version, and that we offer them nothing", async () => {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const said = new Promise<unknown>((resolve) => {
    theirs.onmessage = (message) => resolve("params" in message ? message.params : undefined);
  });
  const leaving = new AbortController();
  const client = await makeClient("legacy", 1_000);
  const connecting = connect(client, ours, leaving.signal);
  expect(await said).toMatchObject({
    clientInfo: { name: "connecta", version: manifest.version },
    capabilities: {},
  });
  leaving.abort();
  await expect(connecting).rejects.toThrow();
});
