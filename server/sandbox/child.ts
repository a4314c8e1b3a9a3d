import { failure, knownCode, type Failure, type FailureDetails } from "../shared/failure.ts";
import type { Job } from "./job.ts";
import type { Launched } from "./launch.ts";
import type { Candidate } from "./placing.ts";
import {
  decodeText,
  decodeTimings,
  encodeFrame,
  FRAME,
  FrameReader,
  KIND,
  TIMING_BYTES,
  type Frame,
  type FrameParts,
} from "./protocol.ts";
import { limitFailure } from "./run.ts";
import { PRELUDE_MS, type NumberedSetup } from "./setup.ts";
import { Watch } from "./watch.ts";

/** Details of a failure that a sandbox process may set. */
const DETAILS: ReadonlySet<string> = new Set<keyof FailureDetails>([
  "line",
  "column",
  "limit",
  "bytes",
  "maxBytes",
  "budget",
  "remaining",
  "retryAfterMs",
]);

/** More than any frame a sandbox process sends within its limits. */
const MAX_PAYLOAD_BYTES = 256 * 1024 * 1024;

/** The run of frames that belong to none; ids of runs count from 1. */
const NO_RUN = 0;

/** Wall time after which a process that prepares a setup is taken for dead. */
const PREPARE_TIMEOUT_MS = 30_000;

/** Losses without a known reason after which a run that never began is the likely reason. */
const MAX_LOSSES = 3;

/** What the owner of a process hears from it. */
export interface ProcessListener {
  /** It answered a frame, and may have room for a run. */
  answered(): void;
  /** It is lost, and these runs had not begun: they can begin elsewhere. */
  returned(jobs: readonly Job[]): void;
}

/** One sandbox process as the server sees it. */
export class SandboxProcess implements Candidate {
  readonly jobs = new Map<number, Job>();
  /** Resolves true when the process takes runs, false when it ended before. */
  readonly ready: Promise<boolean>;
  /** Resolves true when it runs them at full speed, false when it ended before. */
  readonly warm: Promise<boolean>;
  /** Resolves when the process serves no more, on whatever account. */
  readonly lost: Promise<void>;
  /** Resolves when nothing of the process is left. */
  readonly gone: Promise<void>;
  readonly #launched: Launched;
  readonly #listener: ProcessListener;
  readonly #watch: Watch;
  readonly #setups = new Set<number>();
  #becomeReady: ((ready: boolean) => void) | undefined;
  #becomeWarm: ((warm: boolean) => void) | undefined;
  #usable = false;
  #isWarm = false;
  #served = false;
  #explained = false;

  /** @param interpreter the WebAssembly file that the process runs */
  constructor(launched: Launched, interpreter: Promise<Uint8Array>, listener: ProcessListener) {
    this.#launched = launched;
    this.#listener = listener;
    const { child, channel } = launched;
    this.#watch = new Watch(child.pid ?? 0, (run) => this.#endStuck(run));
    this.ready = new Promise((resolve) => {
      this.#becomeReady = resolve;
    });
    this.warm = new Promise((resolve) => {
      this.#becomeWarm = resolve;
    });
    this.lost = new Promise((resolve) => {
      channel.once("close", () => {
        this.#lose();
        resolve();
      });
    });
    this.gone = new Promise((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", () => resolve());
    });
    const reader = new FrameReader((frame) => this.#receive(frame), MAX_PAYLOAD_BYTES);
    channel.on("data", (chunk: Buffer) => {
      if (!reader.push(chunk)) this.kill();
    });
    // Both say that the process is gone, which the end of the channel says as well.
    channel.on("error", () => {});
    child.on("error", () => channel.destroy());
    // The file is read while the process starts.
    interpreter.then(
      (payload) => this.#send({ type: FRAME.engine, payload }),
      () => this.kill(),
    );
  }

  get pid(): number | undefined {
    return this.#launched.child.pid;
  }

  /** Whether it has ever been ready. */
  get served(): boolean {
    return this.#served;
  }

  /** Whether runs can be given to it. */
  get usable(): boolean {
    return this.#usable;
  }

  /** Whether the code of the interpreter is optimised: before, it is ten times slower. */
  get isWarm(): boolean {
    return this.#isWarm;
  }

  /** Frames that the process has not answered: above 0 it computes. */
  get backlog(): number {
    return this.#watch.waiting;
  }

  /** How long it has computed for the run that it is at, in milliseconds. */
  get busyMs(): number {
    return this.#watch.busyMs;
  }

  /** Whether it has computed for longer than that run may. */
  get overdue(): boolean {
    return this.#watch.overdue;
  }

  /** Runs that it carries. */
  get load(): number {
    return this.jobs.size;
  }

  /** Makes a setup known, so that the process prepares interpreters for it. */
  learn({ id, setup }: NumberedSetup): void {
    if (this.#setups.has(id)) return;
    this.#setups.add(id);
    const payload = JSON.stringify(setup);
    this.#watch.sent(NO_RUN, {
      cpuMs: PRELUDE_MS,
      timeoutMs: PREPARE_TIMEOUT_MS,
      bytes: payload.length,
    });
    this.#send({ type: FRAME.setup, call: id, payload });
  }

  /** Gives the process a run. */
  begin(job: Job): void {
    const { id, limits, setup: numbered } = job;
    if (this.jobs.size === 0) this.#launched.channel.ref();
    this.jobs.set(id, job);
    job.onEnd = () => this.#drop(job);
    this.learn(numbered);
    const frame = encodeFrame({ type: FRAME.run, run: id, call: numbered.id, payload: job.code });
    this.#watch.sent(id, { ...limits, bytes: frame.length });
    this.#launched.channel.write(frame);
  }

  /** Tells the process that no later run names a setup. */
  forget(setup: number): void {
    if (this.#setups.delete(setup)) this.#send({ type: FRAME.forget, call: setup });
  }

  /** Ends the process now; {@link lost} follows. */
  kill(): void {
    this.#usable = false;
    this.#launched.child.ref();
    this.#launched.child.kill("SIGKILL");
    this.#launched.channel.destroy();
  }

  #receive({ type, kind, index, run, call, payload }: Frame): void {
    const job = this.jobs.get(run);
    // Until it is unparked nothing of a run has happened: it can begin elsewhere.
    if (job && type !== FRAME.parked) job.begun = true;
    switch (type) {
      case FRAME.parked:
        this.#watch.answered(run);
        return this.#listener.answered();
      case FRAME.unparked:
        return this.#watch.at(run, job && { ...job.limits, bytes: job.code.length });
      case FRAME.ready:
        return this.#take();
      case FRAME.warm:
        this.#isWarm = true;
        return this.#becomeWarm?.(true);
      case FRAME.idle:
        this.#watch.answered(run);
        return this.#listener.answered();
      case FRAME.log:
        return job?.log(read(kind, payload) as string);
      case FRAME.call:
        return job && this.#call(job, { index, call, kind, payload: decodeText(payload) });
      case FRAME.done:
        this.#watch.answered(run);
        if (job) this.#finish(job, kind, payload);
        return this.#listener.answered();
      default:
        return this.kill();
    }
  }

  #call(job: Job, parts: { index: number; call: number; kind: number; payload: string }): void {
    const { index, call, kind, payload } = parts;
    const reply = job.call(index, kind, payload);
    if (reply === undefined) return this.kill();
    void reply.then(({ wasCalled, ...outcome }) => {
      if (job.ended) return;
      const frame = encodeFrame({ type: FRAME.reply, run: job.id, call, ...outcome });
      this.#watch.sent(job.id, { ...job.limits, bytes: frame.length });
      this.#launched.channel.write(frame, wasCalled ? () => job.sent() : undefined);
    });
  }

  #finish(job: Job, kind: number, payload: Buffer): void {
    const { setupMs, cpuMs } = decodeTimings(payload);
    const value = payload.subarray(TIMING_BYTES);
    this.jobs.delete(job.id);
    this.#rest();
    job.timings(setupMs, cpuMs);
    if (kind === KIND.failure) job.fail(failureOf(read(KIND.json, value)));
    else if (kind === KIND.error) job.threw(value.toString());
    else job.complete(read(kind, value));
  }

  /** A run that ended on this side: the process drops its guest. */
  #drop(job: Job): void {
    if (!this.jobs.delete(job.id)) return;
    this.#watch.sent(job.id, { ...job.limits, bytes: 0 });
    this.#send({ type: FRAME.cancel, run: job.id });
    this.#rest();
  }

  #take(): void {
    this.#launched.child.unref();
    this.#rest();
    this.#usable = true;
    this.#served = true;
    this.#becomeReady?.(true);
  }

  /** An idle process keeps no server alive. */
  #rest(): void {
    if (this.jobs.size === 0) this.#launched.channel.unref();
  }

  #endStuck(run: number): void {
    const offender = this.jobs.get(run);
    this.jobs.delete(run);
    this.#explained = offender !== undefined;
    this.kill();
    offender?.fail(limitFailure("cpu", offender.limits));
  }

  #lose(): void {
    this.#usable = false;
    const at = this.#watch.run;
    this.#watch.stop();
    this.#becomeReady?.(false);
    this.#becomeWarm?.(false);
    const jobs = [...this.jobs.values()];
    this.jobs.clear();
    this.#launched.child.kill("SIGKILL");
    const returned = jobs.filter((job) => this.#canReturn(job, at));
    for (const job of jobs) {
      if (returned.includes(job)) continue;
      job.fail(failure("executor_crashed", "The sandbox process of this program ended."));
    }
    if (returned.length > 0) this.#listener.returned(returned);
  }

  /** Whether a run can begin elsewhere: it has not begun, and is not what ended the process. */
  #canReturn(job: Job, at: number | undefined): boolean {
    if (job.begun || job.id === at) return false;
    return this.#explained || ++job.losses < MAX_LOSSES;
  }

  #send(parts: FrameParts): void {
    this.#launched.channel.write(encodeFrame(parts));
  }
}

function read(kind: number, payload: Buffer): unknown {
  if (kind === KIND.nothing) return undefined;
  const text = decodeText(payload);
  return kind === KIND.json ? (JSON.parse(text) as unknown) : text;
}

/** A failure as the process described it, rebuilt from the fields that it may set. */
function failureOf(value: unknown): Failure {
  const { code, message, ...described } = value as Partial<Failure>;
  const details = Object.entries(described).filter(([name]) => DETAILS.has(name));
  return failure(knownCode(code) ?? "internal", String(message), Object.fromEntries(details));
}
