import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callTool, fixtureGateway, programs, type Fixture } from "../support/gateway.ts";

/** A deployment whose limits are small enough to be reached at once. */
let fixture: Fixture;
beforeAll(() => {
  fixture = fixtureGateway({
    calls: { timeoutMs: 30 },
    execute: { hostCallTimeoutMs: 40, maxResultBytes: 2_000 },
  });
});
afterAll(() => fixture.connecta.close());

const { run, result, error } = programs(() => fixture);
const call = (name: string, args: Record<string, unknown>) =>
  callTool(fixture.connecta, name, args);

describe("limits that a deployment sets", () => {
  test("I4: calls.timeoutMs ends a call that asks for no deadline", async () => {
    expect((await call("call_tool", { address: "crm.slow" })).structuredContent).toMatchObject({
      error: { code: "timeout", timeoutMs: 30 },
    });
  });

  test("L1: hostCallTimeoutMs ends a program's call, and the program goes on", async () => {
    const code = "try { await crm.slow() } catch (e) { return [e.code, e.retryable, e.timeoutMs] }";
    expect(await result(code)).toEqual(["timeout", true, 40]);
  });

  test("L1: maxResultBytes lets an answer of its size in, and no byte more", async () => {
    expect(await result("return (await crm.big({ chars: 999 })).length")).toBe(999);
    expect(await error("return crm.big({ chars: 1000 })")).toMatchObject({
      code: "result_too_large",
      address: "crm.big",
      bytes: 2_002,
      maxBytes: 2_000,
    });
  });
});

describe("limits that nobody sets", () => {
  test("R3: logs are whole up to 4,000 characters and cut there", async () => {
    const logs = async (length: number) =>
      (await run(`console.log("l".repeat(${length})); return 1`)).structuredContent?.logs;
    expect(await logs(4_000)).toBe("l".repeat(4_000));
    expect(await logs(4_001)).toBe(`${"l".repeat(3_999)}…`);
  });

  test("R4: emitted bytes are those of the blocks, a view's stand apart", async () => {
    const answer = await run(
      `await connecta.emit({ type: "text", text: "ab" }); await connecta.ui("<p>"); return 1`,
      true,
    );
    expect(answer.structuredContent?.diagnostics).toMatchObject({
      emitted: { count: 1, bytes: 27 },
      ui: 14,
    });
  });

  test("I8: a reason has at most 500 characters", async () => {
    const reasoned = (length: number) =>
      call("call_destructive_tool", {
        address: "crm.update_record",
        args: { id: "r7" },
        reason: "x".repeat(length),
      });
    expect((await reasoned(500)).structuredContent).toMatchObject({ ok: true });
    expect((await reasoned(501)).structuredContent).toMatchObject({
      error: { code: "invalid_args", findings: [{ path: "reason" }] },
    });
    expect(fixture.written).toHaveLength(1);
  });

  test("I5: a page holds as many bytes as asked for", async () => {
    const long = await call("call_tool", { address: "crm.big", args: { chars: 60_000 } });
    const { resultId: id } = long.structuredContent as { resultId: string };
    const page = (maxBytes?: number) =>
      call("get_result", { id, ...(maxBytes !== undefined && { maxBytes }) });
    expect((await page(11)).structuredContent).toMatchObject({
      text: "é".repeat(5),
      nextOffset: 10,
      totalBytes: 120_000,
    });
    expect((await page()).structuredContent).toMatchObject({ nextOffset: 50_000 });
    expect((await page(50_001)).structuredContent).toMatchObject({
      error: { code: "invalid_args" },
    });
  });
});
