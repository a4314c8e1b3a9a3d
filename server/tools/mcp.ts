import {
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type CallToolResult,
  type McpHttpHandler,
  type McpRequestContext,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { failure } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import type { Log } from "../shared/log.ts";
import { observed } from "../shared/observation.ts";
import type { Scope } from "../shared/scope.ts";
import type { Telemetry } from "../shared/telemetry.ts";
import { clampUtf8 } from "../shared/text.ts";
import { APPS_EXTENSION, SHELL_MIME_TYPE, readShell } from "../view/shell.ts";
import { defineTools, type ToolDefinition } from "./definitions.ts";
import { callMetaTool, isToolName } from "./handlers.ts";
import type { ToolName } from "./inputs.ts";
import { codeOf, failedResult, type McpToolResult } from "./result.ts";
import { INSTRUCTIONS } from "./texts.ts";
import type { ToolDeps } from "./tool.ts";

/** How a deployment presents itself. */
export interface McpOptions extends ToolDeps {
  readonly name: string;
  readonly version: string;
  readonly instructions: string | undefined;
  /** Told of faults that no caller sees. */
  readonly log: Log;
  readonly telemetry: Telemetry;
  /** Called when a request, or one message of it, is admitted elsewhere from now on. */
  readonly handOver?: (request: Request) => void;
  /** The list without the view declarations, for the check that they change no result. */
  readonly tools?: readonly ToolDefinition[];
}

const ANONYMOUS = "anonymous";

/** The endpoint over HTTP, and servers for connections that are something else. */
export interface McpEndpoint extends McpHttpHandler {
  /** A server object for one whole connection. */
  connection(): Server;
}

/** The MCP endpoint of a deployment: both protocol generations, one server object per request. */
export function createMcp(options: McpOptions): McpEndpoint {
  const connection = serverFactory(options);
  const handler = createMcpHandler(connection, {
    maxRequestBodySize: LIMITS.requestBodyBytes.value,
    onerror: (error) => options.log.fault(error, "a request"),
  });
  return Object.assign(handler, { connection });
}

/**
 * Makes the server objects of a deployment, one for each request or for one whole connection.
 * What is constant — the tool list, capabilities, schemas — is built once here.
 */
function serverFactory(options: McpOptions): (context?: McpRequestContext) => Server {
  const tools = options.tools ?? defineTools(options.connectors);
  const list = { tools: tools.map((tool) => ({ ...tool })) };
  const info = { name: options.name, version: options.version };
  const serverOptions = {
    capabilities: {
      tools: { listChanged: false },
      resources: { listChanged: false },
      extensions: { [APPS_EXTENSION]: { mimeTypes: [SHELL_MIME_TYPE] } },
    },
    instructions: options.instructions ?? INSTRUCTIONS,
  };
  return (context) => {
    const server = new Server(info, serverOptions);
    server.setRequestHandler("tools/list", () => list);
    // A registered handler's result is held against the blocks that the package knows.
    if (context?.era !== "modern" || mayCall(context.requestInfo)) {
      server.fallbackRequestHandler = (request, own) => call(request, options, own);
    }
    server.setRequestHandler("resources/list", () => ({ resources: [] }));
    server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
    server.setRequestHandler("resources/read", (request) => {
      const shell = readShell(request.params.uri);
      if (shell) return shell;
      const uri = clampUtf8(request.params.uri, LIMITS.echoBytes.value);
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Resource not found", { uri });
    });
    return server;
  };
}

/**
 * Whether a request may be `tools/call`. The current generation names its method in a header; where
 * nothing serves that method the package answers by itself, with HTTP 404.
 */
function mayCall(request: Request | undefined): boolean {
  return (request?.headers.get("mcp-method") ?? "tools/call") === "tools/call";
}

/** Serves `tools/call`; every other method that reaches it does not exist. */
function call(
  request: {
    readonly method: string;
    readonly params?: Readonly<Record<string, unknown>> | undefined;
  },
  options: McpOptions,
  context: ServerContext,
): Promise<CallToolResult> {
  if (request.method !== "tools/call") {
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, "Method not found");
  }
  const { name, arguments: args, _meta: meta } = request.params ?? {};
  if (typeof name !== "string") {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "tools/call needs a name.");
  }
  if (isToolName(name)) return guarded({ name, args, meta }, options, context);
  const shown = clampUtf8(name, LIMITS.nameBytes.value);
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${shown}`);
}

/** Runs one tool within the scope of its request; a throw here is a bug and says nothing. */
async function guarded(
  { name, args, meta }: { readonly name: ToolName; readonly args: unknown; readonly meta: unknown },
  options: McpOptions,
  context: ServerContext,
): Promise<CallToolResult> {
  const requestId = crypto.randomUUID();
  const report = (error: unknown, what: string) => options.log.fault(error, what, requestId);
  const { signal } = context.mcpReq;
  const request = context.http?.req;
  const trace = options.telemetry.trace(meta);
  const waitUntil = context.http?.authInfo?.extra?.waitUntil;
  const scope: Scope = {
    // The package listens for a caller that leaves, not for one that has left already.
    signal: request?.signal.aborted ? request.signal : signal,
    now: Date.now,
    defer: (task) => {
      const deferred = task.catch((error: unknown) => report(error, "deferred work"));
      if (typeof waitUntil === "function") waitUntil(deferred);
    },
    principal: context.http?.authInfo?.clientId ?? ANONYMOUS,
    requestId,
    handOver: () => request && options.handOver?.(request),
    report,
    ...(trace && { trace }),
  };
  const work = (own: Scope) => callMetaTool(name, args, options, own);
  try {
    const done = observed(scope, { kind: "request", tool: name }, work, codeOf);
    // A caller that leaves is told to the work, which ends what it began.
    scope.defer(done.catch(() => undefined));
    return passed(await done);
  } catch (error) {
    report(error, name);
    const message = `The gateway failed; its log names request ${requestId}.`;
    return passed(failedResult(failure("internal", message)));
  }
}

/** Blocks of kinds that the protocol's types do not know yet pass through as they came. */
function passed(result: McpToolResult): CallToolResult {
  return result as CallToolResult;
}
