import type { Authenticate } from "./access/inbound/verdict.ts";
import { openDesk } from "./access/desk.ts";
import { Catalogs } from "./catalog/catalogs.ts";
import { ConfigError, readConfig, type ConnectaConfig, type ReadyConfig } from "./config.ts";
import { Requests } from "./http/requests.ts";
import { createRoutes } from "./http/routes.ts";
import { Invoker } from "./invoke/invoke.ts";
import { Recorder } from "./invoke/recorder.ts";
import { SharedStash } from "./invoke/shared-stash.ts";
import { Stash } from "./invoke/stash.ts";
import { Runner } from "./programs/runner.ts";
import type { SourceReader } from "./programs/source.ts";
import type { ActivityStore } from "./shared/activity.ts";
import type { Connector } from "./shared/contracts.ts";
import { logged, type Log } from "./shared/log.ts";
import type { Measures, QueueState } from "./shared/observation.ts";
import { openOutbound, type Outbound, type OutboundRules } from "./shared/outbound.ts";
import { Telemetry } from "./shared/telemetry.ts";
import { createMcp } from "./tools/mcp.ts";
import { VERSION } from "./version.ts";

export { ConfigError, type ConnectaConfig } from "./config.ts";
export type { AuthOptions } from "./access/inbound/inbound.ts";
export type { OperatorOptions } from "./access/operator.ts";
export type { Algorithm, ClaimValue, OAuthIssuer } from "./access/inbound/oauth-options.ts";
export {
  api,
  tool,
  ToolError,
  type ApiOptions,
  type ApiTool,
  type ToolContext,
} from "./connectors/api.ts";
export {
  remoteMcp,
  type HeaderCredential,
  type HeaderSource,
  type OAuthClientOptions,
  type RemoteMcpOptions,
} from "./connectors/remote/remote.ts";
export {
  type Imported,
  type ImportOptions,
  type ImportWarning,
} from "./connectors/import/from-mcp-servers.ts";
export { fromMcpServers } from "./connectors/import/portable.ts";
export type { Caller, CallLimits } from "./shared/call-limits.ts";
export type { Connector, Executor, Tool, ToolPolicy, ToolResult } from "./shared/contracts.ts";
export type { Failure, FailureCode, Outcome } from "./shared/failure.ts";
export type { ExecuteLimits } from "./shared/limits.ts";
export type { Outbound, OutboundFetch, OutboundRules } from "./shared/outbound.ts";
export type { LogEntry, LogFormat, LogLevel, LogOption, LogSink } from "./shared/log.ts";
export type { Scope } from "./shared/scope.ts";
export { memoryStorage, type MemoryStorageOptions } from "./shared/drivers/memory.ts";
export { memoryActivity, type MemoryActivityOptions } from "./shared/drivers/activity-memory.ts";
export { storageActivity, type StorageActivityOptions } from "./shared/drivers/activity-storage.ts";
export type {
  ActivityEvent,
  ActivityFilter,
  ActivityPage,
  ActivityQuery,
  ActivitySource,
  ActivityStore,
} from "./shared/activity.ts";
export type { KeepOptions, ListOptions, Storage } from "./shared/storage.ts";

/** What a runtime lends to one request. */
export interface RequestContext {
  /** Keeps the request's work alive behind its answer, where it would end with it. */
  waitUntil?(task: Promise<unknown>): void;
}

/** A deployment that answers web-standard requests. */
export interface Connecta {
  /** Serves `/mcp`, `/health`, `/operator` and the way back from authorization servers. */
  fetch(request: Request, context?: RequestContext): Promise<Response>;
  /**
   * An MCP server for one connection that is not HTTP, such as stdin and stdout: whoever holds its
   * other end may call, auth or not. A `Server` of `@modelcontextprotocol/server`, whose types need
   * those of Node.
   */
  connection(): object;
  /** The calls that were recorded; `undefined` where the config wants none. */
  readonly activity: Pick<ActivityStore, "read"> | undefined;
  /** Decides who calls, for pages beside it; `undefined` where anyone may. */
  readonly authenticate: Authenticate | undefined;
  /** Refuses new programs, ends what runs and releases connectors. */
  close(): Promise<void>;
}

/** What a runtime can do beyond web standards, for a deployment that runs there. */
export interface Lent {
  /** Reads large programs beside the event loop; closed with the deployment. */
  readonly sources?: SourceReader;
  /**
   * Calls back once the answer to a request was sent or its client is gone; false when it cannot
   * tell. Otherwise the body of each answer is followed, which costs more.
   */
  readonly onAnswerEnd?: (request: Request, callback: () => void) => boolean;
  /** Counts what ends, and may look at the queues. */
  readonly measures?: Measures | undefined;
  /** Where the deployment is reached, without a trailing slash, when its config does not say. */
  readonly addresses?: (() => readonly string[]) | undefined;
  /**
   * Makes what connectors make their requests with, closed with the deployment. Without it the
   * platform's `fetch` does, which judges hosts as they are written and not where they lead.
   */
  readonly outbound?: (rules: OutboundRules) => Outbound;
}

/**
 * Assembles a deployment.
 * @throws ConfigError for a structural mistake; the message names the option and the fix
 */
export function createConnecta(config: ConnectaConfig, lent: Lent = {}): Connecta {
  const ready = readConfig(config, lent.addresses);
  checkReachable(ready, lent);
  const { connectors, executor, limits, storage, activity, log } = ready;
  const outbound = openOutbound(ready, lent.outbound);
  const desk = deskOf(ready, lent, outbound.fetch);
  const catalogs = new Catalogs(connectors, {}, storage);
  const recorder = new Recorder(activity);
  const invoker = new Invoker(catalogs, recorder, connectors);
  const { sources, measures } = lent;
  const runner = new Runner({ connectors, executor, limits, catalogs, invoker, sources });
  const telemetry = openTelemetry(log, measures);
  const identity = { name: ready.name, version: VERSION };
  const requests = new Requests(ready.httpLimits, lent.onAnswerEnd);
  measures?.watch({ requests: requests.queue, runs: runner.queue, connectors: invoker.queue });
  const mcp = createMcp({
    ...identity,
    connectors,
    catalogs,
    invoker,
    runner,
    stash: storage?.isShared ? new SharedStash(storage) : new Stash(),
    callTimeoutMs: ready.callTimeoutMs,
    instructions: ready.instructions,
    handOver: (request) => requests.handOver(request),
    log,
    telemetry,
  });
  const routes = createRoutes({
    ...identity,
    mcp,
    gate: ready,
    requests,
    bodyTimeoutMs: ready.httpLimits.bodyTimeoutMs,
    load: (mayCall) => loadOf(requests, runner, mayCall ? invoker : undefined),
    authorizations: desk,
    operator: ready.operator && { ...ready, door: ready.operator, catalogs, desk },
    log,
  });
  return {
    fetch: lastingFetch((request, context) => routes.fetch(request, context)),
    connection: mcp.connection,
    activity,
    authenticate: ready.authenticate,
    async close() {
      requests.close();
      runner.close();
      const stored = catalogs.close();
      await mcp.close();
      await sources?.close();
      await executor.close?.();
      await release(connectors, outbound);
      await stored;
      await recorder.close();
      await storage?.close?.();
    },
  };
}

/** A caller that leaves takes nothing along that others wait for, or that is done only once. */
function lastingFetch(
  work: (request: Request, context: RequestContext) => Response | Promise<Response>,
): Connecta["fetch"] {
  return (request, context = {}) => {
    // Platforms' own contexts know their methods on themselves alone.
    const waitUntil = (task: Promise<unknown>) => context.waitUntil?.(task);
    const answer = (async () => work(request, { waitUntil }))();
    waitUntil(answer.catch(() => undefined));
    return answer;
  };
}

/** Connectors say goodbye over connections that are there until they have. */
async function release(connectors: readonly Connector[], outbound: Outbound): Promise<void> {
  await Promise.all(connectors.map((connector) => connector.close?.()));
  await outbound.close?.();
}

/** Clients that sign in must be told where they are, which no request may decide. */
function checkReachable({ resource, publicUrl }: ReadyConfig, { addresses }: Lent): void {
  if (!resource || publicUrl !== undefined || addresses) return;
  throw new ConfigError(
    'auth.oauth needs publicUrl: say where clients reach this, such as "https://mcp.example.com".',
  );
}

function openTelemetry(log: Log, measures: Measures | undefined): Telemetry {
  return new Telemetry(VERSION, [
    ...(log.enabled("info") ? [logged(log)] : []),
    ...(measures ? [measures.observe.bind(measures)] : []),
  ]);
}

/** What is under way; of connectors only to who may know them. */
function loadOf(requests: Requests, runner: Runner, invoker: Invoker | undefined) {
  return {
    requests: inNumbers(requests.queue),
    runs: runner.load,
    ...(invoker && { connectors: invoker.load }),
  };
}

function inNumbers({ active, waiting }: QueueState): QueueState {
  return { active, waiting };
}

/** What people hand over; on the operator page where there is one, once it has an address. */
function deskOf(ready: ReadyConfig, { addresses }: Lent, fetch: Outbound["fetch"]) {
  const origin = () => ready.publicUrl ?? addresses?.()[0];
  const operatorUrl = () => {
    const own = ready.operator && origin();
    return own && `${own}/operator/credentials`;
  };
  return openDesk({ ...ready, operatorUrl }, origin, fetch);
}
