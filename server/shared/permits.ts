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

/** Bounds of a queue. */
export interface PermitOptions {
  /** Units held at once: permits, or bytes. */
  readonly active: number;
  /** Callers that may wait. */
  readonly queued: number;
  /** Milliseconds that a caller may wait. */
  readonly waitMs: number;
  /**
   * Milliseconds after which a permit counts as given back: where work can end without a word,
   * nobody is left who would. Without it a permit is held until it is released.
   */
  readonly heldMs?: number | undefined;
}

interface Waiter {
  settle(admission: Admission): void;
  readonly units: number;
  readonly since: number;
  readonly waitMs: number;
}

/** Who holds units, and since when. */
interface Lease {
  readonly since: number;
  release(): void;
}

/** The one queue of this project: a bounded number active, a bounded number waiting, a bounded wait. */
export class Permits {
  #active = 0;
  #closed = false;
  readonly #waiting = new Set<Waiter>();
  /** In the order in which they began. */
  readonly #leases = new Set<Lease>();
  readonly #options: PermitOptions;

  constructor(options: PermitOptions) {
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
    if (this.#waiting.size > 0 || !this.#fits(units)) this.#reclaim();
    // Nobody overtakes: a large one would never get its turn.
    if (this.#waiting.size === 0 && this.#fits(units)) return Promise.resolve(this.#grant(units));
    if (this.#waiting.size >= this.#options.queued) {
      return Promise.resolve({ ok: false, reason: "full" });
    }
    return this.#wait(units, waitMs ?? this.#options.waitMs, signal);
  }

  /** Takes a permit now and before everyone who waits, or not at all. */
  take(units = 1): Held | undefined {
    if (this.#closed) return undefined;
    if (!this.#fits(units)) this.#reclaim();
    return this.#fits(units) ? this.#grant(units) : undefined;
  }

  /** Refuses everyone who waits and everyone who comes later. */
  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiting) waiter.settle({ ok: false, reason: "closed" });
  }

  /** Timer and signal belong to the one who waits, and so does clearing them away. */
  async #wait(units: number, waitMs: number, signal?: AbortSignal): Promise<Admission> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let unlisten = () => {};
    const admission = await new Promise<Admission>((resolve) => {
      const waiter: Waiter = {
        units,
        waitMs,
        since: performance.now(),
        settle: (settled) => {
          this.#waiting.delete(waiter);
          resolve(settled);
          // Whoever gives up may have stood before others that fit.
          if (!settled.ok) this.#serve();
        },
      };
      const end = (reason: "timeout" | "aborted") => waiter.settle({ ok: false, reason });
      timer = setTimeout(() => end("timeout"), waitMs);
      this.#waiting.add(waiter);
      if (signal) unlisten = onAbort(signal, () => end("aborted"));
    });
    clearTimeout(timer);
    unlisten();
    return admission;
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
    const lease: Lease = {
      since: performance.now(),
      release: () => {
        this.#leases.delete(lease);
        change(0);
        released = true;
      },
    };
    if (this.#options.heldMs !== undefined) this.#leases.add(lease);
    return {
      ok: true,
      waitedMs,
      release: lease.release,
      correct: change,
      resize: (to) => {
        if (released || (to > held && !this.#fits(to - held))) return false;
        change(to);
        return true;
      },
    };
  }

  /** Takes back what is held, and ends who waits, for longer than that can be. */
  #reclaim(): void {
    const { heldMs } = this.#options;
    if (heldMs === undefined) return;
    const now = performance.now();
    for (const waiter of this.#waiting) {
      if (now - waiter.since > waiter.waitMs) waiter.settle({ ok: false, reason: "timeout" });
    }
    for (const { since, release } of this.#leases) {
      if (now - since <= heldMs) return;
      release();
    }
  }
}
