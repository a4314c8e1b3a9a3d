import type { Catalogs } from "../catalog/catalogs.ts";
import type { Invoker } from "../invoke/invoke.ts";
import type { Results } from "../invoke/stash.ts";
import type { Runner } from "../programs/runner.ts";
import type { Connector } from "../shared/contracts.ts";
import type { Scope } from "../shared/scope.ts";
import type { Input, ToolName } from "./inputs.ts";
import type { McpToolResult } from "./result.ts";

/** What the tools need of a deployment. */
export interface ToolDeps {
  readonly connectors: readonly Connector[];
  readonly catalogs: Catalogs;
  readonly invoker: Invoker;
  readonly runner: Runner;
  readonly stash: Results;
  /** Deadline of `call_tool` where the caller asks for none, in milliseconds. */
  readonly callTimeoutMs: number;
}

/** What one of the seven tools does with its parsed input. */
export type Handler<Name extends ToolName> = (
  deps: ToolDeps,
  input: Input<Name>,
  scope: Scope,
) => Promise<McpToolResult>;
