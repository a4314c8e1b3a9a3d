import type { Catalogs } from "../catalog/catalogs.ts";
import { byConnector, search } from "../catalog/search.ts";
import type { Invoker } from "../invoke/invoke.ts";
import { withRecovery } from "../invoke/recovery.ts";
import { shape, type ResultMode } from "../invoke/shape.ts";
import type { Stash } from "../invoke/stash.ts";
import type { Runner } from "../programs/runner.ts";
import type { Connector } from "../shared/contracts.ts";
import { fail, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import type { Scope } from "../shared/scope.ts";
import { clampUtf8 } from "../shared/text.ts";
import { PAYLOAD_KEY } from "../view/protocol.ts";
import { parseInput, type Input, type ToolName } from "./inputs.ts";
import { failedResult, toolResult, type McpToolResult } from "./result.ts";
import { USAGE } from "./usage.ts";

/** What the tools need of a deployment. */
export interface ToolDeps {
  readonly connectors: readonly Connector[];
  readonly catalogs: Catalogs;
  readonly invoker: Invoker;
  readonly runner: Runner;
  readonly stash: Stash;
  /** Deadline of `call_tool` where the caller asks for none, in milliseconds. */
  readonly callTimeoutMs: number;
}

type Handler<Name extends ToolName> = (
  deps: ToolDeps,
  input: Input<Name>,
  scope: Scope,
) => Promise<McpToolResult>;

const executeCode: Handler<"execute_code"> = async (deps, input, scope) => {
  const run = await deps.runner.run(input.code, input.diagnostics ?? false, scope);
  if (!run.ok) return toolResult(run.envelope, { isError: true });
  return toolResult(run.envelope, {
    blocks: run.blocks,
    ...(run.view && { meta: { [PAYLOAD_KEY]: run.view } }),
  });
};

const MAX_SEARCH_PAGE = 50;

const searchTools: Handler<"search_tools"> = async (deps, input, scope) => {
  const page = await search(deps.catalogs, input, { maxLimit: MAX_SEARCH_PAGE }, scope);
  if (page.ok) return toolResult(byConnector(page.value));
  const attempt = { address: page.failure.connector ?? "" };
  return failedResult(withRecovery(page.failure, "outside", attempt));
};

interface CallRequest {
  readonly address: string;
  readonly args?: unknown;
  readonly access: "read" | "write";
  readonly timeoutMs?: number | undefined;
  readonly maxRetries?: number | undefined;
  readonly resultMode?: ResultMode | undefined;
  readonly fields?: readonly string[] | undefined;
  readonly diagnostics?: boolean | undefined;
}

async function call(deps: ToolDeps, request: CallRequest, scope: Scope): Promise<McpToolResult> {
  const started = performance.now();
  const invoked = await deps.invoker.invoke(
    {
      address: request.address,
      args: request.args,
      access: request.access,
      surface: "outside",
      timeoutMs: request.timeoutMs ?? deps.callTimeoutMs,
      maxRetries: request.maxRetries ?? 0,
    },
    scope,
  );
  if (!invoked.ok) return failedResult(invoked.failure);
  const options = { mode: request.resultMode, fields: request.fields };
  const shaped = shape(invoked.value, options, deps.stash, scope);
  if (!shaped.ok) return failedResult(shaped.failure);
  const diagnostics = request.diagnostics && {
    totalMs: Math.round((performance.now() - started) * 1_000) / 1_000,
    attempts: invoked.value.attempts,
  };
  if (shaped.value.kind === "envelope") {
    const { envelope, blocks } = shaped.value;
    return toolResult(diagnostics ? { ...envelope, diagnostics } : envelope, { blocks });
  }
  const { content, structuredContent, isError } = shaped.value;
  return {
    content: [...content],
    ...(structuredContent !== undefined && {
      structuredContent: structuredContent as Record<string, unknown>,
    }),
    ...(isError && { isError: true as const }),
  };
}

const callTool: Handler<"call_tool"> = (deps, input, scope) =>
  call(deps, { ...input, access: "read" }, scope);

const callDestructiveTool: Handler<"call_destructive_tool"> = (deps, input, scope) =>
  // `reason` is for the host's human: it goes nowhere from here.
  call(
    deps,
    { address: input.address, args: input.args, timeoutMs: input.timeoutMs, access: "write" },
    scope,
  );

const authorizeConnector: Handler<"authorize_connector"> = async (deps, input, scope) => {
  const connector = deps.connectors.find(({ id }) => id === input.connector);
  if (!connector) return failedResult(unknownConnector(deps, input.connector));
  if (!connector.authorize) {
    return toolResult({
      ok: true,
      connector: connector.id,
      status: "not_required",
      message: `${connector.id} has nothing to authorize: its tools can be called as they are.`,
    });
  }
  const done = await connector.authorize(scope, input.force ?? false);
  return done.ok
    ? toolResult({ ok: true, connector: connector.id, ...done.value })
    : failedResult(done.failure);
};

function unknownConnector(deps: ToolDeps, name: string) {
  const ids = deps.connectors.map(({ id }) => id);
  const { failure } = fail(
    "unknown_address",
    `No connector is called ${clampUtf8(name, LIMITS.echoBytes.value)}.`,
    { suggestions: ids.slice(0, 3) },
  );
  return withRecovery(failure, "outside", { address: name });
}

const getResult: Handler<"get_result"> = (deps, input, scope) => {
  const maxBytes = input.maxBytes ?? LIMITS.inlineResultBytes.value;
  const page = deps.stash.page(input.id, input.offset ?? 0, maxBytes, scope);
  return Promise.resolve(
    page.ok ? toolResult({ ok: true, ...page.value }) : failedResult(page.failure),
  );
};

const skills: Handler<"skills"> = (deps, input) => {
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
