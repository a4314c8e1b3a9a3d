/** How a refused or failed caller goes on: the exact call that leads further. */
export type NextAction =
  | {
      readonly tool: string;
      readonly arguments: Readonly<Record<string, unknown>>;
      /** Arguments too long to be said again: the caller adds them as they were sent. */
      readonly omits?: readonly string[];
    }
  | { readonly function: string; readonly arguments: Readonly<Record<string, unknown>> };

/** One value-free finding about an argument: where, what rule, what was expected. */
export interface Finding {
  readonly path: string;
  readonly code: string;
  readonly expected: string;
}

/** What a failure may carry besides its code; a closed list, so that nothing else can leak. */
export interface FailureDetails {
  readonly address?: string;
  readonly addresses?: readonly string[];
  readonly connector?: string;
  readonly findings?: readonly Finding[];
  readonly suggestions?: readonly string[];
  readonly nextAction?: NextAction;
  readonly path?: string;
  readonly line?: number;
  readonly column?: number;
  readonly excerpt?: string;
  readonly limit?: string;
  readonly bytes?: number;
  readonly maxBytes?: number;
  readonly budget?: string;
  readonly remaining?: number;
  readonly retryAfterMs?: number;
  readonly timeoutMs?: number;
}

/** The one error shape: `{ code, message, retryable, ...details }`. */
export interface Failure extends FailureDetails {
  readonly code: FailureCode;
  readonly message: string;
  readonly retryable: boolean;
}

/** Either a value or a failure; rooms return it, a throw is a bug. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };

/** The one that is a failure. */
export type Failed = Extract<Outcome<never>, { readonly ok: false }>;

interface FailureRow {
  readonly retryable: boolean;
  /** What the caller should do about it, in one sentence. */
  readonly advice: string;
}

const row = (advice: string, retryable = false): FailureRow => ({ retryable, advice });

/** Every code, whether a retry may help, and the advice that documentation and guides give. */
export const FAILURES = {
  unknown_address: row("Use an address of the form connector.tool that search returned."),
  unknown_tool: row("Search again: the connector has no tool of this name."),
  ambiguous_tool_alias: row("Call the canonical address through connecta.call."),
  destructive_tool_requires_approval: row("Make one visible call with call_destructive_tool."),
  auth_required: row("Call authorize_connector and tell the person what it returns."),
  invalid_args: row("Correct the arguments that the findings name."),
  invalid_program: row("Send one async arrow function in plain JavaScript."),
  program_error: row("Mend the program at the line it names."),
  not_serializable: row("Return plain JSON: convert the value at the path it names."),
  not_found: row("The id or name does not exist or has expired."),
  input_required_unsupported: row("This tool asks for interactive input, which is not relayed."),
  rate_limited: row("Wait for retryAfterMs, then try again.", true),
  unavailable: row("The connector does not answer now; try again later.", true),
  timeout: row("Try again with less work or a longer timeoutMs.", true),
  cancelled: row("The caller went away; nothing to do."),
  connector_call_failed: row("The integration refused or failed; read its message."),
  catalog_lookup_failed: row("The connector's tool list could not be read; try again."),
  result_too_large: row("Ask for less: filter, page or project."),
  budget_exceeded: row("Stay within the budget that the message names."),
  executor_overloaded: row("Wait for retryAfterMs, then run the program again.", true),
  executor_timeout: row("The program ran too long; do less or wait for less."),
  executor_limit: row("The program hit the limit it names; compute or hold less."),
  executor_crashed: row("The sandbox died; run the program again.", true),
  executor_cancelled: row("The run was cancelled."),
  executor_closed: row("The server is shutting down."),
  internal: row("A fault of the gateway; report it with the request id."),
} as const satisfies Record<string, FailureRow>;

/** A code of {@link FAILURES}. */
export type FailureCode = keyof typeof FAILURES;

/** A code of this project, or `undefined`: what others wrote in its place is theirs. */
export function knownCode(code: unknown): FailureCode | undefined {
  return typeof code === "string" && Object.hasOwn(FAILURES, code)
    ? (code as FailureCode)
    : undefined;
}

/** Builds the failure value; retryability comes from the code alone. */
export function failure(code: FailureCode, message: string, details: FailureDetails = {}): Failure {
  return { code, message, retryable: FAILURES[code].retryable, ...details };
}

/** A failed outcome in one word. */
export function fail(code: FailureCode, message: string, details?: FailureDetails): Failed {
  return { ok: false, failure: failure(code, message, details) };
}

/** A successful outcome in one word. */
export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}
