import type Database from "libsql";

/** A page of keys. */
interface Page {
  readonly after: string;
  readonly limit: number;
  readonly now: number;
}

/** When a value ends, and what time it is. */
interface Times {
  readonly expiresAt: number | undefined;
  readonly now: number;
}

/** The one table of a store: every operation is one statement, and so happens whole or not at all. */
export interface Table {
  get(key: string, now: number): string | undefined;
  set(key: string, value: string, expiresAt: number | undefined): void;
  /** Writes where nothing is that still counts. */
  add(key: string, value: string, times: Times): boolean;
  replace(key: string, expected: string, value: string, times: Times): boolean;
  delete(key: string): void;
  list(prefix: string, page: Page): readonly string[];
  /** Removes what is over. */
  sweep(now: number): void;
  close(): void;
}

/** How long an operation waits for another process that writes. */
const BUSY_MS = 1_000;
/** No byte of UTF-8 is greater or the same. */
const AFTER_ALL = Buffer.from([0xff]);
const ALIVE = "(expires_at IS NULL OR expires_at > ?)";

// Bytes, because texts end at a zero character here, and so that order is that of code points.
const SCHEMA = `
CREATE TABLE IF NOT EXISTS entries (
  key BLOB PRIMARY KEY NOT NULL, value BLOB NOT NULL, expires_at INTEGER
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entries_by_end ON entries (expires_at) WHERE expires_at IS NOT NULL;`;

/**
 * Opens a database file.
 * @throws the database's error, whose `code` says what is wrong
 */
export async function openTable(file: string): Promise<Table> {
  const { default: Opened } = await import("libsql");
  const database = new Opened(file, { timeout: BUSY_MS });
  try {
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = FULL");
    database.exec(SCHEMA);
    return tableOf(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

function tableOf(database: Database.Database): Table {
  const prepare = (sql: string) => database.prepare<unknown[]>(sql);
  const get = prepare(`SELECT value FROM entries WHERE key = ? AND ${ALIVE}`).raw();
  const upsert = `INSERT INTO entries (key, value, expires_at) VALUES (?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`;
  const set = prepare(upsert);
  const add = prepare(`${upsert} WHERE entries.expires_at <= ?`);
  const replace = prepare(
    `UPDATE entries SET value = ?, expires_at = ? WHERE key = ? AND value = ? AND ${ALIVE}`,
  );
  const remove = prepare("DELETE FROM entries WHERE key = ?");
  const list = prepare(
    `SELECT key FROM entries WHERE key >= ? AND key < ? AND key > ? AND ${ALIVE}
     ORDER BY key LIMIT ?`,
  ).raw();
  const sweep = prepare("DELETE FROM entries WHERE expires_at <= ?");
  const changed = (statement: typeof set, ...values: unknown[]) =>
    statement.run(values).changes === 1;

  return {
    get: (key, now) => textIn(get.get([bytes(key), now])),
    set: (key, value, end) => void set.run([bytes(key), bytes(value), end ?? null]),
    add: (key, value, { expiresAt, now }) =>
      changed(add, bytes(key), bytes(value), expiresAt ?? null, now),
    replace: (key, expected, value, { expiresAt, now }) =>
      changed(replace, bytes(value), expiresAt ?? null, bytes(key), bytes(expected), now),
    delete: (key) => void remove.run([bytes(key)]),
    list(prefix, { after, limit, now }) {
      const end = Buffer.concat([bytes(prefix), AFTER_ALL]);
      const rows = list.all([bytes(prefix), end, bytes(after), now, limit]);
      return rows.map((row) => textIn(row) ?? "");
    },
    sweep: (now) => void sweep.run([now]),
    close: () => database.close(),
  };
}

function bytes(text: string): Buffer {
  return Buffer.from(text, "utf8");
}

/** The only column of a row. */
function textIn(row: unknown): string | undefined {
  const [value]: unknown[] = Array.isArray(row) ? row : [];
  return Buffer.isBuffer(value) ? value.toString("utf8") : undefined;
}
