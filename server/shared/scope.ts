import { failure, type Failure, type Outcome } from "./failure.ts";

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
}

/** A scope whose signal also aborts after `timeoutMs`; call `done` when the work has ended. */
export interface Deadline {
  readonly scope: Scope;
  /** The failure to report when the signal aborted: a timeout or the caller's cancellation. */
  reason(): Failure;
  done(): void;
}

/**
 * Narrows a scope by a deadline.
 * @param timeoutMs milliseconds from now
 * @param what subject of the timeout message, e.g. `crm.get_record`
 */
export function deadline(parent: Scope, timeoutMs: number, what: string): Deadline {
  const controller = new AbortController();
  let expired = false;
  const onAbort = () => controller.abort(parent.signal.reason);
  const timer = setTimeout(() => {
    expired = true;
    controller.abort(new DOMException(`${what} took longer than ${timeoutMs} ms`, "TimeoutError"));
  }, timeoutMs);
  if (parent.signal.aborted) onAbort();
  else parent.signal.addEventListener("abort", onAbort, { once: true });
  return {
    scope: { ...parent, signal: controller.signal, now: parent.now, defer: parent.defer },
    reason: () =>
      expired
        ? failure("timeout", `${what} did not answer within ${timeoutMs} ms.`, { timeoutMs })
        : failure("cancelled", `${what} was cancelled by the caller.`),
    done() {
      clearTimeout(timer);
      parent.signal.removeEventListener("abort", onAbort);
    },
  };
}

/**
 * Runs `work` under a deadline and stops waiting for it when the deadline passes,
 * whether or not the work honours its signal.
 */
export async function withDeadline<T>(
  parent: Scope,
  timeoutMs: number,
  what: string,
  work: (scope: Scope) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const limit = deadline(parent, timeoutMs, what);
  const { signal } = limit.scope;
  let onAbort: (() => void) | undefined;
  try {
    const aborted = new Promise<Outcome<T>>((resolve) => {
      onAbort = () => resolve({ ok: false, failure: limit.reason() });
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort, { once: true });
    });
    return signal.aborted ? await aborted : await Promise.race([work(limit.scope), aborted]);
  } finally {
    if (onAbort) signal.removeEventListener("abort", onAbort);
    limit.done();
  }
}
