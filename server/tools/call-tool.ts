import type { ActivitySource } from "../shared/activity.ts";
import { shape, type ResultMode } from "../invoke/shape.ts";
import type { Failure } from "../shared/failure.ts";
import type { Scope } from "../shared/scope.ts";
import { failedResult, passedThrough, toolResult, type McpToolResult } from "./result.ts";
import type { Handler, ToolDeps } from "./tool.ts";

interface CallRequest {
  readonly address: string;
  readonly args?: unknown;
  readonly access: "read" | "write";
  readonly source: ActivitySource;
  readonly timeoutMs?: number | undefined;
  readonly maxRetries?: number | undefined;
  readonly resultMode?: ResultMode | undefined;
  readonly fields?: readonly string[] | undefined;
  readonly diagnostics?: boolean | undefined;
}

/** Where a caller who asks for blocks, which stay as they came, finds the diagnostics. */
const DIAGNOSTICS_KEY = "connecta/diagnostics";

async function call(deps: ToolDeps, request: CallRequest, scope: Scope): Promise<McpToolResult> {
  const started = performance.now();
  const times = { catalogMs: 0, connectorMs: 0, attempts: 0 };
  const diagnose = () => ({
    totalMs: rounded(performance.now() - started),
    catalogMs: rounded(times.catalogMs),
    connectorMs: rounded(times.connectorMs),
    attempts: times.attempts,
  });
  const failed = (failure: Failure) =>
    failedResult(failure, request.diagnostics ? { diagnostics: diagnose() } : {});
  const options = { mode: request.resultMode, fields: request.fields };
  const shaped = await deps.invoker.invoke(
    {
      address: request.address,
      args: request.args,
      access: request.access,
      surface: "outside",
      source: request.source,
      timeoutMs: request.timeoutMs ?? deps.callTimeoutMs,
      maxRetries: request.maxRetries ?? 0,
      times: request.diagnostics ? times : undefined,
    },
    scope,
    (invoked) => shape(invoked, options, deps.stash, scope),
  );
  if (!shaped.ok) return failed(shaped.failure);
  const diagnostics = request.diagnostics ? diagnose() : undefined;
  if (shaped.value.kind === "envelope") {
    const { envelope, blocks } = shaped.value;
    return toolResult(diagnostics ? { ...envelope, diagnostics } : envelope, { blocks });
  }
  return passedThrough(shaped.value, diagnostics && { [DIAGNOSTICS_KEY]: diagnostics });
}

/** Milliseconds to the microsecond. */
function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

/** Calls one read-only tool. */
export const callTool: Handler<"call_tool"> = (deps, input, scope) =>
  call(deps, { ...input, access: "read", source: "call_tool" }, scope);

/** Calls any tool, as one visible call. */
export const callDestructiveTool: Handler<"call_destructive_tool"> = (deps, input, scope) =>
  // `reason` is for the host's human: it goes nowhere from here.
  call(
    deps,
    {
      address: input.address,
      args: input.args,
      timeoutMs: input.timeoutMs,
      access: "write",
      source: "call_destructive_tool",
    },
    scope,
  );
