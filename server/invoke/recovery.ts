import type { Failure, NextAction } from "../shared/failure.ts";
import { toJson } from "../shared/json.ts";
import { LIMITS } from "../shared/limits.ts";
import { utf8Length } from "../shared/text.ts";

/** Which tools the caller has: a client's model, or a program inside `execute_code`. */
export type Surface = "outside" | "inside";

/** What the caller tried, as far as it helps to say how to go on. */
export interface Attempt {
  readonly address: string;
  readonly args?: unknown;
}

/** Adds the call that leads further, for the surface that the caller has. */
export function withRecovery(failure: Failure, surface: Surface, attempt: Attempt): Failure {
  if (failure.nextAction) return failure;
  const nextAction = recovery(failure, surface, attempt);
  return nextAction ? { ...failure, nextAction } : failure;
}

function recovery(failure: Failure, surface: Surface, attempt: Attempt): NextAction | undefined {
  switch (failure.code) {
    case "unknown_address":
    case "unknown_tool":
      return search(surface, words(failure.suggestions?.[0] ?? attempt.address));
    case "invalid_args":
      return describe(surface, failure.address ?? attempt.address);
    case "destructive_tool_requires_approval":
      return {
        tool: "call_destructive_tool",
        arguments: { address: failure.address ?? attempt.address, ...echoed(attempt.args) },
      };
    case "auth_required":
      return {
        tool: "authorize_connector",
        arguments: { connector: failure.connector ?? attempt.address.split(".")[0] ?? "" },
      };
    default:
      return undefined;
  }
}

function search(surface: Surface, query: string): NextAction {
  return surface === "inside"
    ? { function: "connecta.search", arguments: { query } }
    : { tool: "search_tools", arguments: { query } };
}

function describe(surface: Surface, address: string): NextAction {
  return surface === "inside"
    ? { function: "connecta.describe", arguments: { address } }
    : { tool: "search_tools", arguments: { query: words(address), includeSchemas: "json" } };
}

const MAX_QUERY_CHARS = 120;

/** An address as search words: `crm.get_record` reads "crm get record". */
function words(address: string): string {
  return address
    .slice(0, MAX_QUERY_CHARS)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .join(" ");
}

/** Arguments that are short enough to be said again; long ones the caller still has. */
function echoed(args: unknown): { readonly args?: unknown } {
  const json = args === undefined ? undefined : toJson(args, "args");
  if (!json?.ok || utf8Length(json.value) > LIMITS.echoBytes.value) return {};
  return { args };
}
