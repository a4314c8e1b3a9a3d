import { mkdir, open } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fail, ok, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import { closedStore, endOf, refusal, type KeepOptions, type Storage } from "../shared/storage.ts";
import { openTable, type Table } from "./storage-table.ts";

/** Where a store lies. */
export interface SqliteStorageOptions {
  /** The database's file; it is made, readable by its owner alone, when it is not there. */
  readonly file: string;
  /** Milliseconds since the epoch; the system's clock when omitted. */
  readonly now?: () => number;
}

/** So long what is over may still take room. */
const SWEEP_MS = 60_000;

/**
 * A store in one SQLite file, opened at its first use. A write that was answered survives the end
 * of the process at any moment, and a loss of power as far as the disk keeps what it was told to.
 * Several processes may share the file. Each operation holds up the event loop while it lasts.
 */
export function sqliteStorage(options: SqliteStorageOptions): Storage {
  if (typeof options?.file !== "string" || options.file === "") {
    throw new TypeError("sqliteStorage() needs a file: sqliteStorage({ file: 'connecta.db' }).");
  }
  return new SqliteStorage(options);
}

class SqliteStorage implements Storage {
  readonly #file: string;
  readonly #now: () => number;
  #opening: Promise<Table> | undefined;
  #sweptAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor({ file, now = Date.now }: SqliteStorageOptions) {
    this.#file = resolve(file);
    this.#now = now;
  }

  get(key: string): Promise<Outcome<string | undefined>> {
    return this.#use({ key }, (table) => table.get(key, this.#now()));
  }

  set(key: string, value: string, options: KeepOptions = {}): Promise<Outcome<void>> {
    return this.#use({ ...options, key, values: [value] }, (table) => {
      const now = this.#sweep(table);
      table.set(key, value, endOf(options, now));
    });
  }

  delete(key: string): Promise<Outcome<void>> {
    return this.#use({ key }, (table) => table.delete(key));
  }

  list(
    prefix: string,
    options: Parameters<Storage["list"]>[1] = {},
  ): Promise<Outcome<readonly string[]>> {
    const { after = "", limit = LIMITS.storageListKeys.value } = options;
    return this.#use({ ...options, prefix }, (table) =>
      table.list(prefix, { after, limit, now: this.#now() }),
    );
  }

  compareAndSet(
    key: string,
    expected: string | undefined,
    value: string,
    options: KeepOptions = {},
  ): Promise<Outcome<boolean>> {
    return this.#use({ ...options, key, values: [expected, value] }, (table) => {
      const now = this.#sweep(table);
      const expiresAt = endOf(options, now);
      return expected === undefined
        ? table.add(key, value, { expiresAt, now })
        : table.replace(key, expected, value, { expiresAt, now });
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const table = await this.#opening?.catch(() => undefined);
    table?.close();
  }

  async #use<T>(
    asked: Parameters<typeof refusal>[0],
    work: (table: Table) => T,
  ): Promise<Outcome<T>> {
    if (this.#isClosed) return closedStore();
    const refused = refusal(asked);
    if (refused !== undefined) return refused;
    try {
      const table = await this.#table();
      return this.#isClosed ? closedStore() : ok(work(table));
    } catch (error) {
      return fail("unavailable", `The store ${this.#file} failed: ${reasonOf(error)}.`);
    }
  }

  /** A file that could not be opened is tried again by the next who needs it. */
  #table(): Promise<Table> {
    const opening = this.#opening ?? prepare(this.#file);
    this.#opening = opening;
    opening.catch(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    return opening;
  }

  /** Removes what is over, now and then; nobody could read it any more. */
  #sweep(table: Table): number {
    const now = this.#now();
    if (Math.abs(now - this.#sweptAt) < SWEEP_MS) return now;
    this.#sweptAt = now;
    table.sweep(now);
    return now;
  }
}

async function prepare(file: string): Promise<Table> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // SQLite gives its other files the permissions of this one.
  await (await open(file, "a", 0o600)).close();
  return openTable(file);
}

/** The code alone: a message of the database may quote what it was given. */
function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "SQLITE_NOTADB" || code === "SQLITE_CORRUPT") return `it is no database (${code})`;
  return typeof code === "string" && code !== "" ? code : "it cannot be opened";
}
