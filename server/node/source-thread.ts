import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { notAdmitted } from "../programs/admission.ts";
import type { ProgramSource, SourceReader } from "../programs/source.ts";
import { fail, type Outcome } from "../shared/failure.ts";
import { Permits } from "../shared/permits.ts";

/** Times and sizes of a {@link SourceThread}, in milliseconds where nothing else is said. */
interface SourceThreadOptions {
  /** How long one program may take to be read. */
  readonly timeoutMs: number;
  /** How long a thread without work is kept. */
  readonly idleMs: number;
  /** What a reading may hold, in MiB; more ends the thread and not the server. */
  readonly heapMb: number;
  /** The built program of the thread. */
  readonly entry: string | URL;
}

/** Programs that may wait for the thread, and how long: as for a place among those that run. */
const QUEUE = { active: 1, queued: 64, waitMs: 5_000 };

const DEFAULTS = { timeoutMs: 10_000, idleMs: 60_000, heapMb: 512 };

/** As deep as the server's own stack, so that nesting is refused at about the same depth. */
const STACK_MB = 1;

/**
 * Reads large programs in a thread, one after the other. The thread starts with the first and ends
 * when there has been none for a while; a reading that takes too long ends with its thread.
 */
export class SourceThread implements SourceReader {
  readonly #options: SourceThreadOptions;
  readonly #permits = new Permits(QUEUE);
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: Partial<SourceThreadOptions> = {}) {
    this.#options = { ...DEFAULTS, entry: builtEntry(), ...options };
  }

  /** Whether a thread exists now. */
  get alive(): boolean {
    return this.#worker !== undefined;
  }

  async read(code: string, signal: AbortSignal): Promise<Outcome<ProgramSource>> {
    const admission = await this.#permits.acquire(signal);
    if (!admission.ok) return { ok: false, failure: notAdmitted(admission) };
    clearTimeout(this.#idle);
    try {
      if (this.#closed) return closed();
      return await this.#ask((this.#worker ??= this.#start()), code);
    } finally {
      this.#idle = setTimeout(() => this.#end(), this.#options.idleMs).unref();
      admission.release();
    }
  }

  /** Ends the thread and everyone who waits for it. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#permits.close();
    clearTimeout(this.#idle);
    await this.#end();
  }

  #start(): Worker {
    const { entry, heapMb } = this.#options;
    const worker = new Worker(entry, {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb, stackSizeMb: STACK_MB },
    });
    const forget = () => {
      if (this.#worker === worker) this.#worker = undefined;
    };
    // The end of the thread follows, and says the same to whoever waits.
    worker.on("error", () => {});
    worker.once("exit", forget);
    worker.unref();
    return worker;
  }

  /** Resolves however the thread ends; a thread without an answer in time is ended. */
  #ask(worker: Worker, code: string): Promise<Outcome<ProgramSource>> {
    const { timeoutMs } = this.#options;
    return new Promise((resolve) => {
      const settle = (outcome: Outcome<ProgramSource>) => {
        clearTimeout(timer);
        worker.off("message", settle).off("exit", onExit).unref();
        resolve(outcome);
      };
      const onExit = () => settle(this.#closed ? closed() : crashed());
      const timer = setTimeout(() => {
        void this.#end();
        settle(late(timeoutMs));
      }, timeoutMs);
      worker.once("message", settle).once("exit", onExit).ref();
      worker.postMessage(code, []);
    });
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}

/** Wherever this module ends up in the build, the entries stand side by side. */
function builtEntry(): string {
  const near = createRequire(import.meta.url).resolve("connecta/node");
  return join(dirname(near), "source-worker.js");
}

function closed(): Outcome<never> {
  return fail("executor_closed", "The server is shutting down.");
}

function crashed(): Outcome<never> {
  return fail("executor_crashed", "The program was too much to read: send less source.");
}

function late(timeoutMs: number): Outcome<never> {
  return fail("executor_timeout", `The program could not be read within ${timeoutMs} ms.`, {
    timeoutMs,
  });
}
