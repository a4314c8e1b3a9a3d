import { failure, type Failure } from "../shared/failure.ts";
import type { Admission } from "../shared/permits.ts";

const RETRY_AFTER_MS = 1_000;

/** The failure of a program that got no permit. */
export function notAdmitted({ reason }: Extract<Admission, { ok: false }>): Failure {
  switch (reason) {
    case "aborted":
      return failure("executor_cancelled", "The run was cancelled before it started.");
    case "closed":
      return failure("executor_closed", "The server is shutting down.");
    default:
      return failure("executor_overloaded", "Too many programs run at once; try again.", {
        retryAfterMs: RETRY_AFTER_MS,
      });
  }
}
