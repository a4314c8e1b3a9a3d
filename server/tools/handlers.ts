import type { Outcome } from "../shared/failure.ts";
import type { Scope } from "../shared/scope.ts";
import { authorizeConnector } from "./authorize-connector.ts";
import { callDestructiveTool, callTool } from "./call-tool.ts";
import { executeCode } from "./execute-code.ts";
import { getResult } from "./get-result.ts";
import { parseInput, type Input, type ToolName } from "./inputs.ts";
import { failedResult, type McpToolResult } from "./result.ts";
import { searchTools } from "./search-tools.ts";
import { skills } from "./skills.ts";
import type { Handler, ToolDeps } from "./tool.ts";

const HANDLERS: { readonly [Name in ToolName]: Handler<Name> } = {
  execute_code: executeCode,
  search_tools: searchTools,
  call_tool: callTool,
  call_destructive_tool: callDestructiveTool,
  authorize_connector: authorizeConnector,
  get_result: getResult,
  skills,
};

/** Whether a name is one of the seven. */
export function isToolName(name: string): name is ToolName {
  return Object.hasOwn(HANDLERS, name);
}

/** Parses the arguments of one of the seven tools and runs it. */
export async function callMetaTool<Name extends ToolName>(
  name: Name,
  args: unknown,
  deps: ToolDeps,
  scope: Scope,
): Promise<McpToolResult> {
  const input: Outcome<Input<Name>> = parseInput(name, args);
  return input.ok ? HANDLERS[name](deps, input.value, scope) : failedResult(input.failure);
}
