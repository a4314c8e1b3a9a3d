import { fail } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import { clampUtf8 } from "../shared/text.ts";
import { failedResult, toolResult } from "./result.ts";
import type { Handler, ToolDeps } from "./tool.ts";
import { USAGE } from "./usage.ts";

/** Lists the guides, or hands one over. */
export const skills: Handler<"skills"> = (deps, input) => {
  const guides = new Map([["usage", USAGE]]);
  for (const { id, usageGuide } of deps.connectors) {
    if (usageGuide !== undefined && !guides.has(id)) guides.set(id, usageGuide);
  }
  const names = [...guides.keys()];
  if (input.name === undefined) {
    return Promise.resolve(
      toolResult({ ok: true, skills: names.map((name) => ({ name, about: about(deps, name) })) }),
    );
  }
  const guide = guides.get(input.name);
  return Promise.resolve(
    guide === undefined
      ? failedResult(
          fail(
            "not_found",
            `No guide is called ${clampUtf8(input.name, LIMITS.nameBytes.value)}.`,
            {
              suggestions: names.slice(0, 3),
              nextAction: { tool: "skills", arguments: {} },
            },
          ).failure,
        )
      : toolResult({ ok: true, name: input.name, guide }),
  );
};

function about(deps: ToolDeps, name: string): string {
  if (name === "usage") return "How to write programs and views.";
  return deps.connectors.find(({ id }) => id === name)?.description ?? `How to use ${name}.`;
}
