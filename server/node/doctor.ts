import { openDesk } from "../access/desk.ts";
import { ConfigError, readConfig, type ReadyConfig } from "../config.ts";
import { quickjsExecutor } from "../sandbox/pool.ts";
import type { Executor } from "../shared/contracts.ts";
import { fail, type Outcome } from "../shared/failure.ts";
import { withDeadline } from "../shared/scope.ts";
import type { Storage } from "../shared/storage.ts";
import { kindOf } from "../shared/text.ts";
import { UsageError, type Sources } from "./cli-command.ts";
import { loadDeployment, type Deployment } from "./cli-deployment.ts";
import { checkConnector } from "./cli-ready.ts";
import { operatorScope } from "../catalog/inspect.ts";
import { examine } from "./doctor-connector.ts";
import { checked, stoppedAt, type Finding, type Part } from "./doctor-report.ts";
import { withVault } from "./environment.ts";
import { nodeOutbound } from "./outbound.ts";
import { openOutbound, type Outbound } from "../shared/outbound.ts";

/** What to look at, and how. */
export interface DoctorOptions {
  /** The one connector to look at; all of them when omitted. */
  readonly only: string | undefined;
  readonly signal: AbortSignal;
  /** Called before each part is looked at. */
  readonly onPart: (name: string) => void;
}

const STEPS = ["config", "store", "sandbox"] as const;
const WAIT_MS = 10_000;
const PROBE = "connecta/doctor/";

/**
 * Looks at a deployment and its connectors, one after the other.
 * @throws UsageError for a connector that is not there
 */
export async function diagnose(sources: Sources, options: DoctorOptions): Promise<Part[]> {
  const { only, signal, onPart } = options;
  onPart("deployment");
  const executor = quickjsExecutor({ processes: 1 });
  const opened = await openDeployment(sources, executor);
  if ("finding" in opened) {
    await executor.close?.();
    return [{ name: "deployment", checks: stoppedAt(STEPS, "config", opened.finding) }];
  }
  const { ready, desk, outbound, findings } = opened;
  checkConnector(only, ready);
  const parts: Part[] = [
    {
      name: "deployment",
      checks: [
        checked("config", findings),
        checked("store", await storeFindings(ready.storage, signal)),
        checked("sandbox", await sandboxFindings(ready.executor, signal)),
      ],
    },
  ];
  const credentials = (await desk?.list()) ?? [];
  for (const connector of ready.connectors) {
    const { id } = connector;
    if (only !== undefined && id !== only) continue;
    onPart(id);
    const credential = credentials.find((one) => one.connector === id);
    parts.push(await examine(connector, credential, operatorScope(signal)));
  }
  const used = [...ready.connectors, ready.executor, executor, ready.storage];
  await Promise.all(used.map((one) => one?.close?.()));
  await outbound.close?.();
  return parts;
}

type Opened =
  | { readonly finding: Finding }
  | {
      readonly ready: ReadyConfig;
      readonly desk: ReturnType<typeof openDesk>;
      readonly outbound: Outbound;
      readonly findings: readonly Finding[];
    };

/** Loads and checks the config as a server would. */
async function openDeployment(sources: Sources, executor: Executor): Promise<Opened> {
  let deployment: Deployment;
  try {
    deployment = await loadDeployment(sources);
    const config = withVault(deployment.config, process.env);
    const ready = readConfig({ ...config, executor: config.executor ?? executor });
    const outbound = openOutbound(ready, nodeOutbound);
    const desk = openDesk(ready, undefined, outbound.fetch);
    const findings = deployment.warnings.map((cause) => ({
      code: "server_left_out",
      cause,
      fix: "Correct the file that names it.",
    }));
    const left = deployment.refused.length > 0 ? findings : [];
    return { ready, desk, outbound, findings: left };
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof ConfigError)) throw error;
    const fix = "Correct the file at the place that is named; connecta init writes one that works.";
    return { finding: { code: "config_unusable", cause: error.message, fix } };
  }
}

/** Writes, reads and removes one key. */
async function storeFindings(
  storage: Storage | undefined,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  if (storage === undefined) return [];
  const scope = operatorScope(signal);
  const tried = await withDeadline(scope, WAIT_MS, "The store", () => keepsWell(storage));
  const fix =
    "See that its folder or server is there and may be written to, and its package installed.";
  return tried.ok ? [] : [{ code: "store_failed", cause: tried.failure.message, fix }];
}

async function keepsWell(storage: Storage): Promise<Outcome<true>> {
  const key = `${PROBE}${crypto.randomUUID()}`;
  try {
    const written = await storage.set(key, "1", { ttlMs: WAIT_MS });
    const read = written.ok ? await storage.get(key) : written;
    const removed = read.ok ? await storage.delete(key) : read;
    if (!removed.ok) return removed;
    if (read.ok && read.value === "1") return { ok: true, value: true };
    return fail("unavailable", "The store does not give back what was written.");
  } catch (error) {
    return fail("internal", `The store failed unexpectedly (${kindOf(error)}).`);
  }
}

/** Runs the smallest program there is. */
async function sandboxFindings(
  executor: Executor,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const scope = operatorScope(signal);
  const tried = await withDeadline(scope, WAIT_MS, "The sandbox", async (inner) =>
    ranWell(executor, inner.signal),
  );
  const fix = "Try connecta run with a small program; a process that may not start shows there.";
  return tried.ok ? [] : [{ code: "sandbox_failed", cause: tried.failure.message, fix }];
}

async function ranWell(executor: Executor, signal: AbortSignal): Promise<Outcome<true>> {
  try {
    const { result, error } = await executor.execute("async () => 6 * 7", [], { signal });
    if (result === 42) return { ok: true, value: true };
    return fail("executor_crashed", `The sandbox does not run programs: ${error ?? "no result"}.`);
  } catch (error) {
    return fail("executor_crashed", `The sandbox failed unexpectedly (${kindOf(error)}).`);
  }
}
