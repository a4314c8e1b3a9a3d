import { describe, expect, test } from "vitest";
import { FAILURES } from "../../server/shared/failure.ts";
import { readFailure } from "../../shell/src/failures.ts";

/** Every code that the shell gives itself, and whether trying again may help. */
const OWN = {
  unknown_read: false,
  invalid_args: false,
  too_many_reads: true,
  reads_unavailable: false,
  result_too_large: false,
  connector_call_failed: false,
  timeout: true,
  unavailable: true,
} as const;

describe("V11: the failure of a read", () => {
  test.each(Object.entries(OWN))("of the code %s may be retried: %s", (code, retryable) => {
    expect(readFailure(code as keyof typeof OWN, "words")).toEqual({
      code,
      message: "words",
      retryable,
    });
  });

  test("means the same as the server's of the same code", () => {
    const shared = Object.entries(OWN).filter(([code]) => Object.hasOwn(FAILURES, code));
    expect(shared.map(([code]) => code)).toEqual([
      "invalid_args",
      "result_too_large",
      "connector_call_failed",
      "timeout",
      "unavailable",
    ]);
    for (const [code, retryable] of shared) {
      expect([code, FAILURES[code as keyof typeof FAILURES].retryable]).toEqual([code, retryable]);
    }
  });
});
