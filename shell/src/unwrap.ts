import { isPlainObject } from "../../server/view/protocol.ts";
import { readFailure } from "./failures.ts";
import type { ReadFailure } from "./messages.ts";
import { envelopeOf, textOf, type ReadableResult } from "./result.ts";
import { clamp } from "./words.ts";

/** What a read gives the view: the connector's value, or why there is none. */
export type ReadOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: ReadFailure };

const MESSAGE_CHARS = 2_000;

/** Takes the value out of a `call_tool` answer in value mode. */
export function unwrapCall(result: ReadableResult): ReadOutcome {
  const envelope = envelopeOf(result);
  if (envelope && isPlainObject(envelope.error)) return rejected(serverFailure(envelope.error));
  if (result.isError || envelope?.ok !== true) {
    const message = textOf(result) || "The read came back without a value.";
    return rejected(readFailure("connector_call_failed", clamp(message, MESSAGE_CHARS)));
  }
  if (envelope.truncated === true) {
    const message = "The answer is too large for a view: ask for less, or for a page of it.";
    return rejected(readFailure("result_too_large", message));
  }
  if (Object.hasOwn(envelope, "data")) return { ok: true, value: envelope.data };
  return rejected(readFailure("connector_call_failed", "The read came back without a value."));
}

/** Why a call never came back, from whatever the host or the connection threw. */
export function unwrapRejection(error: unknown): ReadFailure {
  const { code, message } = error instanceof Error ? (error as Error & { code?: unknown }) : {};
  if (code === "REQUEST_TIMEOUT") return readFailure("timeout", "The read took too long.");
  if (code === "CONNECTION_CLOSED" || code === "NOT_CONNECTED") {
    return readFailure("unavailable", "The host is no longer connected.");
  }
  if (code === -32601)
    return readFailure("reads_unavailable", "This host runs no reads for views.");
  return readFailure(
    "connector_call_failed",
    clamp(message || "The host refused the read.", MESSAGE_CHARS),
  );
}

function serverFailure(error: Record<string, unknown>): ReadFailure {
  const { code, message, retryable } = error;
  return {
    code: typeof code === "string" && /^[a-z_]{1,64}$/.test(code) ? code : "connector_call_failed",
    message: clamp(typeof message === "string" ? message : "The read failed.", MESSAGE_CHARS),
    retryable: retryable === true,
  };
}

function rejected(error: ReadFailure): ReadOutcome {
  return { ok: false, error };
}
