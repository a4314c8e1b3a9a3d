import { fail, type Outcome } from "../shared/failure.ts";
import { isExplicitlyReadOnly } from "./classify.ts";
import { govern } from "./policy.ts";
import { suspicion } from "./suspicion.ts";
import type { Connector, Tool } from "../shared/contracts.ts";
import { withDeadline, type Scope } from "../shared/scope.ts";
import { kindOf } from "../shared/text.ts";

/** What becomes of a tool when somebody wants to call it. */
export type ToolClass = "read-only" | "needs approval" | "hidden" | "set aside";

/** One tool as an operator should know it. */
export interface InspectedTool {
  readonly name: string;
  readonly class: ToolClass;
  /** What decided the class: the tool's own annotations, the config, or that it says nothing. */
  readonly why: "annotation" | "config" | "none";
  /** Why it is worth a look, or why it was set aside. */
  readonly note?: string;
  readonly suspicious?: true;
}

/** One connector's tools, those to look at first, or why there are none. */
export type Inspection = { readonly connector: string } & (
  | {
      readonly ok: true;
      readonly tools: readonly InspectedTool[];
      readonly warnings: readonly string[];
    }
  | {
      readonly ok: false;
      readonly code: string;
      readonly message: string;
      /** The end of what the server's process wrote to stderr. */
      readonly errorOutput?: string;
    }
);

/** Longer than a server waits: here somebody wants to see the tools, not to be answered soon. */
const TIMEOUT_MS = 60_000;

/**
 * Lists the tools of connectors side by side, each with its class.
 * @param signal ends the listing of those that have not answered
 * @param timeoutMs milliseconds that each may take
 */
export function inspect(
  connectors: readonly Connector[],
  signal: AbortSignal,
  timeoutMs = TIMEOUT_MS,
): Promise<readonly Inspection[]> {
  const looked = connectors.map((one) => inspectOne(one, operatorScope(signal), timeoutMs));
  return Promise.all(looked);
}

async function inspectOne(
  connector: Connector,
  caller: Scope,
  timeoutMs: number,
): Promise<Inspection> {
  const { id } = connector;
  const what = `The tool list of ${id}`;
  const listed = await withDeadline(caller, timeoutMs, what, (inner) => listedBy(connector, inner));
  if (!listed.ok) {
    const { code, message } = listed.failure;
    const errorOutput = connector.errorOutput?.() ?? "";
    return { connector: id, ok: false, code, message, ...(errorOutput && { errorOutput }) };
  }
  const { tools, hidden, setAside, warnings } = govern(connector, listed.value);
  const all: InspectedTool[] = [
    ...tools.map(inspected),
    ...hidden.map(({ name }) => ({ name, class: "hidden", why: "config" }) as const),
    ...setAside.map(({ name, reason }) => {
      return { name, class: "set aside", why: "none", note: reason } as const;
    }),
  ];
  return { connector: id, ok: true, tools: all.sort((a, b) => rank(a) - rank(b)), warnings };
}

/** What a connector lists, also when it throws. */
export async function listedBy(
  connector: Connector,
  scope: Scope,
): Promise<Outcome<readonly Tool[]>> {
  try {
    return await connector.listTools(scope);
  } catch (error) {
    return fail("internal", `${connector.id} failed unexpectedly (${kindOf(error)}).`);
  }
}

function inspected(tool: Tool): InspectedTool {
  const note = suspicion(tool);
  return {
    name: tool.name,
    class: isExplicitlyReadOnly(tool) ? "read-only" : "needs approval",
    why: reasonOf(tool),
    ...(note !== undefined && { note, suspicious: true }),
  };
}

function reasonOf({ annotations, annotationSource }: Tool): InspectedTool["why"] {
  if (annotationSource !== undefined) return annotationSource;
  const given: unknown = annotations;
  if (typeof given !== "object" || given === null) return "none";
  const { readOnlyHint, destructiveHint } = given as Record<string, unknown>;
  return readOnlyHint === undefined && destructiveHint !== true ? "none" : "annotation";
}

/** First what runs unasked and should perhaps not, then what approval is blind to, then the rest. */
function rank(tool: InspectedTool): number {
  const classes: readonly ToolClass[] = ["read-only", "needs approval", "set aside", "hidden"];
  return classes.indexOf(tool.class) + (tool.suspicious === true ? 0 : classes.length);
}

/** The scope of one piece of an operator's work. */
export function operatorScope(signal: AbortSignal): Scope {
  return {
    signal,
    now: Date.now,
    defer: () => undefined,
    principal: "operator",
    requestId: crypto.randomUUID(),
    report: () => undefined,
  };
}
