import { onAbort } from "./aborts.ts";
import { failure, type Failure, type Outcome } from "./failure.ts";
import type { Trace } from "./observation.ts";

/** What dies with one request: passed down, never stored beyond it. */
export interface Scope {
  /** Aborts when the caller went away, a deadline passed or the server closes. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Work that may outlive the answer but not the process (`waitUntil` on Workers). */
  defer(task: Promise<unknown>): void;
  /** Who calls, as inbound auth established it; `anonymous` without auth. */
  readonly principal: string;
  readonly requestId: string;
  /** Gives the request's permit back: what follows is admitted on its own. */
  handOver?(): void;
  /** Tells the operator of a fault that the caller must not see, and what it happened to. */
  report(error: unknown, what: string): void;
  /** Where this work is observed; nobody looks when it is absent. */
  readonly trace?: Trace;
}

/**
 * Runs `work` under a deadline and stops waiting for it when the deadline passes or the caller
 * goes away, whether or not the work honours its signal.
 * @param timeoutMs milliseconds from now
 * @param what subject of the failure's message, e.g. `crm.get_record`
 */
export async function withDeadline<T>(
  parent: Scope,
  timeoutMs: number,
  what: string,
  work: (scope: Scope) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const cancelled = failure("cancelled", `${what} was cancelled by the caller.`);
  if (parent.signal.aborted) return { ok: false, failure: cancelled };
  const controller = new AbortController();
  let release = () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ended = new Promise<Outcome<T>>((resolve) => {
    const end = (reason: Failure) => {
      resolve({ ok: false, failure: reason });
      controller.abort(new DOMException(reason.message, "AbortError"));
    };
    const message = `${what} did not answer within ${timeoutMs} ms.`;
    timer = setTimeout(() => end(failure("timeout", message, { timeoutMs })), timeoutMs);
    release = onAbort(parent.signal, () => end(cancelled));
  });
  try {
    return await Promise.race([work({ ...parent, signal: controller.signal }), ended]);
  } finally {
    clearTimeout(timer);
    release();
  }
}
