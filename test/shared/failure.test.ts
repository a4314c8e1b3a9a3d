import { expect, test } from "vitest";
import { FAILURES, failure, type FailureCode } from "../../server/shared/failure.ts";

/** Copied by hand; those that may succeed when they are tried again. */
const RETRYABLE = "rate_limited unavailable timeout executor_overloaded executor_crashed";
const FINAL =
  "unknown_address unknown_tool ambiguous_tool_alias destructive_tool_requires_approval " +
  "auth_required invalid_args invalid_program program_error not_serializable not_found " +
  "input_required_unsupported cancelled connector_call_failed catalog_lookup_failed " +
  "result_too_large budget_exceeded executor_timeout executor_limit executor_cancelled " +
  "executor_closed internal";

const codesThat = (retryable: boolean) =>
  (Object.keys(FAILURES) as FailureCode[]).filter((code) => FAILURES[code].retryable === retryable);

test("E2: there are these codes, and these alone may be tried again", () => {
  expect(codesThat(true).toSorted()).toEqual(RETRYABLE.split(" ").toSorted());
  expect(codesThat(false).toSorted()).toEqual(FINAL.split(" ").toSorted());
});

test("E1, E2: a failure is code, message and what its code says of trying again", () => {
  const details = { address: "crm.read", retryAfterMs: 5 };
  expect(failure("timeout", "Try again.", details)).toEqual({
    code: "timeout",
    message: "Try again.",
    retryable: true,
    ...details,
  });
  expect(failure("not_found", "Please retry, it is retryable.").retryable).toBe(false);
});
