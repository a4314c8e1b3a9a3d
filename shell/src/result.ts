import {
  PAYLOAD_KEY,
  checkPayload,
  isPlainObject,
  type ViewPayload,
} from "../../server/view/protocol.ts";

/** What a tool result means for the view; `undefined` when it belongs to another call. */
export type Arrival =
  | { readonly state: "view"; readonly payload: ViewPayload }
  | { readonly state: "malformed"; readonly message: string }
  | { readonly state: "failed"; readonly code: string; readonly message: string }
  /** An error without our envelope: from the host, or on the way; perhaps of another call. */
  | { readonly state: "refused"; readonly message: string }
  | { readonly state: "dropped" }
  | { readonly state: "none" };

/** The part of a tool result that the shell reads. */
export interface ReadableResult {
  readonly content?: readonly { readonly type: string; readonly text?: unknown }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

/** The JSON object of a result: `structuredContent`, else the first block's text. */
export function envelopeOf(result: ReadableResult): Record<string, unknown> | undefined {
  if (isPlainObject(result.structuredContent)) return result.structuredContent;
  try {
    const parsed: unknown = JSON.parse(textOf(result));
    return isPlainObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** The first block's text, or nothing. */
export function textOf(result: ReadableResult): string {
  const text = result.content?.[0]?.text;
  return typeof text === "string" ? text : "";
}

/** Reads one `tool-result`, which may be repeated, stripped or for another call altogether. */
export function readResult(result: ReadableResult): Arrival | undefined {
  const meta = result._meta ?? {};
  if (Object.hasOwn(meta, PAYLOAD_KEY)) {
    const checked = checkPayload(meta[PAYLOAD_KEY]);
    return checked.ok
      ? { state: "view", payload: checked.value }
      : { state: "malformed", message: checked.message };
  }
  const envelope = envelopeOf(result);
  if (!envelope) return result.isError ? { state: "refused", message: textOf(result) } : undefined;
  if (Object.hasOwn(envelope, "ok")) return undefined;
  if (Object.hasOwn(envelope, "error")) return failed(envelope.error);
  if (!Object.hasOwn(envelope, "result")) return undefined;
  return { state: envelope.ui === true ? "dropped" : "none" };
}

function failed(error: unknown): Arrival {
  const { code, message } = isPlainObject(error) ? error : {};
  return {
    state: "failed",
    code: typeof code === "string" ? code : "error",
    message: typeof message === "string" ? message : "",
  };
}
