import { failure, type Failure } from "../../shared/failure.ts";
import { HostRefused } from "../../shared/outbound.ts";
import { kindOf } from "../../shared/text.ts";
import { loadSdk } from "./sdk.ts";
import { WebError } from "./web.ts";

/** What an error thrown on the way to a token means. */
export interface Trouble {
  readonly failure: Failure;
  /** The OAuth error code, where the authorization server gave one. */
  readonly code?: string;
}

/** Codes that ask to come back; everything else is an answer. */
const PASSING = new Set(["server_error", "temporarily_unavailable", "too_many_requests"]);
const CODE = /^[a-z_]{1,40}$/;

/**
 * What an error means for the caller. Texts of authorization servers are left out: they may quote
 * what was sent.
 * @param connector whose authorization it is
 * @param error whatever was thrown on the way
 */
export async function troubleOf(connector: string, error: unknown): Promise<Trouble> {
  const { OAuthError, IssuerMismatchError, RegistrationRejectedError } = await loadSdk();
  const what = `The authorization server of ${connector}`;
  const details = { connector };
  if (error instanceof OAuthError) {
    const code = CODE.test(error.code) ? error.code : "error";
    if (PASSING.has(code)) return { code, failure: failure("unavailable", silent(what), details) };
    const text = `${what} refuses (${code}).`;
    return { code, failure: failure("connector_call_failed", text, details) };
  }
  if (error instanceof IssuerMismatchError) {
    const text = `${what} answers in the name of another issuer than was asked; nothing was sent.`;
    return { failure: failure("connector_call_failed", text, details) };
  }
  if (error instanceof RegistrationRejectedError) {
    const text =
      `${what} does not register us (HTTP ${error.status}): the operator registers a client ` +
      "there and gives auth.clientId.";
    return { failure: failure("connector_call_failed", text, details) };
  }
  if (error instanceof HostRefused) {
    return { failure: failure("connector_call_failed", error.told(connector), details) };
  }
  if (error instanceof WebError) {
    const text = `${what} cannot be used: ${error.message}.`;
    return { failure: failure("connector_call_failed", text, details) };
  }
  if (isUnreachable(error)) return { failure: failure("unavailable", silent(what), details) };
  const text = `${what} does not answer as one should (${kindOf(error)}).`;
  return { failure: failure("connector_call_failed", text, details) };
}

function silent(what: string): string {
  return `${what} does not answer now.`;
}

function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error instanceof TypeError || error.name === "TimeoutError" || error.name === "AbortError";
}
