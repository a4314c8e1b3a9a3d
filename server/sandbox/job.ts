import type { ExecuteOptions, ExecuteResult, Provider } from "../shared/contracts.ts";
import { failure, type Failure } from "../shared/failure.ts";
import type { ExecuteLimits } from "../shared/limits.ts";
import { KIND, type FrameParts } from "./protocol.ts";
import type { NumberedSetup } from "./setup.ts";
import { inBytes } from "./size.ts";

/** The part of a frame that carries a host function's outcome. */
export type Reply = Required<Pick<FrameParts, "kind" | "payload">>;

/** An outcome, and whether the function was called at all. */
export interface Answered extends Reply {
  readonly wasCalled: boolean;
}

interface HostFunction {
  readonly name: string;
  readonly call: (...args: unknown[]) => unknown;
}

/** One program as the server sees it: its functions, its clock, its one result. */
export class Job {
  readonly id: number;
  readonly code: string;
  readonly setup: NumberedSetup;
  readonly limits: ExecuteLimits;
  /** Resolves when the run has ended, however it ended; never rejects. */
  readonly result: Promise<ExecuteResult>;
  /** Whether anything came back for it; until then it can begin again elsewhere. */
  begun = false;
  /** How often a process that it was given to ended without a known reason. */
  losses = 0;
  readonly #functions: readonly HostFunction[];
  readonly #logs: string[] = [];
  readonly #options: ExecuteOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #onAbort = () => this.fail(failure("executor_cancelled", "The run was cancelled."));
  #settle: ((result: ExecuteResult) => void) | undefined;
  #onEnd: (() => void) | undefined;

  constructor(parts: {
    id: number;
    code: string;
    setup: NumberedSetup;
    providers: readonly Provider[];
    limits: ExecuteLimits;
    options: ExecuteOptions;
  }) {
    this.id = parts.id;
    this.code = parts.code;
    this.setup = parts.setup;
    this.limits = parts.limits;
    this.#options = parts.options;
    this.#functions = parts.providers.flatMap(({ name, fns }) =>
      Object.entries(fns).map(([key, call]) => ({ name: `${name}.${key}`, call })),
    );
    this.result = new Promise((resolve) => {
      this.#settle = resolve;
    });
    const { timeoutMs } = this.limits;
    const message = `The program ran longer than ${timeoutMs} ms.`;
    const reason = failure("executor_timeout", message, { timeoutMs });
    this.#timer = setTimeout(() => this.fail(reason), timeoutMs);
    this.#options.signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  get ended(): boolean {
    return this.#settle === undefined;
  }

  /** Called once when the run ends, before its result is known to the caller. */
  set onEnd(listener: () => void) {
    this.#onEnd = listener;
  }

  log(line: string): void {
    this.#logs.push(line);
  }

  /** Calls a host function; `undefined` when the guest's process named none that exists. */
  call(index: number, kind: number, payload: string): Promise<Answered> | undefined {
    const found = this.#functions[index];
    if (found === undefined) return undefined;
    return this.#call(found, kind, payload);
  }

  /** Ends the run with the program's value. */
  complete(result: unknown): void {
    this.#end({ result });
  }

  /** Ends the run with what the program threw. */
  threw(error: string): void {
    this.#end({ result: undefined, error });
  }

  /** Ends the run for a reason that is not the program's own. */
  fail(reason: Failure): void {
    if (this.ended) return;
    this.#options.onFailure?.(reason);
    this.#end({ result: undefined, error: reason.message });
  }

  /** Hands on what the process measured, in milliseconds. */
  timings(setupMs: number, cpuMs: number): void {
    this.#options.onTimings?.({ setupMs, cpuMs });
  }

  /** An answer of a host function is no longer in this process. */
  sent(): void {
    this.#options.onAnswerSent?.();
  }

  async #call({ name, call }: HostFunction, kind: number, payload: string): Promise<Answered> {
    let wasCalled = false;
    try {
      const args: unknown = kind === KIND.text ? [payload] : JSON.parse(payload);
      if (!Array.isArray(args)) throw new TypeError("The arguments of the call are not a list.");
      wasCalled = true;
      return { ...this.#bounded(name, valueReply(await call(...args))), wasCalled };
    } catch (error) {
      return { ...errorReply(error instanceof Error ? error.message : String(error)), wasCalled };
    }
  }

  #bounded(name: string, reply: Reply): Reply {
    const bytes = Buffer.byteLength(reply.payload);
    const { maxResultBytes } = this.limits;
    if (bytes <= maxResultBytes) return reply;
    return errorReply(
      `The result of ${name} is ${bytes} bytes; at most ${inBytes(maxResultBytes)} enter a program.`,
    );
  }

  #end(result: ExecuteResult): void {
    const settle = this.#settle;
    if (settle === undefined) return;
    this.#settle = undefined;
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#onEnd?.();
    settle({ ...result, logs: this.#logs });
  }
}

function valueReply(value: unknown): Reply {
  if (typeof value === "string" && value.isWellFormed() && !value.includes("\0")) {
    return { kind: KIND.text, payload: value };
  }
  const json = JSON.stringify(value) as string | undefined;
  return json === undefined
    ? { kind: KIND.nothing, payload: "" }
    : { kind: KIND.json, payload: json };
}

/** A message is read to its first NUL; nothing else in it needs care. */
function errorReply(message: string): Reply {
  return { kind: KIND.error, payload: message };
}
