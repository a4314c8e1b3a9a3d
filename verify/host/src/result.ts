import type { CallToolResult } from "@modelcontextprotocol/client";
import { isPlainObject, PAYLOAD_KEY } from "../../../server/view/protocol.ts";

/** What went wrong, in the words of the server or of the page. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
  /** The line that it names, and below it a mark at the column. */
  readonly excerpt?: string;
  readonly retryable?: boolean;
  /** The one call that a person may approve instead. */
  readonly approvable?: ToolCall;
}

/** A tool call as a view or a failure names it. */
export interface ToolCall {
  readonly name: string;
  readonly arguments?: Record<string, unknown> | undefined;
}

/** An `execute_code` result taken apart for the panels. */
export interface Parts {
  /** `structuredContent`, or the JSON of the first text block. */
  readonly envelope: unknown;
  readonly problem?: Problem;
  readonly logs: string;
  readonly diagnostics: unknown;
  readonly emitted: readonly CallToolResult["content"][number][];
  readonly hasView: boolean;
}

/** Takes a tool result apart; whatever is missing or foreign is simply absent. */
export function takeApart(result: CallToolResult): Parts {
  const envelope = readEnvelope(result);
  const fields = isPlainObject(envelope) ? envelope : {};
  const problem = result.isError === true ? readProblem(fields.error, result) : undefined;
  return {
    envelope,
    ...(problem && { problem }),
    logs: typeof fields.logs === "string" ? fields.logs : "",
    diagnostics: fields.diagnostics,
    emitted: result.isError === true ? [] : result.content.slice(1),
    hasView: result._meta?.[PAYLOAD_KEY] !== undefined,
  };
}

function readEnvelope(result: CallToolResult): unknown {
  if (result.structuredContent !== undefined) return result.structuredContent;
  const [first] = result.content;
  if (first?.type !== "text") return undefined;
  try {
    return JSON.parse(first.text);
  } catch {
    return first.text;
  }
}

function readProblem(error: unknown, result: CallToolResult): Problem {
  if (!isPlainObject(error)) {
    const [first] = result.content;
    return { code: "error", message: first?.type === "text" ? first.text : "The tool failed." };
  }
  const { code, message, line, column, excerpt, retryable, nextAction } = error;
  const approvable = readApproval(nextAction);
  return {
    code: typeof code === "string" ? code : "error",
    message: typeof message === "string" ? message : "The tool failed.",
    ...(typeof line === "number" && { line }),
    ...(typeof column === "number" && { column }),
    ...(typeof excerpt === "string" && { excerpt }),
    ...(typeof retryable === "boolean" && { retryable }),
    ...(approvable && { approvable }),
  };
}

function readApproval(action: unknown): ToolCall | undefined {
  if (!isPlainObject(action) || action.tool !== "call_destructive_tool") return undefined;
  // Without the arguments that it leaves out it would be another write.
  if (!isPlainObject(action.arguments) || action.omits !== undefined) return undefined;
  return { name: action.tool, arguments: action.arguments };
}
