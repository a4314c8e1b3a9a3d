import type { ContentBlock, ToolResult } from "../shared/contracts.ts";
import { fail, ok, type Outcome } from "../shared/failure.ts";
import { clampChars } from "../shared/text.ts";

const MAX_ERROR_CHARS = 2_000;

/**
 * The value inside a tool result: an error's text becomes a failure, else `structuredContent`,
 * else joined text (parsed when it is JSON), else the result object itself.
 */
export function unwrap(address: string, result: ToolResult): Outcome<unknown> {
  if (result.kind === "value") return ok(result.value ?? null);
  const { content, structuredContent, isError } = result;
  const text = allText(content);
  if (isError === true) {
    const message = text === undefined || text === "" ? `${address} reported an error.` : text;
    return fail("connector_call_failed", clampChars(message, MAX_ERROR_CHARS), { address });
  }
  if (structuredContent !== undefined) return ok(structuredContent);
  if (text === undefined) return ok({ content });
  return ok(parsed(text));
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
