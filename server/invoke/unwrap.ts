import type { ContentBlock, ToolResult } from "../shared/contracts.ts";
import { fail, ok, type Outcome } from "../shared/failure.ts";
import { clampChars } from "../shared/text.ts";

const MAX_ERROR_CHARS = 2_000;

/** What a tool result holds: a value, or a text that stands for the value it is the JSON of. */
export type Held =
  | { readonly kind: "value"; readonly value: unknown }
  /** A text that is no JSON stands for itself. */
  | { readonly kind: "text"; readonly text: string };

/**
 * What is inside a tool result: an error's text becomes a failure, else `structuredContent`, else
 * joined text, else the result object itself.
 */
export function held(address: string, result: ToolResult): Outcome<Held> {
  if (result.kind === "value") return ok({ kind: "value", value: result.value ?? null });
  const { content, structuredContent, isError } = result;
  const text = allText(content);
  if (isError === true) {
    const message = text === undefined || text === "" ? `${address} reported an error.` : text;
    return fail("connector_call_failed", clampChars(message, MAX_ERROR_CHARS), { address });
  }
  if (structuredContent !== undefined) return ok({ kind: "value", value: structuredContent });
  return ok(text === undefined ? { kind: "value", value: { content } } : { kind: "text", text });
}

/** The value inside a tool result: what it {@link held holds}, a text parsed when it is JSON. */
export function unwrap(address: string, result: ToolResult): Outcome<unknown> {
  const inside = held(address, result);
  if (!inside.ok) return inside;
  return ok(inside.value.kind === "text" ? parsed(inside.value.text) : inside.value.value);
}

/** The joined text of a result that is text only, `undefined` for any other. */
export function allText(content: readonly ContentBlock[]): string | undefined {
  const texts: string[] = [];
  for (const block of content) {
    if (block.type !== "text" || typeof block.text !== "string") return undefined;
    texts.push(block.text);
  }
  return texts.join("\n");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
