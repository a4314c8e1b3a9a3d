import type { Tool } from "../shared/contracts.ts";

/**
 * Whether a tool may run without a person's approval.
 * Only a literal `true` counts, and a tool that also calls itself destructive contradicts itself:
 * everything else is treated as a write.
 * @param tool any tool, its annotations in whatever state the downstream left them
 */
export function isExplicitlyReadOnly(tool: Pick<Tool, "annotations">): boolean {
  const annotations: unknown = tool.annotations;
  if (typeof annotations !== "object" || annotations === null) return false;
  if (!Object.hasOwn(annotations, "readOnlyHint")) return false;
  const { readOnlyHint, destructiveHint } = annotations as Record<string, unknown>;
  if (readOnlyHint !== true) return false;
  return destructiveHint === undefined || destructiveHint === false;
}
