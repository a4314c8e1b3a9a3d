import type { ActivityEvent } from "./activity.ts";
import { fail, ok, type Outcome } from "./failure.ts";
import { endedWithin } from "./joining.ts";
import { LIMITS } from "./limits.ts";
import { closedStore } from "./storage.ts";

/** Writes a few events, all or as many as it can. */
export type WriteEvents = (events: readonly ActivityEvent[]) => Promise<Outcome<void>>;

/** After this time whoever began a batch is gone, and its write with it. */
const PATIENCE_MS = 2 * LIMITS.storageTimeoutMs.value;

/** After this time a write that took too long ended without a word, as work does with its request. */
const GONE_MS = 60_000;

/** Events of one batch on their way. */
interface Batch {
  readonly outcome: Promise<Outcome<void>>;
  /** On the clock of timers. */
  readonly since: number;
  /** Ends the waiting for more of them. */
  readonly start: () => void;
}

/**
 * Collects events for a while and writes them together, one batch after the other, so that a call
 * costs its store nothing but its place in a list. What a store that is stuck owes is bounded.
 */
export class Batches {
  readonly #write: WriteEvents;
  readonly #delayMs: number;
  #waiting: ActivityEvent[] = [];
  #next: Batch | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** Since when a write that took too long is under way, on the clock of timers. */
  #stuckSince = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  /** @param delayMs how long a batch waits for more, in milliseconds */
  constructor(write: WriteEvents, delayMs: number) {
    this.#write = write;
    this.#delayMs = delayMs;
  }

  /** Adds an event; the outcome is that of its batch. */
  add(event: ActivityEvent): Promise<Outcome<void>> {
    if (this.#isClosed) return Promise.resolve(closedStore());
    if (this.#waiting.length >= LIMITS.activityWaiting.value) {
      return Promise.resolve(fail("unavailable", "It does not keep up."));
    }
    this.#waiting.push(event);
    if (!this.#next || performance.now() - this.#next.since > this.#delayMs + PATIENCE_MS) {
      this.#next = this.#schedule();
    }
    return this.#next.outcome;
  }

  /**
   * Writes what waits before somebody reads; resolves when it is written, could not be, or takes
   * too long. Failure: nobody reads what was closed.
   */
  async settled(): Promise<Outcome<void>> {
    if (this.#isClosed) return closedStore();
    await this.#written();
    return ok(undefined);
  }

  /** Writes what waits, and takes nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#written();
  }

  async #written(): Promise<void> {
    this.#next?.start();
    await endedWithin(this.#last, PATIENCE_MS);
  }

  #schedule(): Batch {
    let start = () => {};
    const due = new Promise<void>((resolve) => (start = resolve));
    const timer = setTimeout(start, this.#delayMs);
    const before = this.#last;
    const outcome = due.then(async () => {
      clearTimeout(timer);
      await endedWithin(before, PATIENCE_MS);
      const events = this.#waiting;
      this.#waiting = [];
      this.#next = undefined;
      return this.#inTime(events);
    });
    this.#last = outcome;
    return { outcome, start, since: performance.now() };
  }

  /** A write that hangs costs its own events and those that come meanwhile; nobody waits for it. */
  async #inTime(events: readonly ActivityEvent[]): Promise<Outcome<void>> {
    const timeoutMs = LIMITS.storageTimeoutMs.value;
    const slow = fail("unavailable", `A write takes over ${timeoutMs} ms.`);
    if (performance.now() - this.#stuckSince < GONE_MS) return slow;
    let stuckSince: number | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<Outcome<void>>((resolve) => {
      timer = setTimeout(() => {
        this.#stuckSince = stuckSince = performance.now();
        resolve(slow);
      }, timeoutMs);
    });
    const written = this.#write(events)
      .catch(() => fail("unavailable", "A write failed without saying why."))
      .finally(() => {
        // A later one may be stuck by now.
        if (stuckSince === this.#stuckSince) this.#stuckSince = Number.NEGATIVE_INFINITY;
      });
    const outcome = await Promise.race([written, late]);
    clearTimeout(timer);
    return outcome;
  }
}
