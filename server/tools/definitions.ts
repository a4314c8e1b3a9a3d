import type { Connector } from "../shared/contracts.ts";
import { SHELL_URI } from "../view/shell.ts";
import { inputSchema, type ToolName } from "./inputs.ts";
import { DESCRIPTIONS, inventory } from "./texts.ts";

/** One entry of `tools/list`. */
export interface ToolDefinition {
  readonly name: ToolName;
  readonly description: string;
  readonly inputSchema: { readonly type: "object"; readonly [key: string]: unknown };
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint?: boolean };
  readonly _meta: { readonly ui: Readonly<Record<string, unknown>> };
}

const READ = { readOnlyHint: true } as const;

/** The seven tools in their order; constant for the life of a deployment. */
export function defineTools(connectors: readonly Connector[]): readonly ToolDefinition[] {
  const model = { ui: { visibility: ["model"] } };
  const define = (
    name: ToolName,
    annotations: ToolDefinition["annotations"] = READ,
    meta: ToolDefinition["_meta"] = model,
    description: string = DESCRIPTIONS[name],
  ): ToolDefinition => ({
    name,
    description,
    inputSchema: { type: "object", ...inputSchema(name) },
    annotations,
    _meta: meta,
  });
  return [
    define(
      "execute_code",
      READ,
      { ui: { resourceUri: SHELL_URI, visibility: ["model"] } },
      `${DESCRIPTIONS.execute_code}\n${inventory(connectors)}`,
    ),
    define("search_tools"),
    define("call_tool", READ, { ui: { visibility: ["model", "app"] } }),
    define("call_destructive_tool", { readOnlyHint: false, destructiveHint: true }),
    define("authorize_connector", { readOnlyHint: false, destructiveHint: false }),
    define("get_result"),
    define("skills"),
  ];
}
