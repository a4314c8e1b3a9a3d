import { PAYLOAD_KEY } from "../view/protocol.ts";
import { toolResult } from "./result.ts";
import type { Handler } from "./tool.ts";

/** Runs a program; its view rides in the result's `_meta`. */
export const executeCode: Handler<"execute_code"> = async (deps, input, scope) => {
  const run = await deps.runner.run(input.code, input.diagnostics ?? false, scope);
  if (!run.ok) return toolResult(run.envelope, { isError: true });
  return toolResult(run.envelope, {
    blocks: run.blocks,
    ...(run.view && { meta: { [PAYLOAD_KEY]: run.view } }),
  });
};
