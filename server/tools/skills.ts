import { failure } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import { clampUtf8 } from "../shared/text.ts";
import { failedResult, toolResult } from "./result.ts";
import type { Handler, ToolDeps } from "./tool.ts";
import { USAGE } from "./usage.ts";

/** Lists the guides, or hands one over. */
export const skills: Handler<"skills"> = async (deps, { name }) => {
  const guides = new Map([["usage", USAGE]]);
  for (const { id, usageGuide } of deps.connectors) {
    if (usageGuide !== undefined && !guides.has(id)) guides.set(id, usageGuide);
  }
  const names = [...guides.keys()];
  if (name === undefined) {
    return toolResult({
      ok: true,
      skills: names.map((one) => ({ name: one, about: about(deps, one) })),
    });
  }
  const guide = guides.get(name);
  if (guide !== undefined) return toolResult({ ok: true, name, guide });
  const message = `No guide is called ${clampUtf8(name, LIMITS.nameBytes.value)}.`;
  const nextAction = { tool: "skills", arguments: {} };
  return failedResult(
    failure("not_found", message, { suggestions: names.slice(0, 3), nextAction }),
  );
};

function about(deps: ToolDeps, name: string): string {
  if (name === "usage") return "How to write programs and views.";
  return deps.connectors.find(({ id }) => id === name)?.description ?? `How to use ${name}.`;
}
