import { readdirSync, readlinkSync } from "node:fs";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { ExecuteResult, Provider, RunTimings } from "../../server/shared/contracts.ts";
import type { Failure } from "../../server/shared/failure.ts";
import { defaultExecuteLimits, type ExecuteLimits } from "../../server/shared/limits.ts";
import { quickjsExecutor, type QuickJsExecutor } from "../../server/sandbox/pool.ts";

/** One process that all tests of a file share. */
export function sharedPool(): QuickJsExecutor {
  const pool = quickjsExecutor({ processes: 1 });
  beforeAll(() => pool.warm());
  afterAll(() => pool.close());
  return pool;
}

/** A pool that ends with the test; all of its processes are warm. */
export async function startPool(processes: number): Promise<QuickJsExecutor> {
  const pool = quickjsExecutor({ processes });
  onTestFinished(() => pool.close());
  await pool.warm();
  return pool;
}

/** Default limits with some of them changed. */
export function limitsWith(changed: Partial<ExecuteLimits>): ExecuteLimits {
  return { ...defaultExecuteLimits(), ...changed };
}

/** Something that a test opens when it has seen enough. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function gate(): Gate {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** One provider called `host`. */
export function host(fns: Provider["fns"], prelude?: string): Provider[] {
  return [{ name: "host", fns, ...(prelude !== undefined && { prelude }) }];
}

/** Everything that a run reports. */
export interface Report extends ExecuteResult {
  readonly failures: readonly Failure[];
  readonly timings: RunTimings | undefined;
}

/** Runs a program and collects everything that it reports. */
export async function report(
  pool: QuickJsExecutor,
  code: string,
  providers: Provider[] = [],
  options: { limits?: ExecuteLimits; signal?: AbortSignal } = {},
): Promise<Report> {
  const failures: Failure[] = [];
  let timings: RunTimings | undefined;
  const result = await pool.execute(code, providers, {
    ...options,
    onFailure: (failure) => failures.push(failure),
    onTimings: (measured) => {
      timings = measured;
    },
  });
  return { ...result, failures, timings };
}

/** A run that waits in the guest for a host call until the test lets it go on. */
export function waitingRun(pool: QuickJsExecutor): {
  readonly waits: Promise<void>;
  readonly report: Promise<Report>;
  goOn(): void;
} {
  const started = gate();
  const released = gate();
  const providers = host({
    wait: async () => {
      started.open();
      await released.opened;
      return "went on";
    },
  });
  return {
    waits: started.opened,
    report: report(pool, "async () => host.wait()", providers),
    goOn: released.open,
  };
}

/** Whether a process with this id exists. */
export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Where the descriptors of a process lead, by number. */
export function descriptors(pid: number | "self"): Map<number, string> {
  const folder = `/proc/${pid}/fd`;
  const found = new Map<number, string>();
  for (const name of readdirSync(folder)) {
    try {
      found.set(Number(name), readlinkSync(`${folder}/${name}`));
    } catch {
      // The descriptor that listed the folder is gone by now.
    }
  }
  return found;
}
