import { LIMITS } from "../shared/limits.ts";

/** What takes room, and whose it is. */
export interface Held {
  readonly bytes: number;
  readonly principal: string;
}

/**
 * The room that kept results share: so many, so many bytes, for so long. When there is none left,
 * the caller who holds the most gives up the oldest.
 */
export class StashRoom<Entry extends Held> {
  readonly #entries = new Map<string, { readonly held: Entry; readonly expires: number }>();
  readonly #onDrop: (held: Entry) => void;
  #bytes = 0;

  /** @param onDrop called with what had to give way before its time */
  constructor(onDrop: (held: Entry) => void = () => {}) {
    this.#onDrop = onDrop;
  }

  put(id: string, held: Entry, now: number): void {
    this.#expire(now);
    this.#makeRoom(held);
    this.#entries.set(id, { held, expires: now + LIMITS.stashTtlMs.value });
    this.#bytes += held.bytes;
  }

  get(id: string, now: number): Entry | undefined {
    this.#expire(now);
    return this.#entries.get(id)?.held;
  }

  #expire(now: number): void {
    for (const [id, { held, expires }] of this.#entries) if (expires <= now) this.#drop(id, held);
  }

  #makeRoom(coming: Held): void {
    while (
      this.#entries.size >= LIMITS.stashEntries.value ||
      this.#bytes + coming.bytes > LIMITS.stashBytes.value
    ) {
      const oldest = this.#oldestOfLargest(coming);
      if (oldest === undefined) return;
      this.#drop(...oldest);
      this.#onDrop(oldest[1]);
    }
  }

  /** The oldest result of whoever holds the most, by what each limit is a share of. */
  #oldestOfLargest(coming: Held): [string, Entry] | undefined {
    const share = (bytes: number) =>
      bytes / LIMITS.stashBytes.value + 1 / LIMITS.stashEntries.value;
    const shares = new Map([[coming.principal, share(coming.bytes)]]);
    for (const { held } of this.#entries.values()) {
      shares.set(held.principal, (shares.get(held.principal) ?? 0) + share(held.bytes));
    }
    const holding = [...this.#entries].map(([id, { held }]): [string, Entry] => [id, held]);
    const most = Math.max(...holding.map(([, held]) => shares.get(held.principal) ?? 0));
    return holding.find(([, held]) => shares.get(held.principal) === most);
  }

  #drop(id: string, held: Held): void {
    this.#entries.delete(id);
    this.#bytes -= held.bytes;
  }
}
