import {
  fail,
  failure,
  type Failed,
  type Failure,
  type FailureCode,
} from "../../shared/failure.ts";
import type { Scope } from "../../shared/scope.ts";
import { clampChars, kindOf } from "../../shared/text.ts";
import { redactedError } from "./redact.ts";

/** Carries a failure through code of others that can only throw. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly failure: Failure;
  /** HTTP status behind it, where there was one. */
  readonly status: number | undefined;
  /** The `WWW-Authenticate` header behind it, where there was one. */
  readonly challenge: string | undefined;

  constructor(refusal: Failure, status?: number, challenge?: string) {
    super(refusal.message);
    this.failure = refusal;
    this.status = status;
    this.challenge = challenge;
  }
}

/** A {@link Refused} in one word. */
export function refused(code: FailureCode, message: string): Refused {
  return new Refused(failure(code, message));
}

/** Whose error it is and what must not be said of it. */
export interface Speaker {
  /** What was asked, as a message begins: `crm.get_record` or `The server of crm`. */
  readonly what: string;
  /** Takes credentials out of a text that the server wrote. */
  readonly redact: (text: string) => string;
  readonly scope: Scope;
}

const MAX_CAUSES = 5;
const MAX_TEXT_CHARS = 2_000;
/** JSON-RPC codes by which a server asks for a person, or for a capability that we do not offer. */
const INPUT_CODES: ReadonlySet<number> = new Set([-32_042, -32_021]);

/** What an error thrown by the protocol client means for the caller. */
export function failureOf(error: unknown, speaker: Speaker): Failed {
  const { what, scope } = speaker;
  if (scope.signal.aborted) return fail("cancelled", `${what} was cancelled by the caller.`);
  const refusal = refusalIn(error);
  if (refusal !== undefined) return { ok: false, failure: refusal.failure };
  if (isProtocolError(error)) return { ok: false, failure: answered(error, speaker) };
  const code = errorCode(error);
  if (code === "CONNECTION_CLOSED" || code === "NOT_CONNECTED") {
    return fail("unavailable", `${what} lost its connection before it answered.`);
  }
  if (code === "REQUEST_TIMEOUT") return fail("timeout", `${what} did not answer in time.`);
  const status = statusOf(error);
  if (status !== undefined) {
    return fail("connector_call_failed", `${what} was answered with HTTP ${status}.`);
  }
  if (isNoMessage(error)) {
    return fail("connector_call_failed", `${what} was answered with something that is no MCP.`);
  }
  scope.report(redactedError(error, speaker.redact), what);
  return fail("connector_call_failed", `${what} failed unexpectedly (${kindOf(error)}).`);
}

/** The {@link Refused} that an error is, carries as data, or was caused by. */
export function refusalIn(error: unknown): Refused | undefined {
  let at = error;
  for (let depth = 0; depth < MAX_CAUSES && at instanceof Error; depth++) {
    if (at instanceof Refused) return at;
    if ("data" in at && at.data instanceof Refused) return at.data;
    at = at.cause;
  }
  return undefined;
}

/** The code of a JSON-RPC error that the server answered with. */
export function protocolCode(error: unknown): number | undefined {
  return isProtocolError(error) ? error.code : undefined;
}

/** HTTP status of an answer that the client could not use. */
export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("status" in error)) return undefined;
  return typeof error.status === "number" ? error.status : undefined;
}

function isProtocolError(error: unknown): error is Error & { readonly code: number } {
  return error instanceof Error && "code" in error && typeof error.code === "number";
}

/** What the client calls its own error, such as `CONNECTION_CLOSED`. */
export function errorCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function isNoMessage(error: unknown): boolean {
  if (error instanceof SyntaxError) return true;
  const kind = error instanceof Error ? error.name : "";
  return kind === "ZodError" || kind === "$ZodError" || kind === "SdkError";
}

function answered(error: Error & { readonly code: number }, { what, redact }: Speaker): Failure {
  if (INPUT_CODES.has(error.code)) return inputRequired(what);
  const text = clampChars(redact(error.message), MAX_TEXT_CHARS);
  return failure("connector_call_failed", `${what} was answered with an error: ${text}`);
}

/** A tool that waits for answers of a person which nobody relays. */
export function inputRequired(what: string): Failure {
  return failure(
    "input_required_unsupported",
    `${what} asks for interactive input, which is not relayed.`,
  );
}
