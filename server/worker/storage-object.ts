import { DurableObject } from "cloudflare:workers";

/** A row as SQLite gives it. */
type Row = Readonly<Record<string, ArrayBuffer | string | number | null>>;

/** What an object is given of its own storage. */
interface ObjectContext {
  readonly storage: {
    readonly sql: {
      exec(query: string, ...values: (Uint8Array | number | null)[]): { toArray(): Row[] };
    };
    transactionSync<T>(work: () => T): T;
  };
}

/** When a value ends, and what time it is where somebody asks. */
interface Times {
  readonly expiresAt: number | null;
  readonly now: number;
}

/** A page of keys. */
interface Page {
  readonly after: string;
  readonly limit: number;
  readonly now: number;
}

/** Bytes of one part of a value: a row may have two million. */
const PART_BYTES = 1_000_000;
/** So long what is over may still take room. */
const SWEEP_MS = 60_000;
const ALIVE = "(expires_at IS NULL OR expires_at > ?)";

// Bytes, because texts end at a zero character here, and so that order is that of code points.
const SCHEMA = `
CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY NOT NULL, expires_at INTEGER) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entries_by_end ON entries (expires_at) WHERE expires_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS parts (
  key BLOB NOT NULL, part INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (key, part)
) WITHOUT ROWID;`;

const encoder = new TextEncoder();
// A mark at the start of a value is a character of it.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * The Durable Object behind `durableStorage`, with SQLite: one place in the world, one operation
 * after the other. Keys, values and times were checked by the driver.
 */
export class StorageObject extends DurableObject {
  readonly #storage: ObjectContext["storage"];
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(context: ObjectContext, env: unknown) {
    super(context, env);
    this.#storage = context.storage;
    this.#run(SCHEMA);
  }

  read(key: string, now: number): string | undefined {
    const name = encoder.encode(key);
    if (this.#run(`SELECT 1 FROM entries WHERE key = ? AND ${ALIVE}`, name, now).length === 0) {
      return undefined;
    }
    const parts = this.#run("SELECT bytes FROM parts WHERE key = ? ORDER BY part", name);
    const text = parts.map(({ bytes }) => decoded(bytes, true)).join("");
    return text + decoder.decode();
  }

  write(key: string, value: string, times: Times): void {
    this.#storage.transactionSync(() => this.#write(key, value, times));
  }

  remove(key: string): void {
    this.#storage.transactionSync(() => this.#remove(encoder.encode(key)));
  }

  names(prefix: string, { after, limit, now }: Page): string[] {
    const begin = encoder.encode(prefix);
    // No byte of UTF-8 is greater or the same.
    const end = new Uint8Array([...begin, 0xff]);
    const query = `SELECT key FROM entries WHERE key >= ? AND key < ? AND key > ? AND ${ALIVE}
      ORDER BY key LIMIT ?`;
    const rows = this.#run(query, begin, end, encoder.encode(after), now, limit);
    return rows.map(({ key }) => decoded(key, false));
  }

  /** @returns whether the value was the expected one, and was replaced */
  swap(key: string, expected: string | undefined, value: string, times: Times): boolean {
    if (this.read(key, times.now) !== expected) return false;
    this.write(key, value, times);
    return true;
  }

  #write(key: string, value: string, { expiresAt, now }: Times): void {
    this.#sweep(now);
    const name = encoder.encode(key);
    this.#remove(name);
    this.#run("INSERT INTO entries (key, expires_at) VALUES (?, ?)", name, expiresAt);
    const bytes = encoder.encode(value);
    for (let from = 0; from < bytes.length; from += PART_BYTES) {
      const part = bytes.subarray(from, from + PART_BYTES);
      this.#run("INSERT INTO parts (key, part, bytes) VALUES (?, ?, ?)", name, from, part);
    }
  }

  #remove(name: Uint8Array): void {
    this.#run("DELETE FROM parts WHERE key = ?", name);
    this.#run("DELETE FROM entries WHERE key = ?", name);
  }

  /** Removes what is over, now and then; nobody could read it any more. */
  #sweep(now: number): void {
    if (Math.abs(now - this.#sweptAt) < SWEEP_MS) return;
    this.#sweptAt = now;
    const over = "SELECT key FROM entries WHERE expires_at <= ?";
    this.#run(`DELETE FROM parts WHERE key IN (${over})`, now);
    this.#run("DELETE FROM entries WHERE expires_at <= ?", now);
  }

  #run(query: string, ...values: (Uint8Array | number | null)[]): Row[] {
    return this.#storage.sql.exec(query, ...values).toArray();
  }
}

/** @param isPart whether a character may go on in the next part */
function decoded(bytes: Row[string] | undefined, isPart: boolean): string {
  return bytes instanceof ArrayBuffer ? decoder.decode(bytes, { stream: isPart }) : "";
}
