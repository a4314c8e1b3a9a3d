import { pause } from "../catalog/pause.ts";
import { fail, failure, ok, type Failure, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import { Permits, type Held } from "../shared/permits.ts";

/** What one answer takes of the memory that all runs share. */
export interface Share {
  /**
   * Says how large the answers have become.
   * @returns a refusal when there is no room for that: they must be dropped
   */
  hold(bytes: number): Failure | undefined;
  /** Says how large they really are, once that is known; too late to drop anything. */
  correct(bytes: number): void;
}

/** What the answers of some calls take together. */
export interface Room extends Share {
  readonly waitedMs: number;
  release(): void;
}

/** What a call is counted as while it has no answer. */
const PENDING_BYTES = 4 * 1024;

const RETRY_AFTER_MS = 1_000;

/**
 * The memory that host calls of all runs together take while they are on their way. A call starts
 * when there is room for the largest answer, and gives most of that back when it is not answered at
 * once: any number may wait, and few can surprise.
 */
export class InFlight {
  readonly #answers: Permits;
  readonly #arguments: Permits;
  readonly #answersBytes: number;
  readonly #largestBytes: number;

  /**
   * @param limits of one call, in bytes; the largest of each has room however small the bounds
   * @param heldMs milliseconds after which whoever holds room must be gone
   */
  constructor(
    limits: { readonly maxResultBytes: number; readonly maxArgumentBytes: number },
    heldMs?: number,
  ) {
    const { maxResultBytes, maxArgumentBytes } = limits;
    this.#largestBytes = maxResultBytes;
    this.#answersBytes = Math.max(LIMITS.answersInFlightBytes.value, maxResultBytes);
    const argumentsBytes = Math.max(LIMITS.argumentsInFlightBytes.value, maxArgumentBytes);
    // Who may wait is bounded already, by the runs and their host calls.
    const queue = { queued: Number.MAX_SAFE_INTEGER, waitMs: 0, heldMs };
    this.#answers = new Permits({ active: this.#answersBytes, ...queue });
    this.#arguments = new Permits({ active: argumentsBytes, ...queue });
  }

  /** Bytes that are counted now, and how many wait for room. */
  get load(): { readonly bytes: number; readonly waiting: number } {
    const { active, waiting } = this.#answers;
    return { bytes: active + this.#arguments.active, waiting };
  }

  /** Counts arguments that are there already, and so cannot wait. */
  holdArguments(bytes: number): Outcome<Held> {
    const held = this.#arguments.take(bytes);
    return held ? ok(held) : { ok: false, failure: overloaded("arguments") };
  }

  /**
   * Waits until the largest answers have room.
   * @param calls how many calls share it
   * @param waitMs milliseconds that they may wait
   */
  async room(calls: number, waitMs: number, signal: AbortSignal): Promise<Outcome<Room>> {
    const units = Math.min(calls * this.#largestBytes, this.#answersBytes);
    const held = await this.#answers.acquire(signal, { units, waitMs });
    if (held.ok) return ok(roomOf(held, units, calls * PENDING_BYTES));
    if (held.reason !== "aborted") return { ok: false, failure: overloaded("answers") };
    return fail("cancelled", "The call was cancelled before it started.");
  }
}

function roomOf(held: Held, units: number, pending: number): Room {
  let bytes = pending;
  let isWhole = true;
  // A turn of its own: one that is shared would end with the request that began it.
  void pause().then(() => {
    if (isWhole) held.resize(bytes);
    isWhole = false;
  });
  return {
    waitedMs: held.waitedMs,
    hold(known) {
      const wanted = Math.max(known, pending);
      if (!(isWhole && wanted <= units)) {
        isWhole = false;
        if (!held.resize(wanted)) return overloaded("answers");
      }
      bytes = wanted;
      return undefined;
    },
    correct(known) {
      bytes = Math.max(known, pending);
      isWhole &&= bytes <= units;
      if (!isWhole) held.correct(bytes);
    },
    release() {
      isWhole = false;
      held.release();
    },
  };
}

function overloaded(what: "answers" | "arguments"): Failure {
  return failure(
    "executor_overloaded",
    `Programs hold too many large ${what} right now: try again, or ask for less at once.`,
    { limit: `${what}InFlightBytes`, retryAfterMs: RETRY_AFTER_MS },
  );
}
