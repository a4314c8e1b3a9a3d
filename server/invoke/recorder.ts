import type { ActivityEvent, ActivityStore } from "../shared/activity.ts";
import type { Outcome } from "../shared/failure.ts";
import { endedWithin } from "../shared/joining.ts";
import { LIMITS } from "../shared/limits.ts";
import { Notice } from "../shared/notice.ts";
import type { Scope } from "../shared/scope.ts";
import { kindOf } from "../shared/text.ts";

const REPORT_EVERY_MS = 60_000;

/** Hands events to a store, which may fail or hang: no call fails by it, or waits for it. */
export class Recorder {
  readonly #store: ActivityStore | undefined;
  /** Events that the store has not answered for. */
  #owed = 0;
  /** Events lost since the last report. */
  #lost = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;

  /** @param store without one nothing is recorded */
  constructor(store?: ActivityStore) {
    this.#store = store;
  }

  /** Records what a call came to; what the store makes of it is seen to after the answer. */
  record(event: ActivityEvent, scope: Scope): void {
    if (!this.#store) return;
    if (this.#owed >= LIMITS.activityWaiting.value) {
      return this.#lose("It does not answer.", scope);
    }
    try {
      const stored = this.#store.record(event);
      if (stored !== undefined) scope.defer(this.#settle(stored, scope));
    } catch (error) {
      this.#lose(`${kindOf(error)}.`, scope);
    }
  }

  /** Ends the store's work; resolves when it has, could not, or takes too long. */
  async close(): Promise<void> {
    const closing = (async () => this.#store?.close?.())();
    await endedWithin(closing, 2 * LIMITS.storageTimeoutMs.value);
  }

  async #settle(stored: Promise<Outcome<void> | void>, scope: Scope): Promise<void> {
    this.#owed++;
    try {
      const outcome = await stored;
      if (outcome?.ok === false) this.#lose(outcome.failure.message, scope);
    } catch (error) {
      this.#lose(`${kindOf(error)}.`, scope);
    } finally {
      this.#owed--;
    }
  }

  /** Tells the operator, now and then: a store that is down fails at every call. */
  #lose(reason: string, scope: Scope): void {
    this.#lost++;
    const now = scope.now();
    if (now - this.#reportedAt < REPORT_EVERY_MS) return;
    const calls = this.#lost === 1 ? "a call was" : `${this.#lost} calls were`;
    this.#lost = 0;
    this.#reportedAt = now;
    const message = `The activity store failed; ${calls} not recorded. ${reason}`;
    scope.report(new Notice(message), "activity");
  }
}
