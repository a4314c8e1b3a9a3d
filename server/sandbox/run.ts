import { failure, type Failure } from "../shared/failure.ts";
import { Stopped, type Interpreter, type InterpreterHost } from "./interpreter.ts";
import { encodeTimings, FRAME, KIND, type FrameParts } from "./protocol.ts";
import type { GuestLimits } from "./setup.ts";
import { inBytes } from "./size.ts";
import { spentMs, startBurst, type Burst } from "./spent.ts";

/** Host calls of one run that may be under way at once; more is a flood, not a program. */
const MAX_CALLS_UNDER_WAY = 256;

/** Argument bytes under way at once, in arguments of the largest size. */
const MAX_ARGUMENTS_UNDER_WAY = 4;

/** Lines sent as they are printed; a process that dies takes only later ones with it. */
const PROMPT_LINES = 32;

/** Where a run's frames go: queued, or sent at once. */
export interface Outbox {
  queue(parts: FrameParts): void;
  flush(): void;
  /** Called while a run computes: lets it hear that it is to be abandoned. */
  glance(): void;
}

/** One program in the sandbox process: its interpreter, its limits, its calls under way. */
export class Run implements InterpreterHost {
  readonly id: number;
  readonly interpreter: Interpreter;
  readonly #limits: GuestLimits;
  readonly #outbox: Outbox;
  readonly #setupMs: number;
  readonly #underWay = new Map<number, number>();
  #bytesUnderWay = 0;
  #lines = 0;
  #cpuMs = 0;
  #burst: Burst | undefined;
  #cpuExceeded = false;
  #clean = true;
  ended = false;
  /** Whether it ended without having told its result. */
  abandoned = false;

  constructor(
    id: number,
    parts: { interpreter: Interpreter; limits: GuestLimits; outbox: Outbox; setupMs: number },
  ) {
    this.id = id;
    this.interpreter = parts.interpreter;
    this.#limits = parts.limits;
    this.#outbox = parts.outbox;
    this.#setupMs = parts.setupMs;
  }

  /** Whether the interpreter ended in an ordinary state and may be used again. */
  get clean(): boolean {
    return this.ended && this.#clean;
  }

  /** Starts the program and runs it to its end or to its first wait. */
  begin(code: Uint8Array): void {
    this.#compute(() => this.interpreter.begin(this, code));
  }

  /** Brings a host call's outcome in, unpaid, and runs on. */
  reply(call: number, kind: number, bytes: Uint8Array): void {
    const size = this.#underWay.get(call);
    if (this.ended || size === undefined) return;
    this.#underWay.delete(call);
    this.#bytesUnderWay -= size;
    this.#guarded(() => this.interpreter.take(call, kind, bytes));
    if (!this.ended) this.#compute(() => this.interpreter.settle(call));
  }

  /** Stops caring; nothing that the guest still does leaves the process. */
  abandon(): void {
    if (this.ended) return;
    this.ended = true;
    this.abandoned = true;
    this.#clean = false;
  }

  call(index: number, id: number, json: boolean, bytes: Uint8Array): string | undefined {
    const { maxArgumentBytes } = this.#limits;
    if (bytes.length > maxArgumentBytes) {
      const bound = inBytes(maxArgumentBytes);
      return `The arguments are ${bytes.length} bytes; at most ${bound} leave a program.`;
    }
    const flood = this.#flood(bytes.length);
    if (flood) {
      this.#fail(flood);
      return flood.message;
    }
    this.#underWay.set(id, bytes.length);
    this.#bytesUnderWay += bytes.length;
    const kind = json ? KIND.json : KIND.text;
    this.#outbox.queue({ type: FRAME.call, kind, index, run: this.id, call: id, payload: bytes });
    return undefined;
  }

  log(json: boolean, bytes: Uint8Array): void {
    const kind = json ? KIND.json : KIND.text;
    this.#outbox.queue({ type: FRAME.log, kind, run: this.id, payload: bytes });
    if (++this.#lines <= PROMPT_LINES) this.#outbox.flush();
  }

  done(kind: "nothing" | "json" | "text", bytes: Uint8Array): void {
    const limit = this.#crossed;
    if (limit) return this.#limit(limit);
    const { maxResultBytes } = this.#limits;
    if (bytes.length <= maxResultBytes) return this.#finish(KIND[kind], bytes);
    const bound = inBytes(maxResultBytes);
    const message = `The result is ${bytes.length} bytes; at most ${bound} leave a program.`;
    const details = { bytes: bytes.length, maxBytes: maxResultBytes };
    this.#fail(failure("result_too_large", message, details));
  }

  failed(limit: "none" | "memory" | "stack", json: boolean, bytes: Uint8Array): void {
    const crossed = this.#crossed ?? limit;
    if (crossed !== "none") return this.#limit(crossed);
    const text: unknown = json ? JSON.parse(Buffer.from(bytes).toString()) : undefined;
    this.#finish(KIND.error, typeof text === "string" ? text : bytes);
  }

  invalid(bytes: Uint8Array): void {
    const [message, line, column] = JSON.parse(Buffer.from(bytes).toString()) as unknown[];
    const details = {
      ...(typeof line === "number" && { line }),
      ...(typeof column === "number" && { column }),
    };
    // Nothing of the program has run: the interpreter stays as good as it was.
    this.#end(failure("invalid_program", `SyntaxError: ${String(message)}`, details));
  }

  overBudget(): boolean {
    this.#outbox.flush();
    this.#outbox.glance();
    if (this.ended || this.#crossed) return true;
    return this.#isSpent();
  }

  #isSpent(): boolean {
    const { cpuMs } = this.#limits;
    const burst = this.#burst;
    if (burst === undefined) return false;
    // Wall time bounds CPU time from above and is cheap; under load only CPU time is the truth.
    if (this.#cpuMs + performance.now() - burst.wall <= cpuMs) return false;
    this.#cpuExceeded = this.#cpuMs + spentMs(burst) > cpuMs;
    return this.#cpuExceeded;
  }

  /** The limit that this run has crossed, whatever its program made of it. */
  get #crossed(): "cpu" | "memory" | undefined {
    if (this.interpreter.refusedMemory) return "memory";
    return this.#cpuExceeded || this.#isSpent() ? "cpu" : undefined;
  }

  /** Why one more host call with so many bytes of arguments is too much, if it is. */
  #flood(bytes: number): Failure | undefined {
    if (this.#underWay.size >= MAX_CALLS_UNDER_WAY) {
      const message = `maxHostCalls: at most ${MAX_CALLS_UNDER_WAY} can be under way at once.`;
      return failure("budget_exceeded", message, { budget: "maxHostCalls", remaining: 0 });
    }
    const together = this.#bytesUnderWay + bytes;
    const maxBytes = MAX_ARGUMENTS_UNDER_WAY * this.#limits.maxArgumentBytes;
    if (together <= maxBytes) return undefined;
    const message = `maxArgumentBytes: at most ${inBytes(maxBytes)} can be under way at once.`;
    const details = { budget: "maxArgumentBytes", bytes: together, maxBytes };
    return failure("budget_exceeded", message, details);
  }

  #compute(work: () => void): void {
    const burst = startBurst();
    this.#burst = burst;
    this.#guarded(work);
    this.#cpuMs += spentMs(burst);
    this.#burst = undefined;
    if (this.ended) return;
    if (this.#cpuMs > this.#limits.cpuMs) this.#cpuExceeded = true;
    const crossed = this.#crossed;
    if (crossed) this.#limit(crossed);
    else if (this.#underWay.size === 0) {
      this.#guarded(() => this.interpreter.tellRejected());
      const message =
        "The program waits for something that can never settle: no host call is under way.";
      this.#fail(failure("program_error", message));
    }
  }

  /** Runs the interpreter; what escapes it is a broken instance, and ends this run alone. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#clean = false;
      if (error instanceof Stopped) return;
      // The process's own stack ends before the interpreter's in a few deeply native paths.
      if (error instanceof RangeError) this.#limit("stack");
      // It does not survive everywhere that an allocation of its own fails.
      else if (this.interpreter.refusedMemory) this.#limit("memory");
      else this.#fail(failure("executor_crashed", "The interpreter of this program broke."));
    }
  }

  #limit(limit: "cpu" | "memory" | "stack"): void {
    const shared = this.interpreter.refusedMemory === "process";
    this.#fail(limitFailure(limit, this.#limits, shared));
  }

  #fail(reason: Failure): void {
    this.#clean = false;
    this.#end(reason);
  }

  #end(reason: Failure): void {
    this.#finish(KIND.failure, JSON.stringify(reason));
  }

  #finish(kind: number, payload: string | Uint8Array): void {
    if (this.ended) return;
    this.ended = true;
    if (this.#burst) this.#cpuMs += spentMs(this.#burst);
    const prefix = encodeTimings(this.#setupMs, this.#cpuMs);
    this.#outbox.queue({ type: FRAME.done, kind, run: this.id, prefix, payload });
  }
}

/** The failure of a run that crossed a limit of its guest. */
export function limitFailure(
  limit: "cpu" | "memory" | "stack",
  limits: GuestLimits,
  shared = false,
): Failure {
  const sentence = {
    cpu: `The program used more than its ${limits.cpuMs} ms of CPU time.`,
    memory: shared
      ? "The program ran out of the memory that all programs of a sandbox process share."
      : `The program used more than its ${inBytes(limits.heapBytes)} of memory.`,
    stack: `The program recursed deeper than its ${inBytes(limits.stackBytes)} of stack.`,
  }[limit];
  return failure("executor_limit", sentence, { limit });
}
