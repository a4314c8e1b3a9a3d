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
      return search(surface, { query: failure.suggestions?.[0] ?? words(attempt.address) });
    case "ambiguous_tool_alias":
      return describe({ addresses: failure.addresses?.slice(0, LIMITS.describeAddresses.value) });
    case "invalid_args":
      return schema(surface, failure.address ?? attempt.address);
    case "destructive_tool_requires_approval":
      return write(failure.address ?? attempt.address, attempt.args);
    case "auth_required":
      return {
        tool: "authorize_connector",
        arguments: { connector: failure.connector ?? connectorOf(attempt.address) },
      };
    default:
      return undefined;
  }
}

type Arguments = NextAction["arguments"];

function search(surface: Surface, args: Arguments): NextAction {
  return surface === "inside"
    ? { function: "connecta.search", arguments: args }
    : { tool: "search_tools", arguments: args };
}

function describe(args: Arguments): NextAction {
  return { function: "connecta.describe", arguments: args };
}

/** Where the exact schema of a tool stands; arguments of what is no tool have none. */
function schema(surface: Surface, address: string): NextAction | undefined {
  if (address === "") return undefined;
  if (surface === "inside") return describe({ address });
  // More tools than this one would come with schemas that may be too large together.
  const only = { connector: connectorOf(address), limit: 1, includeSchemas: "json" };
  return search(surface, { query: address.slice(0, LIMITS.queryChars.value), ...only });
}

/** The one call that runs a write; without its arguments it could mean another write. */
function write(address: string, args: unknown): NextAction {
  const tool = "call_destructive_tool";
  if (args === undefined) return { tool, arguments: { address } };
  const json = toJson(args, "args");
  if (json.ok && utf8Length(json.value) <= LIMITS.echoBytes.value) {
    return { tool, arguments: { address, args } };
  }
  return { tool, arguments: { address }, omits: ["args"] };
}

/** No id holds a dot. */
function connectorOf(address: string): string {
  return address.split(".", 1)[0] ?? "";
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
