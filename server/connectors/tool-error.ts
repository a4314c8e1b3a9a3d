import type { FailureCode } from "../shared/failure.ts";
import { retryAfter } from "./retry-after.ts";

/** Codes that a handler may fail with. */
export type ToolErrorCode = Extract<
  FailureCode,
  | "connector_call_failed"
  | "not_found"
  | "invalid_args"
  | "rate_limited"
  | "unavailable"
  | "timeout"
  | "result_too_large"
>;

/** Thrown by a handler to fail with a message that the model is meant to read. */
export class ToolError extends Error {
  readonly code: ToolErrorCode;
  readonly retryAfterMs: number | undefined;

  /**
   * @param message for the model; never put a secret here
   * @param options.code one of {@link ToolErrorCode}, `connector_call_failed` when omitted
   * @param options.retryAfterMs milliseconds to wait before a retry makes sense
   */
  constructor(message: string, options: { code?: ToolErrorCode; retryAfterMs?: number } = {}) {
    super(message);
    this.name = "ToolError";
    this.code = options.code ?? "connector_call_failed";
    this.retryAfterMs = options.retryAfterMs;
  }

  /**
   * The error that a response's status stands for, `Retry-After` included; the body stays unread.
   * @param subject what answered, as the model should read it
   */
  static fromResponse({ status, headers }: Response, subject = "The service"): ToolError {
    const wait = retryAfter(headers.get("retry-after"), Date.now());
    return new ToolError(`${subject} answered ${status}.`, {
      code: codeOf(status),
      ...(wait === undefined ? {} : { retryAfterMs: wait }),
    });
  }
}

function codeOf(status: number): ToolErrorCode {
  if (status === 404 || status === 410) return "not_found";
  if (status === 400 || status === 422) return "invalid_args";
  if (status === 429) return "rate_limited";
  return status === 408 || status >= 500 ? "unavailable" : "connector_call_failed";
}
