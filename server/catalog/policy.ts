import type { Connector, SetAside, Tool, ToolPolicy } from "../shared/contracts.ts";
import { LIMITS } from "../shared/limits.ts";
import { POLICY_LISTS } from "../shared/policy.ts";
import { clampUtf8 } from "../shared/text.ts";
import { isExplicitlyReadOnly } from "./classify.ts";

/** What of a connector decides about its tools. */
type Subject = Pick<Connector, "id" | "policy" | "setAside">;

/** What a connector's tools are once its deployment has decided about them. */
export interface Governed {
  /** In their order, with effective annotations. */
  readonly tools: readonly Tool[];
  /** As the connector lists them. */
  readonly hidden: readonly Tool[];
  /** What the connector itself left out of its list. */
  readonly setAside: readonly SetAside[];
  /** Sentences for the operator: what of the policy has no effect. */
  readonly warnings: readonly string[];
}

/** So many tools that were set aside are told of one by one. */
const MAX_TOLD = 10;

/**
 * Applies a connector's policy to the tools that it just listed; without one they stay as they are.
 */
export function govern(connector: Subject, tools: readonly Tool[]): Governed {
  const { id, policy } = connector;
  const setAside = connector.setAside?.() ?? [];
  if (policy === undefined) return { tools, hidden: [], setAside, warnings: [] };
  const warnings = unknownNames(id, policy, [...tools, ...setAside]);
  const readOnly = new Set(policy.readOnly);
  const approval = new Set(policy.approval);
  const hide = new Set(policy.hide);
  const kept: Tool[] = [];
  for (const tool of tools) {
    if (hide.has(tool.name)) continue;
    const objection = readOnly.has(tool.name) ? objectionTo(tool) : undefined;
    if (objection !== undefined) {
      warnings.push(
        `readOnly of ${id} names ${quote(tool.name)}, ${objection}: it needs approval.`,
      );
    }
    if (approval.has(tool.name)) kept.push(withHint(tool, false));
    else if (!readOnly.has(tool.name) || objection !== undefined) kept.push(tool);
    else kept.push(withHint(tool, true));
  }
  return { tools: kept, hidden: tools.filter(({ name }) => hide.has(name)), setAside, warnings };
}

/** Sentences for the operator about tools that were set aside. */
export function asideWarnings(id: string, setAside: readonly SetAside[]): string[] {
  const told = setAside
    .slice(0, MAX_TOLD)
    .map(({ name, reason }) => `${id} lists ${quote(name)}, which is set aside: ${reason}`);
  const more = setAside.length - told.length;
  return more > 0 ? [...told, `${id} lists ${more} more tools that are set aside.`] : told;
}

function unknownNames(
  id: string,
  policy: ToolPolicy,
  listed: readonly { readonly name: string }[],
): string[] {
  const known = new Set(listed.map(({ name }) => name));
  return POLICY_LISTS.flatMap((list) =>
    [...new Set(policy[list])]
      .filter((name) => !known.has(name))
      .map((name) => `${list} of ${id} names ${quote(name)}, which is no tool of it.`),
  );
}

/** A config fills in what a tool does not say; it overrules nothing that a tool says. */
function objectionTo(tool: Tool): string | undefined {
  const { readOnlyHint, destructiveHint } = declared(tool);
  if (!isMissing(readOnlyHint) && readOnlyHint !== true) {
    return readOnlyHint === false
      ? "which says readOnlyHint: false itself"
      : "whose readOnlyHint is neither true nor false";
  }
  if (!isMissing(destructiveHint) && destructiveHint !== false) {
    return destructiveHint === true
      ? "which says destructiveHint: true itself"
      : "whose destructiveHint is neither true nor false";
  }
  return undefined;
}

/** The tool with its effective hint; the same object when it says so itself. */
function withHint(tool: Tool, readOnlyHint: boolean): Tool {
  const own = declared(tool);
  const says = readOnlyHint ? isExplicitlyReadOnly(tool) : own.readOnlyHint === false;
  if (says) return tool;
  const annotations: Record<string, unknown> = { ...own, readOnlyHint };
  // A hint of nothing would contradict the one that the config gives.
  if (annotations.destructiveHint === null) delete annotations.destructiveHint;
  return { ...tool, annotations, annotationSource: "config" };
}

/** A tool's annotations in whatever state the downstream left them. */
function declared({ annotations }: Tool): Partial<Record<string, unknown>> {
  const given: unknown = annotations;
  return typeof given === "object" && given !== null ? { ...given } : {};
}

function isMissing(hint: unknown): hint is null | undefined {
  return hint === undefined || hint === null;
}

function quote(name: string): string {
  return JSON.stringify(clampUtf8(name, LIMITS.nameBytes.value));
}
