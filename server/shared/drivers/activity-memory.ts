import {
  isAskedFor,
  pageSize,
  type ActivityEvent,
  type ActivityPage,
  type ActivityQuery,
  type ActivityStore,
} from "../activity.ts";
import { fail, ok, type Outcome } from "../failure.ts";
import { LIMITS } from "../limits.ts";

/** What a store of events in memory may be told. */
export interface MemoryActivityOptions {
  /** The newest so many are kept; 1,000 when omitted. */
  readonly events?: number;
}

/**
 * The newest events, until the process ends.
 * @throws TypeError for a number of events that is no whole number from 1 to 1,000,000
 */
export function memoryActivity(options: MemoryActivityOptions = {}): ActivityStore {
  const { events = LIMITS.activityEvents.value } = options;
  if (!Number.isInteger(events) || events < 1 || events > MAX_EVENTS) {
    throw new TypeError(`memoryActivity(): events is a whole number from 1 to ${MAX_EVENTS}.`);
  }
  return new Ring(events);
}

const MAX_EVENTS = 1_000_000;

class Ring implements ActivityStore {
  readonly isVolatile = true;
  readonly #size: number;
  readonly #ring: ActivityEvent[] = [];
  /** Events recorded so far; the place of each is its number modulo the size. */
  #count = 0;

  constructor(size: number) {
    this.#size = size;
  }

  record(event: ActivityEvent): void {
    this.#ring[this.#count++ % this.#size] = event;
  }

  async read(query: ActivityQuery = {}): Promise<Outcome<ActivityPage>> {
    const size = pageSize(query);
    if (!size.ok) return size;
    const { after } = query;
    return after === undefined ? this.#newest(query, size.value) : this.#since(query, size.value);
  }

  #newest(query: ActivityQuery, size: number): Outcome<ActivityPage> {
    const events: ActivityEvent[] = [];
    const oldest = this.#count - this.#ring.length;
    for (let at = this.#count - 1; at >= oldest && events.length < size; at--) {
      const event = this.#ring[at % this.#size];
      if (event && isAskedFor(event, query)) events.push(event);
    }
    return ok({ events, cursor: String(this.#count) });
  }

  #since(query: ActivityQuery, size: number): Outcome<ActivityPage> {
    const start = Number(query.after);
    if (!Number.isInteger(start) || start < 0 || start > this.#count) {
      return fail("invalid_args", "after is the cursor of an earlier page.");
    }
    const events: ActivityEvent[] = [];
    let at = Math.max(start, this.#count - this.#ring.length);
    for (; at < this.#count && events.length < size; at++) {
      const event = this.#ring[at % this.#size];
      if (event && isAskedFor(event, query)) events.push(event);
    }
    return ok({ events, cursor: String(at) });
  }
}
