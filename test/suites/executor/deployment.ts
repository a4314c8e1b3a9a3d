import {
  createConnecta,
  type Connecta,
  type Connector,
  type ExecuteLimits,
  type Executor,
} from "../../../server/index.ts";
import { ailing, archive, crm, mail, oddlyNamed, probe, shy } from "./connectors.ts";
import { State } from "./state.ts";

/** Deployments that the cases run against, by what is special about them. */
interface Made {
  readonly limits: Partial<ExecuteLimits>;
  readonly connectors: (state: State) => Connector[];
  /** Whether the executor is lent nothing but code and providers, as foreign ones are. */
  readonly reduced?: true;
}

const office = (state: State) => [crm(state), ...oddlyNamed(), mail(), probe(state)];

const DEPLOYMENTS = {
  /** Every limit as it is when nobody sets it. */
  default: { limits: {}, connectors: office },
  /** Counts and bytes that are reached at once. */
  tight: {
    limits: {
      maxHostCalls: 4,
      maxBatchCalls: 2,
      maxResultBytes: 2_000,
      maxArgumentBytes: 1_000,
      maxSourceBytes: 2_000,
      maxEmittedBytes: 300,
      maxEmittedBlocks: 3,
      heapBytes: 4 * 1024 * 1024,
      stackBytes: 64 * 1024,
      maxRuns: 1,
      maxQueuedRuns: 1,
    },
    connectors: office,
  },
  /** Times that pass at once. */
  brief: {
    limits: { hostCallTimeoutMs: 100, timeoutMs: 700, maxRuns: 1, queueTimeoutMs: 150 },
    connectors: office,
  },
  /** Little computing, and as much time as ever. */
  frugal: { limits: { cpuMs: 60 }, connectors: office },
  /** Memory for one large program at a time. */
  crowded: { limits: { processHeapBytes: 80 * 1024 * 1024 }, connectors: office },
  /** Connectors that are down, locked or very large. */
  ailing: {
    limits: {},
    connectors: (state) => [crm(state), archive(), ...ailing(), probe(state)],
  },
  /** A connector that nobody has touched. */
  calm: { limits: {}, connectors: (state) => [crm(state), shy(state), probe(state)] },
  /** The same executor as a stranger. */
  reduced: { limits: { timeoutMs: 200 }, connectors: office, reduced: true },
} as const satisfies Record<string, Made>;

/** Name of one of the deployments. */
export type DeploymentName = keyof typeof DEPLOYMENTS;

/**
 * Assembles a deployment around an executor; closing it closes the executor.
 * Runs wherever the gateway runs.
 */
export function createDeployment(name: DeploymentName, executor: Executor): Connecta {
  const made: Made = DEPLOYMENTS[name];
  const state = new State();
  return createConnecta({
    connectors: made.connectors(state),
    executor: made.reduced ? reduced(executor, state) : executor,
    execute: made.limits,
    // Faults are provoked here, and what reaches the caller is what counts.
    log: () => undefined,
  });
}

/** The executor behind the narrowest form that executors have: no signal, no limits, no reports. */
function reduced(executor: Executor, state: State): Executor {
  return {
    async execute(code, providers) {
      const { result, error, logs } = await executor.execute(code, providers);
      if (error !== undefined) state.executorErrors++;
      return { result, ...(error !== undefined && { error }), ...(logs && { logs }) };
    },
    ...(executor.close && { close: () => executor.close?.() ?? Promise.resolve() }),
  };
}
