import type { ToolPolicy } from "./contracts.ts";
import { LIMITS } from "./limits.ts";
import { clampUtf8 } from "./text.ts";

/** The lists that a policy may have. */
export const POLICY_LISTS = [
  "readOnly",
  "approval",
  "hide",
] as const satisfies readonly (keyof ToolPolicy)[];

/**
 * What is wrong with a policy, in words that name the list, or `undefined`.
 * @param policy whatever stands in a config
 */
export function policyProblem(policy: unknown): string | undefined {
  if (policy === undefined) return undefined;
  if (typeof policy !== "object" || policy === null) return "policy is no object";
  const lists = policy as Readonly<Record<string, unknown>>;
  for (const list of POLICY_LISTS) {
    const names = lists[list];
    if (names !== undefined && !(Array.isArray(names) && names.every(isText))) {
      return `${list} is no list of tool names`;
    }
  }
  const { readOnly = [], approval = [] } = policy as ToolPolicy;
  const both = readOnly.find((name) => approval.includes(name));
  if (both === undefined) return undefined;
  return `readOnly and approval both name ${JSON.stringify(clampUtf8(both, LIMITS.nameBytes.value))}`;
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}
