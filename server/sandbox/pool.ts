import { availableParallelism } from "node:os";
import type { ExecuteOptions, ExecuteResult, Executor, Provider } from "../shared/contracts.ts";
import { failure, type Failure } from "../shared/failure.ts";
import { defaultExecuteLimits, type ExecuteLimits } from "../shared/limits.ts";
import { utf8Length } from "../shared/text.ts";
import { SandboxProcess, type ProcessListener } from "./child.ts";
import { Job } from "./job.ts";
import {
  checkEntry,
  defaultEntry,
  inheritedDescriptors,
  launch,
  readInterpreter,
} from "./launch.ts";
import { place } from "./placing.ts";
import { servesSetup, setupOf, type NumberedSetup, type Setup } from "./setup.ts";
import { inBytes } from "./size.ts";

/** Setups that processes keep interpreters for; a deployment has one. */
const MAX_SETUPS = 8;

/** Failed starts in a row after which waiting runs are told, and the longest pause between two. */
const STARTS = { failures: 3, pauseMs: 50, longestPauseMs: 5_000 };

/** Ids of runs are four bytes in a frame. */
const MAX_JOB = 2 ** 32 - 1;

const HOLD_MS = 60_000;

/** Options of {@link quickjsExecutor}. */
export interface QuickJsOptions {
  /** Sandbox processes; one per core unless said otherwise. */
  readonly processes?: number;
  /** The built program of a sandbox process. */
  readonly entry?: string;
}

/** Runs programs in QuickJS, in a few processes that carry many runs each. */
export class QuickJsExecutor implements Executor {
  readonly name = "quickjs";
  readonly tellsAnswersSent = true;
  readonly #entry: string;
  readonly #inherited = inheritedDescriptors();
  readonly #size: number;
  readonly #processes = new Set<SandboxProcess>();
  readonly #setups = new Map<number, Setup>();
  #waiting = new Set<Job>();
  readonly #listener: ProcessListener = {
    answered: () => this.#offer(),
    returned: (jobs) => this.#takeBack(jobs),
  };
  readonly #onExit = () => this.#killAll();
  readonly #observers = new Set<{ resolve: () => void; reject: (error: Error) => void }>();
  #interpreter: Promise<Buffer> | undefined;
  #lastJob = 0;
  #lastSetup = 0;
  #failedStarts = 0;
  #pause: NodeJS.Timeout | undefined;
  #closed = false;

  /** Throws when the sandbox process is not built. Processes start after the current turn. */
  constructor(options: QuickJsOptions = {}) {
    this.#entry = checkEntry(options.entry ?? defaultEntry());
    this.#size = options.processes ?? availableParallelism();
    if (!Number.isInteger(this.#size) || this.#size < 1) {
      throw new Error("quickjsExecutor: `processes` must be a whole number of at least 1.");
    }
    process.once("exit", this.#onExit);
    setImmediate(() => void this.#start());
  }

  /** Process ids of the sandbox processes, for whoever observes them from outside. */
  get pids(): number[] {
    return [...this.#processes].flatMap(({ pid }) => pid ?? []);
  }

  /** Resolves when a process takes runs; rejects when none starts or the executor is closed. */
  async ready(): Promise<void> {
    await this.#until(() => this.#serves);
  }

  /** Resolves when all processes run at full speed; rejects as {@link ready} does. */
  async warm(): Promise<void> {
    const warm = () => [...this.#processes].filter((process) => process.isWarm).length;
    await this.#until(() => warm() === this.#size);
  }

  /**
   * Runs one program; resolves however it ends. A run that was ended is also reported through
   * `options.onFailure`, with the same sentence as `error`.
   */
  async execute(
    code: string,
    providers: Provider[],
    options: ExecuteOptions = {},
  ): Promise<ExecuteResult> {
    const limits = options.limits ?? defaultExecuteLimits();
    const refusal = this.#refusal(code, limits, options);
    if (refusal) {
      options.onFailure?.(refusal);
      return { result: undefined, error: refusal.message, logs: [] };
    }
    const setup = this.#setupFor(providers, limits);
    const job = new Job({ id: this.#nextJob(), code, setup, providers, limits, options });
    this.#wait(job);
    this.#offer();
    return job.result;
  }

  /** Ends every process and every run; resolves when nothing is left. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    process.removeListener("exit", this.#onExit);
    clearTimeout(this.#pause);
    const reason = failure("executor_closed", "The server is shutting down.");
    const ends = [...this.#processes].map((process) => {
      for (const job of process.jobs.values()) job.fail(reason);
      return Promise.all([process.lost, process.gone]);
    });
    this.#killAll();
    this.#giveUp(reason);
    await Promise.all(ends);
  }

  /** Makes every process keep interpreters ready for these providers and limits. */
  prepare(providers: readonly Provider[], limits: ExecuteLimits): void {
    this.#setupFor(providers, limits);
  }

  async #until(reached: () => boolean): Promise<void> {
    // Idle processes keep no program alive, but someone who waits for them should be.
    const hold = setInterval(() => {}, HOLD_MS);
    try {
      while (!reached()) {
        if (this.#closed) throw new Error("The executor is closed.");
        await new Promise<void>((resolve, reject) => this.#observers.add({ resolve, reject }));
      }
    } finally {
      clearInterval(hold);
    }
  }

  #notify(): void {
    for (const { resolve } of this.#observers) resolve();
    this.#observers.clear();
  }

  #refusal(code: string, limits: ExecuteLimits, options: ExecuteOptions): Failure | undefined {
    if (this.#closed) return failure("executor_closed", "The server is shutting down.");
    if (options.signal?.aborted) return failure("executor_cancelled", "The run was cancelled.");
    const { maxSourceBytes: maxBytes } = limits;
    if (code.length <= maxBytes / 3) return undefined;
    const bytes = utf8Length(code);
    if (bytes <= maxBytes) return undefined;
    const message = `The program is ${bytes} bytes long; at most ${inBytes(maxBytes)} are allowed.`;
    return failure("invalid_program", message, { bytes, maxBytes });
  }

  #nextJob(): number {
    this.#lastJob = (this.#lastJob % MAX_JOB) + 1;
    return this.#lastJob;
  }

  #setupFor(providers: readonly Provider[], limits: ExecuteLimits): NumberedSetup {
    for (const [id, setup] of this.#setups) {
      if (!servesSetup(setup, providers, limits)) continue;
      this.#setups.delete(id);
      this.#setups.set(id, setup);
      return { id, setup };
    }
    const id = ++this.#lastSetup;
    const setup = setupOf(providers, limits);
    this.#setups.set(id, setup);
    for (const process of this.#processes) if (process.usable) process.learn({ id, setup });
    for (const old of this.#setups.keys()) {
      if (this.#setups.size <= MAX_SETUPS) break;
      this.#setups.delete(old);
      for (const process of this.#processes) process.forget(old);
    }
    return { id, setup };
  }

  /** Whether some process takes runs, however busy it is. */
  get #serves(): boolean {
    for (const { usable } of this.#processes) if (usable) return true;
    return false;
  }

  #wait(job: Job): void {
    this.#waiting.add(job);
    job.onEnd = () => this.#waiting.delete(job);
  }

  /** Runs that a lost process had not begun are older than all that wait. */
  #takeBack(jobs: readonly Job[]): void {
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const job of [...jobs, ...waiting]) this.#wait(job);
    this.#offer();
  }

  /**
   * Starts one process after the other: each computes hard until it is warm, and a server that
   * is itself starting needs the other cores. The first one serves meanwhile.
   */
  async #start(): Promise<void> {
    try {
      while (!this.#closed && this.#processes.size < this.#size) {
        this.#interpreter ??= readInterpreter();
        const process = this.#launch(this.#interpreter);
        this.#processes.add(process);
        void process.lost.then(() => this.#replace(process));
        if (!(await process.ready)) return;
        for (const [id, setup] of this.#setups) process.learn({ id, setup });
        this.#failedStarts = 0;
        this.#notify();
        this.#offer();
        if (await process.warm) this.#notify();
      }
    } catch (error) {
      this.#retry(error instanceof Error ? error.message : String(error));
    }
  }

  #launch(interpreter: Promise<Buffer>): SandboxProcess {
    return new SandboxProcess(launch(this.#entry, this.#inherited), interpreter, this.#listener);
  }

  /**
   * Gives waiting runs to processes, the oldest first. Called whenever a run comes and whenever a
   * process may have become free: one run for each time, and more only where nothing is to do, so
   * that no process hoards runs which another could begin sooner.
   */
  #offer(): void {
    let given = 0;
    for (const job of this.#waiting) {
      const process = place(this.#processes);
      if (process === undefined || (given++ > 0 && process.backlog > 0)) return;
      this.#waiting.delete(job);
      process.begin(job);
    }
  }

  #replace(process: SandboxProcess): void {
    this.#processes.delete(process);
    if (this.#closed) return;
    if (process.served) void this.#start();
    else this.#retry("it ended before it was ready");
  }

  #retry(why: string): void {
    this.#failedStarts++;
    this.#interpreter = undefined;
    if (this.#failedStarts >= STARTS.failures && !this.#serves) {
      this.#giveUp(failure("executor_crashed", `The sandbox process does not start: ${why}.`));
    }
    const pauseMs = Math.min(STARTS.longestPauseMs, STARTS.pauseMs * 2 ** this.#failedStarts);
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => void this.#start(), pauseMs).unref();
  }

  /** Tells everyone who waits for a process that there is none. */
  #giveUp(reason: Failure): void {
    for (const job of this.#waiting) job.fail(reason);
    for (const { reject } of this.#observers) reject(new Error(reason.message));
    this.#observers.clear();
  }

  #killAll(): void {
    for (const process of this.#processes) process.kill();
  }
}

/**
 * The executor for Node.
 * @param options.processes sandbox processes, one per core unless said otherwise
 * @param options.entry the built program of a sandbox process
 */
export function quickjsExecutor(options?: QuickJsOptions): QuickJsExecutor {
  return new QuickJsExecutor(options);
}
