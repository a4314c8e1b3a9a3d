import { readFileSync } from "node:fs";

/** How often a process that has not answered is looked at. */
const LOOK_MS = 25;

/** Time beyond the CPU budget; with looking and ending it stays within the promised 250 ms. */
const PATIENCE_MS = 100;

/** Time to move a payload in and parse it, which no budget pays for, per MiB. */
const MOVING_MS_PER_MIB = 60;

/** Kernel clock ticks of /proc are hundredths of a second on every architecture. */
const TICK_MS = 10;

/** What a process may take before it answers a frame. */
export interface Allowance {
  /** CPU time of the guest, in milliseconds. */
  readonly cpuMs: number;
  /** Wall time after which no answer is a dead process, in milliseconds. */
  readonly timeoutMs: number;
  /** Payload that it has to move. */
  readonly bytes: number;
}

interface Unanswered extends Allowance {
  readonly run: number;
}

/**
 * Notices a process that is stuck in a native call which the interpreter cannot interrupt. The
 * process answers in order, so the oldest unanswered frame names the run that holds it.
 */
export class Watch {
  readonly #pid: number;
  readonly #onStuck: (run: number) => void;
  readonly #unanswered: Unanswered[] = [];
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #seen: { frame: Unanswered; wall: number; cpuMs: number | undefined } | undefined;

  constructor(pid: number, onStuck: (run: number) => void) {
    this.#pid = pid;
    this.#onStuck = onStuck;
  }

  /** Frames that the process still works on or has not read. */
  get waiting(): number {
    return this.#unanswered.length;
  }

  /** How long the process has been at the frame that it works on, in milliseconds. */
  get busyMs(): number {
    return this.#unanswered.length === 0 ? 0 : performance.now() - this.#since;
  }

  /** The run whose frame the process is at, if it is at any. */
  get run(): number | undefined {
    return this.#unanswered[0]?.run;
  }

  /** Whether the process has been at a frame for longer than it may compute for its run. */
  get overdue(): boolean {
    const frame = this.#unanswered[0];
    return frame !== undefined && this.busyMs > frame.cpuMs;
  }

  /** Notes a frame that the process has to answer. */
  sent(run: number, { cpuMs, timeoutMs, bytes }: Allowance): void {
    if (this.#unanswered.length === 0) this.#since = performance.now();
    this.#unanswered.push({ run, cpuMs, timeoutMs, bytes });
    if (this.#timer === undefined) this.#timer = this.#arm();
  }

  /**
   * Notes that the process is at a run now, before all frames that it has not answered.
   * @param allowance left out for a run that is being cancelled: what its frame was sent with
   */
  at(
    run: number,
    allowance: Allowance | undefined = this.#unanswered.find((frame) => frame.run === run),
  ): void {
    if (allowance === undefined) return;
    const { cpuMs, timeoutMs, bytes } = allowance;
    this.#since = performance.now();
    this.#unanswered.unshift({ run, cpuMs, timeoutMs, bytes });
    if (this.#timer === undefined) this.#timer = this.#arm();
  }

  /** Notes the answer to the oldest frame of a run. */
  answered(run: number): void {
    const at = this.#unanswered.findIndex((frame) => frame.run === run);
    if (at < 0) return;
    this.#unanswered.splice(at, 1);
    this.#since = performance.now();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#unanswered.length = 0;
  }

  #arm(): NodeJS.Timeout {
    return setTimeout(() => this.#look(), LOOK_MS).unref();
  }

  #look(): void {
    this.#timer = undefined;
    const frame = this.#unanswered[0];
    if (frame === undefined) return;
    this.#timer = this.#arm();
    if (this.#seen?.frame !== frame) {
      this.#seen = { frame, wall: performance.now(), cpuMs: cpuTimeOf(this.#pid) };
      return;
    }
    const { wall, cpuMs } = this.#seen;
    const wallMs = performance.now() - wall;
    const allowedMs = frame.cpuMs + PATIENCE_MS + (frame.bytes / 2 ** 20) * MOVING_MS_PER_MIB;
    if (wallMs < allowedMs) return;
    const now = cpuTimeOf(this.#pid);
    // On a loaded machine wall time says nothing; a process without CPU time is not computing.
    const spentMs = now === undefined || cpuMs === undefined ? wallMs : now - cpuMs;
    if (spentMs < allowedMs && wallMs < frame.timeoutMs) return;
    // An answer may be lying unread when this server itself was busy: read first, then judge.
    setImmediate(() => {
      if (this.#unanswered[0] === frame) this.#onStuck(frame.run);
    });
  }
}

/** User and system time of a process in milliseconds; `undefined` where there is no /proc. */
function cpuTimeOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    return Number.isFinite(ticks) ? ticks * TICK_MS : undefined;
  } catch {
    return undefined;
  }
}
