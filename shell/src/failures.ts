import type { ReadFailure } from "./messages.ts";

/** The codes that the shell itself gives to a rejected read, and whether a retry may help. */
const RETRYABLE = {
  unknown_read: false,
  invalid_args: false,
  too_many_reads: true,
  reads_unavailable: false,
  result_too_large: false,
  connector_call_failed: false,
  timeout: true,
  unavailable: true,
} as const;

/** Builds the rejection of a read; retryability comes from the code alone. */
export function readFailure(code: keyof typeof RETRYABLE, message: string): ReadFailure {
  return { code, message, retryable: RETRYABLE[code] };
}
