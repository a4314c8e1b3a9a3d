import {
  fromLine,
  idMaker,
  idOfTime,
  isAskedFor,
  pageSize,
  toLine,
  type ActivityEvent,
  type ActivityPage,
  type ActivityQuery,
  type ActivityStore,
} from "../activity.ts";
import { Batches } from "../activity-batches.ts";
import { fail, ok, type Outcome } from "../failure.ts";
import { LIMITS } from "../limits.ts";
import type { Storage } from "../storage.ts";

/** What keeps events in a store of keys. */
export interface StorageActivityOptions {
  /** Closed with this store. */
  readonly storage: Storage;
  /** Milliseconds after which an event is gone; seven days when omitted. */
  readonly ttlMs?: number;
  /** Milliseconds for which events wait, to be written together; 1,000 when omitted. */
  readonly flushMs?: number;
  /** Milliseconds since the epoch; the system's clock when omitted. */
  readonly now?: () => number;
}

const FLUSH_MS = 1_000;
const MAX_FLUSH_MS = 60_000;
const BATCH = 1_000;
const PREFIX = "activity/1/";
/** Looked through first; each time further back, so that much history costs the newest nothing. */
const FIRST_SPAN_MS = 60_000;
const SPAN_FACTOR = 8;

/**
 * Recorded calls in any {@link Storage}, some of each second under one key in the order of time.
 * A process that is killed loses those of its last second.
 * @throws TypeError for an option that cannot be used
 */
export function storageActivity(options: StorageActivityOptions): ActivityStore {
  const { storage, ttlMs = LIMITS.activityTtlMs.value, flushMs = FLUSH_MS } = options ?? {};
  if (typeof storage?.set !== "function") {
    throw new TypeError("storageActivity() needs a storage: storageActivity({ storage }).");
  }
  if (!Number.isSafeInteger(ttlMs) || ttlMs < 1) {
    throw new TypeError("storageActivity(): ttlMs is a whole number of milliseconds from 1.");
  }
  if (!Number.isInteger(flushMs) || flushMs < 0 || flushMs > MAX_FLUSH_MS) {
    throw new TypeError(`storageActivity(): flushMs is a whole number from 0 to ${MAX_FLUSH_MS}.`);
  }
  return new StorageActivity(storage, { ttlMs, flushMs, now: options.now ?? Date.now });
}

/** A place in the store: a key, and how many of its events lie before. */
interface Place {
  readonly key: string;
  readonly index: number;
}

class StorageActivity implements ActivityStore {
  readonly #storage: Storage;
  readonly #ttlMs: number;
  readonly #now: () => number;
  readonly #batches: Batches;
  readonly #makeId = idMaker();

  constructor(
    storage: Storage,
    { ttlMs, flushMs, now }: Required<Omit<StorageActivityOptions, "storage">>,
  ) {
    this.#storage = storage;
    this.#ttlMs = ttlMs;
    this.#now = now;
    this.#batches = new Batches((events) => this.#write(events), flushMs);
  }

  record(event: ActivityEvent): Promise<Outcome<void>> {
    return this.#batches.add(event);
  }

  async read(query: ActivityQuery = {}): Promise<Outcome<ActivityPage>> {
    const size = pageSize(query);
    if (!size.ok) return size;
    const written = await this.#batches.settled();
    if (!written.ok) return written;
    if (query.after === undefined) return this.#newest(query, size.value);
    const place = placeOf(query.after);
    if (place) return this.#since(query, place, size.value);
    return fail("invalid_args", "after is the cursor of an earlier page.");
  }

  async close(): Promise<void> {
    await this.#batches.close();
    await this.#storage.close?.();
  }

  async #write(all: readonly ActivityEvent[]): Promise<Outcome<void>> {
    for (let from = 0; from < all.length; from += BATCH) {
      const lines = all.slice(from, from + BATCH).map((event) => {
        return toLine({ id: this.#makeId(event.time), event });
      });
      // The time of writing: who follows has not read further yet.
      const key = `${PREFIX}${this.#makeId(this.#now())}`;
      const set = await this.#storage.set(key, lines.join(""), { ttlMs: this.#ttlMs });
      if (!set.ok) return set;
    }
    return ok(undefined);
  }

  async #newest(query: ActivityQuery, size: number): Promise<Outcome<ActivityPage>> {
    const found: ActivityEvent[] = [];
    let cursor: string | undefined;
    let before: string | undefined;
    for (let span = FIRST_SPAN_MS; ; span *= SPAN_FACTOR) {
      const isLast = span > 2 * Math.max(this.#ttlMs, LIMITS.activityTtlMs.value);
      const from = isLast ? undefined : `${PREFIX}${idOfTime(this.#now() - span)}`;
      const keys = await this.#keys(from, before);
      if (!keys.ok) return keys;
      for (const key of keys.value.toReversed()) {
        const events = await this.#events(key);
        if (!events.ok) return events;
        cursor ??= cursorOf({ key, index: events.value.length });
        const asked = events.value.filter((event) => isAskedFor(event, query)).toReversed();
        found.push(...asked.slice(0, size - found.length));
        if (found.length === size) return ok({ events: found, cursor });
      }
      if (isLast) return ok({ events: found, cursor: cursor ?? "" });
      before = keys.value[0] ?? before;
    }
  }

  async #since(query: ActivityQuery, from: Place, size: number): Promise<Outcome<ActivityPage>> {
    const found: ActivityEvent[] = [];
    const keys = await this.#keys(from.key === "" ? undefined : from.key, undefined);
    if (!keys.ok) return keys;
    let place = from;
    for (const key of from.key === "" ? keys.value : [from.key, ...keys.value]) {
      const events = await this.#events(key);
      if (!events.ok) return events;
      const start = key === from.key ? from.index : 0;
      for (const [at, event] of events.value.entries()) {
        if (at < start || !isAskedFor(event, query)) continue;
        found.push(event);
        if (found.length === size) {
          return ok({ events: found, cursor: cursorOf({ key, index: at + 1 }) });
        }
      }
      // What is over by now is gone; its place in the order stays.
      place = { key, index: Math.max(start, events.value.length) };
    }
    return ok({ events: found, cursor: place.key === "" ? "" : cursorOf(place) });
  }

  /** Keys after one and before another, in their order. */
  async #keys(
    after: string | undefined,
    before: string | undefined,
  ): Promise<Outcome<readonly string[]>> {
    const all: string[] = [];
    const limit = LIMITS.storageListKeys.value;
    for (let last = after; ;) {
      const options = { limit, ...(last !== undefined && { after: last }) };
      const page = await this.#storage.list(PREFIX, options);
      if (!page.ok) return page;
      const wanted = page.value.filter((key) => before === undefined || key < before);
      all.push(...wanted);
      if (page.value.length < limit || wanted.length < page.value.length) return ok(all);
      last = page.value.at(-1);
    }
  }

  async #events(key: string): Promise<Outcome<readonly ActivityEvent[]>> {
    const value = await this.#storage.get(key);
    if (!value.ok) return value;
    const lines = (value.value ?? "").split("\n").filter((line) => line !== "");
    return ok(lines.flatMap((line) => fromLine(line)?.event ?? []));
  }
}

function cursorOf({ key, index }: Place): string {
  return `${key.slice(PREFIX.length)} ${index}`;
}

function placeOf(cursor: string): Place | undefined {
  if (cursor === "") return { key: "", index: 0 };
  const [, id, index] = /^([\w-]{1,64}) (\d{1,9})$/.exec(cursor) ?? [];
  return id === undefined ? undefined : { key: `${PREFIX}${id}`, index: Number(index) };
}
