import { Miniflare } from "miniflare";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { bundled } from "./support/bundle.ts";
import { ROOT } from "./support/chromium.ts";
import { startCommand, type Running } from "./support/server.ts";

let server: Running;
let script: string;
let worker: Miniflare;
let origin: string;

beforeAll(async () => {
  const config = `${ROOT}examples/worker/connecta.config.mjs`;
  [server, script] = await Promise.all([
    startCommand(["serve", "--config", config], ROOT),
    bundled(ROOT, "verify/support/remote-worker.ts"),
  ]);
});

beforeEach(async () => {
  worker = new Miniflare({
    modules: true,
    script,
    compatibilityDate: "2026-04-01",
    compatibilityFlags: ["enable_request_signal"],
    workerLoaders: { LOADER: {} },
    bindings: { SERVER: `${server.origin}/mcp` },
    cf: false,
  });
  ({ origin } = await worker.ready);
});

afterEach(() => worker.dispose());
afterAll(() => server.stop());

/** Calls a tool of the Worker; gives its structured content. */
async function call(name: string, args: unknown, signal?: AbortSignal): Promise<unknown> {
  const response = await fetch(`${origin}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: args },
    }),
    ...(signal && { signal }),
  });
  const text = await response.text();
  const message = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as {
    result: { structuredContent: unknown };
  };
  return message.result.structuredContent;
}

const CLIENTS = 32;

describe.each(["auto", "legacy"])("an MCP server behind a Worker, asked as %s", (id) => {
  const code = `return (await connecta.call("${id}.search_tools", { query: "stock" })).total`;

  test("many at once find nothing loaded, share what one of them loads, and are all answered", async () => {
    const runs = Array.from({ length: CLIENTS }, () => call("execute_code", { code }));
    expect(await Promise.all(runs)).toEqual(runs.map(() => ({ result: expect.any(Number) })));
  });

  test("the first one leaves while it loads, and the others are answered all the same", async () => {
    const leaving = new AbortController();
    const left = call("execute_code", { code }, leaving.signal).catch(() => "left");
    const others = Array.from({ length: CLIENTS }, () => call("execute_code", { code }));
    leaving.abort();
    expect(await left).toBe("left");
    expect(await Promise.all(others)).toEqual(others.map(() => ({ result: expect.any(Number) })));
  });
});
