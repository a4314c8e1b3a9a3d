import { onAbort } from "./aborts.ts";

/** A permit that is held until it is released. */
export interface Held {
  readonly ok: true;
  readonly waitedMs: number;
  /** Gives everything back; once, however often it is called. */
  release(): void;
  /** Holds another number of units from now on; false, and nothing changed, when there is no room. */
  resize(units: number): boolean;
  /** Holds another number of units in any case; nobody else gets any while that is too many. */
  correct(units: number): void;
}

/** How an acquisition ended: a permit, or why there is none. */
export type Admission =
  | Held
  | { readonly ok: false; readonly reason: "full" | "timeout" | "aborted" | "closed" };

/** What one caller asks for, where it differs from everyone's. */
export interface Ask {
  /** How much of what there is it takes; 1 when omitted. */
  readonly units?: number;
  /** Milliseconds that it may wait. */
  readonly waitMs?: number;
}

interface Waiter {
  settle(admission: Admission): void;
  readonly units: number;
  readonly since: number;
}

/** The one queue of this project: a bounded number active, a bounded number waiting, a bounded wait. */
export class Permits {
  #active = 0;
  #closed = false;
  readonly #waiting = new Set<Waiter>();
  readonly #options: { readonly active: number; readonly queued: number; readonly waitMs: number };

  /**
   * @param options.active units held at once: permits, or bytes
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
  acquire(signal?: AbortSignal, { units = 1, waitMs }: Ask = {}): Promise<Admission> {
    if (this.#closed) return Promise.resolve({ ok: false, reason: "closed" });
    if (signal?.aborted) return Promise.resolve({ ok: false, reason: "aborted" });
    // Nobody overtakes: a large one would never get its turn.
    if (this.#waiting.size === 0 && this.#fits(units)) return Promise.resolve(this.#grant(units));
    if (this.#waiting.size >= this.#options.queued) {
      return Promise.resolve({ ok: false, reason: "full" });
    }
    return new Promise((resolve) => {
      let unlisten = () => {};
      const timer = setTimeout(
        () => waiter.settle({ ok: false, reason: "timeout" }),
        waitMs ?? this.#options.waitMs,
      );
      const waiter: Waiter = {
        units,
        since: performance.now(),
        settle: (admission) => {
          this.#waiting.delete(waiter);
          clearTimeout(timer);
          unlisten();
          resolve(admission);
          // Whoever gives up may have stood before others that fit.
          if (!admission.ok) this.#serve();
        },
      };
      this.#waiting.add(waiter);
      if (signal) {
        unlisten = onAbort(signal, () => waiter.settle({ ok: false, reason: "aborted" }));
      }
    });
  }

  /** Takes a permit now and before everyone who waits, or not at all. */
  take(units = 1): Held | undefined {
    return !this.#closed && this.#fits(units) ? this.#grant(units) : undefined;
  }

  /** Refuses everyone who waits and everyone who comes later. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiting) waiter.settle({ ok: false, reason: "closed" });
  }

  #fits(units: number): boolean {
    return this.#active + units <= this.#options.active;
  }

  #serve(): void {
    if (this.#closed) return;
    for (const waiter of this.#waiting) {
      if (!this.#fits(waiter.units)) return;
      waiter.settle(this.#grant(waiter.units, performance.now() - waiter.since));
    }
  }

  #grant(units: number, waitedMs = 0): Held {
    this.#active += units;
    let held = units;
    let released = false;
    const change = (to: number) => {
      if (released) return;
      const less = to < held;
      this.#active += to - held;
      held = to;
      if (less) this.#serve();
    };
    return {
      ok: true,
      waitedMs,
      release: () => {
        change(0);
        released = true;
      },
      correct: change,
      resize: (to) => {
        if (released || (to > held && !this.#fits(to - held))) return false;
        change(to);
        return true;
      },
    };
  }
}
