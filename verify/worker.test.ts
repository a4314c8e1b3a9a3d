import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ROOT } from "./support/chromium.ts";
import { startCommand, type Running } from "./support/server.ts";
import { startWorkerExample } from "./support/worker-example.ts";

const CONFIG = `${ROOT}examples/worker/connecta.config.mjs`;
const MODERN = "2026-07-28";
const META = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

let node: Running;
let worker: Running;

beforeAll(async () => {
  [node, worker] = await Promise.all([
    startCommand(["serve", "--config", CONFIG], ROOT),
    startWorkerExample(),
  ]);
});

afterAll(async () => {
  await Promise.all([node.stop(), worker.stop()]);
});

type Params = Record<string, unknown>;

/** One request as clients of either generation send it; the answer without times and columns. */
async function ask(
  { origin }: Running,
  method: string,
  params: Params,
  isModern = false,
): Promise<string> {
  const name = String(params.name ?? params.uri ?? "");
  const response = await fetch(`${origin}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": isModern ? MODERN : "2025-11-25",
      ...(isModern && { "mcp-method": method }),
      ...(isModern && name !== "" && { "mcp-name": name }),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: isModern ? { ...params, _meta: META } : params,
    }),
  });
  const text = await response.text();
  const json = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  const normal = json
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    // Engines count the columns of a throw differently.
    .replace(/(column(?:\\?":| ))\d+/g, "$1<column>");
  return `${response.status} ${normal}`;
}

const call = (name: string, args: Params) => ["tools/call", { name, arguments: args }] as const;

const PROGRAM = `async () => {
  const { items } = await stock.list_items({ below_minimum: true });
  const [refused] = await connecta.batch([{ address: "stock.order_item", args: { sku: "B-200", count: 1 } }]);
  await connecta.emit({ type: "text", text: items.map(({ name }) => name).join(", ") });
  await connecta.ui("<p>Stock</p>", { reads: { now: { address: "stock.list_items" } } });
  console.log("read", items.length);
  return { items, refused: refused.error.code };
}`;

const REQUESTS: Readonly<Record<string, readonly [string, Params]>> = {
  "the handshake of the older generation": [
    "initialize",
    {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    },
  ],
  "the list of tools": ["tools/list", {}],
  "the list of resources": ["resources/list", {}],
  "the shell": ["resources/read", { uri: shellUri() }],
  "a resource that there is not": ["resources/read", { uri: "ui://connecta/none" }],
  "a program with a call, a refused write, a block, a view and its read": call("execute_code", {
    code: PROGRAM,
  }),
  "a search": call("search_tools", { query: "what runs low" }),
  "a read of a view": call("call_tool", {
    address: "stock.list_items",
    args: {},
    resultMode: "value",
  }),
  "a refused write": call("call_tool", {
    address: "stock.order_item",
    args: { sku: "A-100", count: 1 },
  }),
  "an approved write": call("call_destructive_tool", {
    address: "stock.order_item",
    args: { sku: "A-100", count: 1 },
  }),
  "arguments that the schema refuses": call("call_tool", {
    address: "stock.list_items",
    args: { below_minimum: "yes" },
  }),
  "a sign-in that nobody needs": call("authorize_connector", { connector: "stock" }),
  "a page of what was never kept": call("get_result", { id: "none" }),
  "the skills": call("skills", {}),
  "a program that is none": call("execute_code", { code: "async () => {" }),
  "a program that throws": call("execute_code", { code: "async () => { throw new Error('no') }" }),
};

/** The address of the shell, as it is written down beside its hash. */
function shellUri(): string {
  const text = readFileSync(`${ROOT}shell/versions.json`, "utf8");
  const versions = JSON.parse(text) as { version: number }[];
  return `ui://connecta/program-ui/v${versions.at(-1)?.version}`;
}

describe("one deployment file on Node and as a Worker", () => {
  test.each(Object.entries(REQUESTS))("both answer the same: %s", async (_, [method, params]) => {
    for (const isModern of [false, true]) {
      if (isModern && method === "initialize") continue;
      const expected = await ask(node, method, params, isModern);
      expect(await ask(worker, method, params, isModern)).toBe(expected);
      expect(expected).toMatch(/^(?:200 \{.*"result"|\d+ \{.*"error":\{"code":-32)/);
    }
  });

  test("the Worker serves the built shell byte for byte", async () => {
    const answer = await ask(worker, "resources/read", { uri: shellUri() });
    const { result } = JSON.parse(answer.slice(4)) as { result: { contents: { text: string }[] } };
    expect(result.contents[0]?.text).toBe(readFileSync(`${ROOT}dist/shell/index.html`, "utf8"));
  });

  test("the program did what both say, and not merely the same", async () => {
    const answer = await ask(worker, ...call("execute_code", { code: PROGRAM }));
    const { result } = JSON.parse(answer.slice(4)) as { result: Record<string, unknown> };
    expect(result.structuredContent).toMatchObject({
      result: {
        items: [{ sku: "B-200" }, { sku: "C-300" }],
        refused: "destructive_tool_requires_approval",
      },
      emitted: 1,
      ui: true,
      logs: "read 2",
    });
    expect(result._meta).toEqual({
      "connecta/ui": { html: "<p>Stock</p>", reads: { now: { address: "stock.list_items" } } },
    });
  });
});
