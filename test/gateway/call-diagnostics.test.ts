import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createConnecta,
  type Connecta,
  type Outcome,
  type ToolResult,
} from "../../server/index.ts";
import { quickjsExecutor } from "../../server/sandbox/pool.ts";
import { fail, ok } from "../../server/shared/failure.ts";
import { fakeConnector, fakeTool } from "../support/catalog.ts";
import { callTool } from "../support/gateway.ts";

const BLOCKS = [{ type: "image", data: "AAAA", mimeType: "image/png", _meta: { a: 1 } }];
let failures = 0;

const ANSWERS: Readonly<Record<string, () => Outcome<ToolResult>>> = {
  blocks: () => ok({ kind: "mcp", content: BLOCKS, structuredContent: { n: 1 } }),
  value: () => ok({ kind: "value", value: [1] }),
  error: () => ok({ kind: "mcp", content: [{ type: "text", text: "No." }], isError: true }),
  long: () => ok({ kind: "mcp", content: [{ type: "text", text: "x".repeat(60_000) }] }),
  busy: () => (failures++, fail("rate_limited", "Busy.", { retryAfterMs: 1 })),
};

const inputSchema = { type: "object", properties: { id: { type: "string" } } };
const connector = fakeConnector(
  "down",
  Object.keys(ANSWERS).map((name) => fakeTool(name, { inputSchema })),
  { callTool: (name) => Promise.resolve(ANSWERS[name]?.() ?? fail("internal", "No such case.")) },
);

let connecta: Connecta;
beforeAll(() => {
  connecta = createConnecta({
    connectors: [connector],
    executor: quickjsExecutor({ processes: 1 }),
  });
});
afterAll(() => connecta.close());

const call = (name: string, more: Record<string, unknown> = {}) =>
  callTool(connecta, "call_tool", { address: `down.${name}`, diagnostics: true, ...more });

const numbers = (attempts: number) => ({
  totalMs: expect.any(Number) as number,
  catalogMs: expect.any(Number) as number,
  connectorMs: expect.any(Number) as number,
  attempts,
});

test("I3, R4: in the value form diagnostics stand beside the data", async () => {
  const { structuredContent, _meta } = await call("value", { resultMode: "value" });
  expect(structuredContent).toEqual({ ok: true, data: [1], diagnostics: numbers(1) });
  expect(_meta).toBeUndefined();
});

test("I3, I7: of blocks nothing is changed: diagnostics stand in _meta", async () => {
  expect(await call("blocks")).toEqual({
    content: BLOCKS,
    structuredContent: { n: 1 },
    _meta: { "connecta/diagnostics": numbers(1) },
  });
  expect(await call("error")).toEqual({
    content: [{ type: "text", text: "No." }],
    isError: true,
    _meta: { "connecta/diagnostics": numbers(1) },
  });
});

test("I3, I5: what is announced has them beside the announcement", async () => {
  expect((await call("long")).structuredContent).toMatchObject({
    truncated: true,
    diagnostics: numbers(1),
  });
});

test("I3: a failure has them beside the error, with the attempts that were made", async () => {
  failures = 0;
  const { structuredContent, isError } = await call("busy", { maxRetries: 2 });
  expect(isError).toBe(true);
  expect(structuredContent).toEqual({
    ok: false,
    error: expect.objectContaining({ code: "rate_limited" }) as unknown,
    diagnostics: numbers(3),
  });
  expect(failures).toBe(3);
});

test("I3: what is refused before it is attempted was attempted no time", async () => {
  for (const [name, more] of [
    ["nothing", {}],
    ["value", { args: { id: 5 } }],
  ] as const) {
    expect((await call(name, more)).structuredContent).toMatchObject({
      ok: false,
      diagnostics: { attempts: 0, connectorMs: 0 },
    });
  }
});

test("I3: nobody gets them unasked", async () => {
  for (const name of Object.keys(ANSWERS)) {
    const answer = await call(name, { diagnostics: false });
    expect(JSON.stringify(answer)).not.toContain("diagnostics");
  }
});
