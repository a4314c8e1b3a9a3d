import type { ContentBlock } from "../shared/contracts.ts";
import { knownCode, type Failure, type FailureCode } from "../shared/failure.ts";

/** A tool result as MCP defines it. */
export interface McpToolResult {
  content: ContentBlock[];
  structuredContent?: Record<string, unknown>;
  isError?: true;
  _meta?: Record<string, unknown>;
  [key: string]: unknown;
}

/** The one place that builds a tool result from an envelope: structured, and the same as text. */
export function toolResult(
  envelope: object,
  options: {
    readonly isError?: boolean;
    readonly blocks?: readonly ContentBlock[];
    readonly meta?: Record<string, unknown>;
  } = {},
): McpToolResult {
  const { blocks = [], isError = false, meta } = options;
  return {
    content: [{ type: "text", text: JSON.stringify(envelope) }, ...blocks],
    structuredContent: envelope as Record<string, unknown>,
    ...(isError && { isError: true as const }),
    ...(meta && { _meta: meta }),
  };
}

/** The result of a call that failed; what else there is to say stands beside the error. */
export function failedResult(
  failure: Failure,
  beside: Readonly<Record<string, unknown>> = {},
): McpToolResult {
  return toolResult({ ok: false, error: failure, ...beside }, { isError: true });
}

/** An integration's own result in MCP form, its blocks unchanged; our own words go into `meta`. */
export function passedThrough(
  result: {
    readonly content: readonly ContentBlock[];
    readonly structuredContent?: unknown;
    readonly isError: boolean;
  },
  meta?: Record<string, unknown>,
): McpToolResult {
  const { content, structuredContent, isError } = result;
  return {
    content: [...content],
    ...(structuredContent !== undefined && {
      structuredContent: structuredContent as Record<string, unknown>,
    }),
    ...(isError && { isError: true as const }),
    ...(meta && { _meta: meta }),
  };
}

/** How a result failed; what an integration says of that in its own words counts for nothing. */
export function codeOf({ isError, structuredContent }: McpToolResult): FailureCode | undefined {
  if (isError !== true) return undefined;
  const { error } = structuredContent ?? {};
  const code =
    typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return knownCode(code) ?? "connector_call_failed";
}
