/** How an acquisition ended: a release function, or why there is no permit. */
export type Admission =
  | { readonly ok: true; release(): void; readonly waitedMs: number }
  | { readonly ok: false; readonly reason: "full" | "timeout" | "aborted" | "closed" };

interface Waiter {
  settle(admission: Admission): void;
  readonly since: number;
}

/** The one queue of this project: a bounded number active, a bounded number waiting, a bounded wait. */
export class Permits {
  #active = 0;
  #closed = false;
  readonly #waiting = new Set<Waiter>();
  readonly #options: { readonly active: number; readonly queued: number; readonly waitMs: number };

  /**
   * @param options.active permits held at once
   * @param options.queued callers that may wait
   * @param options.waitMs milliseconds that a caller may wait
   */
  constructor(options: { active: number; queued: number; waitMs: number }) {
    this.#options = options;
  }

  get active(): number {
    return this.#active;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Takes a permit now, or waits for one as far as the bounds and the signal allow. */
  acquire(signal?: AbortSignal): Promise<Admission> {
    if (this.#closed) return Promise.resolve({ ok: false, reason: "closed" });
    if (signal?.aborted) return Promise.resolve({ ok: false, reason: "aborted" });
    if (this.#active < this.#options.active) return Promise.resolve(this.#grant(0));
    if (this.#waiting.size >= this.#options.queued) {
      return Promise.resolve({ ok: false, reason: "full" });
    }
    return new Promise((resolve) => {
      const onAbort = () => waiter.settle({ ok: false, reason: "aborted" });
      const timer = setTimeout(
        () => waiter.settle({ ok: false, reason: "timeout" }),
        this.#options.waitMs,
      );
      const waiter: Waiter = {
        since: performance.now(),
        settle: (admission) => {
          this.#waiting.delete(waiter);
          clearTimeout(timer);
          signal?.removeEventListener("abort", onAbort);
          resolve(admission);
        },
      };
      this.#waiting.add(waiter);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Refuses everyone who waits and everyone who comes later. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiting) waiter.settle({ ok: false, reason: "closed" });
  }

  #grant(waitedMs: number): Admission {
    this.#active++;
    let held = true;
    return {
      ok: true,
      waitedMs,
      release: () => {
        if (!held) return;
        held = false;
        this.#active--;
        const [next] = this.#waiting;
        if (next) next.settle(this.#grant(performance.now() - next.since));
      },
    };
  }
}
