import { ok } from "../failure.ts";
import { LIMITS } from "../limits.ts";
import { closedStore, endOf, isOver, refusal, type KeepOptions, type Storage } from "../storage.ts";
import { byCodePoints } from "../text.ts";

interface Entry {
  readonly value: string;
  readonly expiresAt: number | undefined;
}

/** What a store in memory may be told. */
export interface MemoryStorageOptions {
  /** Milliseconds since the epoch; the system's clock when omitted. */
  readonly now?: () => number;
}

/** So long what is over may still take room. */
const SWEEP_MS = 60_000;

/** A store that ends with its process: for tests, and where nothing needs to survive a restart. */
export function memoryStorage({ now = Date.now }: MemoryStorageOptions = {}): Storage {
  const entries = new Map<string, Entry>();
  let isClosed = false;
  let sweptAt = now();

  const live = (key: string): string | undefined => {
    const entry = entries.get(key);
    return entry === undefined || isOver(entry.expiresAt, now()) ? undefined : entry.value;
  };
  const write = (key: string, value: string, options: KeepOptions): void => {
    const time = now();
    if (Math.abs(time - sweptAt) >= SWEEP_MS) {
      sweptAt = time;
      for (const [old, { expiresAt }] of entries) if (isOver(expiresAt, time)) entries.delete(old);
    }
    entries.set(key, { value, expiresAt: endOf(options, time) });
  };
  const check = (asked: Parameters<typeof refusal>[0]) =>
    isClosed ? closedStore() : refusal(asked);

  return {
    get: async (key) => check({ key }) ?? ok(live(key)),
    async set(key, value, options = {}) {
      const refused = check({ ...options, key, values: [value] });
      if (refused !== undefined) return refused;
      write(key, value, options);
      return ok(undefined);
    },
    async delete(key) {
      const refused = check({ key });
      if (refused !== undefined) return refused;
      entries.delete(key);
      return ok(undefined);
    },
    async list(prefix, options = {}) {
      const refused = check({ ...options, prefix });
      if (refused !== undefined) return refused;
      const { after = "", limit = LIMITS.storageListKeys.value } = options;
      const keys = [...entries.keys()].filter(
        (key) => key.startsWith(prefix) && live(key) !== undefined && byCodePoints(key, after) > 0,
      );
      return ok(keys.toSorted(byCodePoints).slice(0, limit));
    },
    async compareAndSet(key, expected, value, options = {}) {
      const refused = check({ ...options, key, values: [expected, value] });
      if (refused !== undefined) return refused;
      if (live(key) !== expected) return ok(false);
      write(key, value, options);
      return ok(true);
    },
    async close() {
      isClosed = true;
      entries.clear();
    },
  };
}
