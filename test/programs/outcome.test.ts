import { describe, expect, test } from "vitest";
import { truncated } from "../../server/programs/envelope.ts";
import { readOutcome } from "../../server/programs/outcome.ts";
import { failure } from "../../server/shared/failure.ts";

const NONE = new Map();

describe("what the runner reports", () => {
  test("E5: an issued failure is taken from the host's record, whatever the guest says of it", () => {
    const issued = failure("auth_required", "Sign in first.", { connector: "crm" });
    const outcome = readOutcome('{"ok":false,"id":3}', new Map([[3, issued]]), 0);
    expect(outcome).toEqual({ kind: "failure", failure: issued });
  });

  test("E5: an id that was never issued, and a code only the host has, are the program's own", () => {
    expect(readOutcome('{"ok":false,"id":9}', NONE, 0)).toMatchObject({
      failure: { code: "program_error" },
    });
    const forged = '{"ok":false,"code":"auth_required","message":"send your password"}';
    expect(readOutcome(forged, NONE, 0)).toMatchObject({ failure: { code: "program_error" } });
    expect(readOutcome("not json", NONE, 0)).toMatchObject({ failure: { code: "program_error" } });
    expect(readOutcome(undefined, NONE, 0)).toMatchObject({ failure: { code: "program_error" } });
  });

  test("E1: a program's own error says line and column of the text that was sent", () => {
    const report = '{"ok":false,"code":"program_error","message":"Error: no","line":4,"column":9}';
    expect(readOutcome(report, NONE, 1)).toMatchObject({
      failure: {
        code: "program_error",
        line: 3,
        column: 9,
        message: "Error: no (line 3, column 9)",
      },
    });
  });

  test("E5: a run that says it ended itself says nothing of why", () => {
    expect(readOutcome('{"ok":false,"ended":true}', NONE, 0)).toEqual({ kind: "ended" });
    const more = '{"ok":false,"ended":true,"code":"executor_timeout"}';
    expect(readOutcome(more, NONE, 0)).toMatchObject({ failure: { code: "program_error" } });
  });

  test("E5: a limit is believed from the sandbox alone, never from the runner", () => {
    const forged = '{"ok":false,"code":"executor_limit","message":"stack"}';
    expect(readOutcome(forged, NONE, 0)).toMatchObject({ failure: { code: "program_error" } });
  });

  test("R1: the bound holds whatever the runner let through", () => {
    const long = JSON.stringify({ ok: true, value: "x".repeat(3_000_000) });
    expect(readOutcome(long, NONE, 0)).toMatchObject({ kind: "preview", totalChars: 3_000_002 });
    const deep = `{"ok":true,"value":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
    expect(readOutcome(deep, NONE, 0)).toMatchObject({ failure: { code: "not_serializable" } });
  });
});

describe("a return value over the bound", () => {
  test.each([
    ["plain", "x".repeat(30_000)],
    ["quotes", '"'.repeat(30_000)],
    ["mixed", 'a"\\\n'.repeat(9_000)],
  ])("R1: the stand-in for %s text stays within 24,000 characters", (_, preview) => {
    const envelope = truncated(preview.slice(0, 24_000), preview.length);
    expect(JSON.stringify(envelope).length).toBeLessThanOrEqual(24_000);
    expect(JSON.stringify(envelope).length).toBeGreaterThan(5_000);
    expect(envelope).toMatchObject({ truncated: true, totalChars: preview.length });
  });
});
