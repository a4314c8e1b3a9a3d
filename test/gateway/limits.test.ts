import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callTool, fixtureGateway, type Fixture } from "../support/gateway.ts";

/** A deployment whose calls have a deadline that passes at once. */
let fixture: Fixture;
beforeAll(() => {
  fixture = fixtureGateway({ calls: { timeoutMs: 30 } });
});
afterAll(() => fixture.connecta.close());

const call = (name: string, args: Record<string, unknown>) =>
  callTool(fixture.connecta, name, args);

describe("limits that a deployment sets", () => {
  test("I4: calls.timeoutMs ends a call that asks for no deadline", async () => {
    expect((await call("call_tool", { address: "crm.slow" })).structuredContent).toMatchObject({
      error: { code: "timeout", timeoutMs: 30 },
    });
  });
});

describe("limits that nobody sets", () => {
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
