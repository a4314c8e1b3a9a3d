import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createConnecta, type Connecta } from "../../server/index.ts";
import { quickjsExecutor } from "../../server/sandbox/pool.ts";
import { ok } from "../../server/shared/failure.ts";
import { fakeConnector, fakeTool } from "../support/catalog.ts";
import { callTool, rpc, type Era } from "../support/gateway.ts";

const ERAS: readonly Era[] = ["legacy", "modern"];

/** What servers send, whatever the protocol's own types know of it. */
const ANSWERS: Readonly<Record<string, Record<string, unknown>>> = {
  "a block of a kind that nobody knows": { content: [{ type: "hologram", depth: 3 }] },
  "an image whose data is no base64": {
    content: [{ type: "image", data: "no base64!", mimeType: "image/png" }],
  },
  "an image without a type": { content: [{ type: "image", data: "AAAA" }] },
  "a resource without text or blob": {
    content: [{ type: "resource", resource: { uri: "file:///a" } }],
  },
  "a link, a text with annotations and _meta, audio": {
    content: [
      { type: "resource_link", uri: "https://a.example/b", name: "b" },
      { type: "text", text: "a", annotations: { priority: 7 }, _meta: { "x/y": 1 } },
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
    ],
  },
  "a structured list": { content: [{ type: "text", text: "[1]" }], structuredContent: [1] },
  "both text and structure": {
    content: [{ type: "text", text: "one" }],
    structuredContent: { one: 1 },
  },
};

const downstream = fakeConnector(
  "down",
  Object.keys(ANSWERS).map((name) => fakeTool(name)),
  { callTool: (name) => Promise.resolve(ok({ kind: "mcp", ...ANSWERS[name] } as never)) },
);

let connecta: Connecta;
beforeAll(() => {
  connecta = createConnecta({
    connectors: [downstream],
    executor: quickjsExecutor({ processes: 1 }),
  });
});
afterAll(() => connecta.close());

describe.each(ERAS)("for a %s client", (era) => {
  test.each(Object.keys(ANSWERS))("I7: %s passes unchanged", async (name) => {
    const answer = await callTool(connecta, "call_tool", { address: `down.${name}` }, era);
    expect(answer).toMatchObject(ANSWERS[name] ?? {});
    expect(answer.content).toEqual(ANSWERS[name]?.content);
  });

  test("E1: a call without a name and a method that is none are refused by the protocol's codes", async () => {
    const unnamed = await rpc(connecta, "tools/call", { arguments: {} }, era);
    expect(unnamed.error.code).toBe(-32602);
    const unknown = await rpc(connecta, "tools/explode", {}, era);
    expect(unknown.error.code).toBe(-32601);
    expect(unknown.status).toBe(era === "modern" ? 404 : 200);
  });
});
