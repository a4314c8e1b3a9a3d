import type { ActivitySource } from "../shared/activity.ts";
import { shape, type ResultMode } from "../invoke/shape.ts";
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

async function call(deps: ToolDeps, request: CallRequest, scope: Scope): Promise<McpToolResult> {
  const started = performance.now();
  const options = { mode: request.resultMode, fields: request.fields };
  let attempts = 0;
  const shaped = await deps.invoker.invoke(
    {
      address: request.address,
      args: request.args,
      access: request.access,
      surface: "outside",
      source: request.source,
      timeoutMs: request.timeoutMs ?? deps.callTimeoutMs,
      maxRetries: request.maxRetries ?? 0,
    },
    scope,
    (invoked) => {
      attempts = invoked.attempts;
      return shape(invoked, options, deps.stash, scope);
    },
  );
  if (!shaped.ok) return failedResult(shaped.failure);
  const diagnostics = request.diagnostics && {
    totalMs: Math.round((performance.now() - started) * 1_000) / 1_000,
    attempts,
  };
  if (shaped.value.kind === "envelope") {
    const { envelope, blocks } = shaped.value;
    return toolResult(diagnostics ? { ...envelope, diagnostics } : envelope, { blocks });
  }
  return passedThrough(shaped.value);
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
