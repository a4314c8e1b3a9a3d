import { callLimitsProblem, type CallLimits } from "../../shared/call-limits.ts";
import type { Connector, ToolPolicy } from "../../shared/contracts.ts";

/** What every connector to an MCP server can be told. */
export interface McpOptions extends ToolPolicy {
  readonly id: string;
  readonly title?: string;
  readonly description?: string;
  /** How models should use this connector; served by the `skills` tool. */
  readonly usageGuide?: string;
  /** Milliseconds that one call may take, where its caller would wait longer. */
  readonly timeoutMs?: number;
  /** How much the server may be asked for: calls at once, and in a stretch of time. */
  readonly limits?: CallLimits;
  /** Bytes that one answer may have, after decompression; 32 MiB when omitted. */
  readonly maxResponseBytes?: number;
}

const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;
const MAX_TIMER_MS = 2 ** 31 - 1;

type Description = Pick<
  Connector,
  "id" | "kind" | "title" | "description" | "usageGuide" | "policy" | "limits"
>;

/** The part of a connector that its options say. */
export function described(options: McpOptions): Description {
  const { id, title, description, usageGuide, limits, readOnly, approval, hide } = options;
  const policy: ToolPolicy = {
    ...(readOnly !== undefined && { readOnly }),
    ...(approval !== undefined && { approval }),
    ...(hide !== undefined && { hide }),
  };
  return {
    id,
    kind: "mcp",
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(usageGuide !== undefined && { usageGuide }),
    ...(limits !== undefined && { limits }),
    ...(Object.keys(policy).length > 0 && { policy }),
  };
}

/**
 * Refuses options that no connector could work with.
 * @param maker the function that a message names
 * @returns the bound of an answer, in bytes
 * @throws TypeError naming the option and the fix
 */
export function checkMcp(maker: string, options: McpOptions): number {
  if (typeof options !== "object" || options === null || typeof options.id !== "string") {
    throw new TypeError(`${maker}() needs an object with an id: ${maker}({ id, ... }).`);
  }
  const at = `${maker}(${options.id})`;
  for (const name of ["title", "description", "usageGuide"] as const) {
    const value: unknown = options[name];
    if (value === undefined || typeof value === "string") continue;
    throw new TypeError(`${at}.${name} is no text.`);
  }
  const problem = callLimitsProblem(options.limits);
  if (problem !== undefined) throw new TypeError(`${at}.${problem}.`);
  const { timeoutMs, maxResponseBytes = MAX_RESPONSE_BYTES } = options;
  if (timeoutMs !== undefined) checkCount(`${at}.timeoutMs`, timeoutMs, "milliseconds");
  checkCount(`${at}.maxResponseBytes`, maxResponseBytes, "bytes");
  return maxResponseBytes;
}

/** Refuses what is no whole positive number that a timer takes. */
export function checkCount(at: string, value: unknown, unit: string): void {
  if (Number.isInteger(value) && Number(value) > 0 && Number(value) <= MAX_TIMER_MS) return;
  throw new TypeError(`${at} must be a whole number of ${unit} from 1 to ${MAX_TIMER_MS}.`);
}
