import type { CallLimits } from "../shared/call-limits.ts";
import type { Connector } from "../shared/contracts.ts";
import { fail, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import { sawAdmission, type QueueState } from "../shared/observation.ts";
import { Permits } from "../shared/permits.ts";
import type { Scope } from "../shared/scope.ts";

/** What every call needs besides its own right to be made: a turn of its connector. */
export class Admission {
  readonly #connectors = new Map<string, Partitions>();

  constructor(connectors: readonly Connector[]) {
    for (const { id, limits } of connectors) this.#connectors.set(id, new Partitions(limits ?? {}));
  }

  /** Calls under way and waiting, by connector. */
  get load(): Readonly<Record<string, QueueState>> {
    return Object.fromEntries([...this.#connectors].map(([id, { load }]) => [id, load]));
  }

  /**
   * Makes one attempt of a call when its connector may be asked, and holds its turn as long.
   * @param timeoutMs milliseconds for waiting and attempt together
   * @param attempt is told how many of them are left
   */
  async admit<T>(
    connector: Connector,
    timeoutMs: number,
    scope: Scope,
    attempt: (leftMs: number) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const partitions = this.#connectors.get(connector.id);
    return partitions === undefined
      ? attempt(timeoutMs)
      : partitions.admit(connector.id, timeoutMs, scope, attempt);
  }
}

/** The limits of one connector, for each key that a deployment tells apart. */
class Partitions {
  readonly #limits: CallLimits;
  readonly #common: Partition;
  readonly #byKey = new Map<string, Partition>();
  #active = 0;
  #waiting = 0;

  constructor(limits: CallLimits) {
    this.#limits = limits;
    this.#common = new Partition(limits);
  }

  get load(): QueueState {
    return { active: this.#active, waiting: this.#waiting };
  }

  async admit<T>(
    id: string,
    timeoutMs: number,
    scope: Scope,
    attempt: (leftMs: number) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const { concurrency, budget } = this.#limits;
    if (concurrency === undefined && budget === undefined) {
      return this.#counted(() => attempt(timeoutMs));
    }
    const own = this.#of(scope);
    this.#waiting++;
    const turn = await own.enter(id, timeoutMs, scope).finally(() => this.#waiting--);
    if (!turn.ok) return turn;
    const { waitedMs, release } = turn.value;
    const leftMs = Math.max(1, Math.round(timeoutMs - waitedMs));
    return this.#counted(() => attempt(leftMs)).finally(release);
  }

  async #counted<T>(attempt: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    this.#active++;
    try {
      return await attempt();
    } finally {
      this.#active--;
    }
  }

  #of(scope: Scope): Partition {
    const { partition } = this.#limits;
    if (partition === undefined) return this.#common;
    const key = String(partition({ principal: scope.principal }));
    const known = this.#byKey.get(key);
    if (known) return known;
    if (this.#byKey.size >= LIMITS.partitions.value) this.#forget(scope.now());
    // Where too many are busy the newcomers share one: never more than bounded, never none.
    if (this.#byKey.size >= LIMITS.partitions.value) return this.#common;
    const made = new Partition(this.#limits);
    this.#byKey.set(key, made);
    return made;
  }

  /** Forgets those whose next call would find nothing that a new one does not have. */
  #forget(now: number): void {
    for (const [key, partition] of this.#byKey) {
      if (partition.isUntouched(now)) this.#byKey.delete(key);
    }
  }
}

interface Turn {
  readonly waitedMs: number;
  release(): void;
}

const NO_LIMIT: Turn = { waitedMs: 0, release: () => undefined };

const RETRY_AFTER_MS = 1_000;

/** How long after the longest deadline a call can at most hold its turn. */
const HELD_MS = 5_000;

class Partition {
  readonly #permits: Permits | undefined;
  readonly #budget: Budget | undefined;

  constructor({ concurrency, budget }: CallLimits) {
    this.#permits =
      concurrency === undefined
        ? undefined
        : new Permits({
            active: concurrency,
            queued: LIMITS.queuedCalls.value,
            waitMs: 0,
            heldMs: LIMITS.maxCallTimeoutMs.value + HELD_MS,
          });
    this.#budget = budget && new Budget(budget.calls, budget.windowMs);
  }

  isUntouched(now: number): boolean {
    const { active = 0, waiting = 0 } = this.#permits ?? {};
    return active + waiting === 0 && (this.#budget?.isUntouched(now) ?? true);
  }

  async enter(id: string, timeoutMs: number, scope: Scope): Promise<Outcome<Turn>> {
    // Nobody waits for a turn that the budget then refuses, if that is known before.
    const spent = this.#budget?.retryAfterMs(scope.now());
    if (spent !== undefined) return limited(id, spent);
    const turn = await this.#turn(id, timeoutMs, scope);
    if (!turn.ok) return turn;
    const now = scope.now();
    const spentMeanwhile = this.#budget?.retryAfterMs(now);
    if (spentMeanwhile === undefined) {
      this.#budget?.spend(now);
      return turn;
    }
    turn.value.release();
    return limited(id, spentMeanwhile);
  }

  async #turn(id: string, timeoutMs: number, scope: Scope): Promise<Outcome<Turn>> {
    if (!this.#permits) return { ok: true, value: NO_LIMIT };
    const held = await this.#permits.acquire(scope.signal, { waitMs: timeoutMs });
    sawAdmission(scope, "connectors", held);
    if (held.ok) return { ok: true, value: held };
    if (held.reason === "aborted") return fail("cancelled", `${id} was not asked: cancelled.`);
    const busy = `${id} works on as many calls as it may (limits.concurrency)`;
    return held.reason === "full"
      ? fail("unavailable", `${busy}, and as many wait.`, { retryAfterMs: RETRY_AFTER_MS })
      : fail("unavailable", `${busy}; no turn came within ${timeoutMs} ms.`, { timeoutMs });
  }
}

function limited(id: string, retryAfterMs: number): Outcome<never> {
  const message = `${id} was asked as often as it may be for now (limits.budget).`;
  return fail("rate_limited", message, { retryAfterMs });
}

/** Calls of the last window, by the time at which each began. */
class Budget {
  #begun: number[] = [];
  #first = 0;
  readonly #calls: number;
  readonly #windowMs: number;

  constructor(calls: number, windowMs: number) {
    this.#calls = calls;
    this.#windowMs = windowMs;
  }

  isUntouched(now: number): boolean {
    this.#expire(now);
    return this.#begun.length === 0;
  }

  /** Milliseconds until the next call may begin; `undefined` when it may now. */
  retryAfterMs(now: number): number | undefined {
    this.#expire(now);
    if (this.#begun.length - this.#first < this.#calls) return undefined;
    const oldest = this.#begun[this.#first] ?? now;
    return Math.max(1, Math.ceil(oldest + this.#windowMs - now));
  }

  spend(now: number): void {
    this.#begun.push(now);
  }

  #expire(now: number): void {
    const begun = this.#begun;
    const isPast = (at: number | undefined) => at !== undefined && at + this.#windowMs <= now;
    while (isPast(begun[this.#first])) this.#first++;
    // Moved up once half of it is past, so that no call pays for all before it.
    if (this.#first * 2 < begun.length) return;
    this.#begun = begun.slice(this.#first);
    this.#first = 0;
  }
}
