import { mkdir, open, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import {
  fromLine,
  idMaker,
  isAskedFor,
  pageSize,
  toLine,
  type ActivityEvent,
  type ActivityPage,
  type ActivityQuery,
  type ActivityStore,
  type Written,
} from "../shared/activity.ts";
import { Batches } from "../shared/activity-batches.ts";
import { fail, ok, type Outcome } from "../shared/failure.ts";
import { linesBackward } from "./lines-backward.ts";

/** Where recorded calls are written. */
export interface FileActivityOptions {
  /** Made, readable by its owner alone, when it is not there. */
  readonly file: string;
  /** Bytes after which a file is set aside as `FILE.1` and another is begun; 10 MiB when omitted. */
  readonly maxBytes?: number;
  /** Files kept in all; 5 when omitted. */
  readonly files?: number;
}

const MAX_BYTES = 10 * 1024 * 1024;
const MIN_BYTES = 4_096;
const FILES = 5;
const MAX_FILES = 100;
const FLUSH_MS = 50;
const LINE_END = 10;
/** Leads to everything: no event has it. */
const BEGINNING = "0";

/**
 * Recorded calls in a file, a line of JSON each. One process writes it, any may read. A process
 * that is killed loses what it recorded in the last 50 ms, and may leave half a line, which readers
 * pass over.
 * @throws TypeError for an option that cannot be used
 */
export function fileActivity(options: FileActivityOptions): ActivityStore {
  const { file, maxBytes = MAX_BYTES, files = FILES } = options ?? {};
  if (typeof file !== "string" || file === "") {
    throw new TypeError("fileActivity() needs a file: fileActivity({ file: 'activity.jsonl' }).");
  }
  if (!Number.isSafeInteger(maxBytes) || maxBytes < MIN_BYTES) {
    throw new TypeError(`fileActivity(): maxBytes is a whole number from ${MIN_BYTES}.`);
  }
  if (!Number.isInteger(files) || files < 1 || files > MAX_FILES) {
    throw new TypeError(`fileActivity(): files is a whole number from 1 to ${MAX_FILES}.`);
  }
  return new FileActivity({ file: resolve(file), maxBytes, files });
}

/** The file that is written to. */
interface Current {
  readonly handle: FileHandle;
  readonly ino: number;
  bytes: number;
}

class FileActivity implements ActivityStore {
  readonly #options: Required<FileActivityOptions>;
  readonly #batches = new Batches((events) => this.#write(events), FLUSH_MS);
  readonly #makeId = idMaker();
  #current: Current | undefined;

  constructor(options: Required<FileActivityOptions>) {
    this.#options = options;
  }

  record(event: ActivityEvent): Promise<Outcome<void>> {
    return this.#batches.add(event);
  }

  async read(query: ActivityQuery = {}): Promise<Outcome<ActivityPage>> {
    const size = pageSize(query);
    if (!size.ok) return size;
    const written = await this.#batches.settled();
    if (!written.ok) return written;
    try {
      const { after } = query;
      const page =
        after === undefined ? this.#newest(query, size.value) : this.#since(query, size.value);
      return ok(await page);
    } catch (error) {
      return fail("unavailable", `${this.#options.file} cannot be read: ${codeOf(error)}.`);
    }
  }

  async close(): Promise<void> {
    await this.#batches.close();
    await this.#release();
  }

  async #newest(query: ActivityQuery, size: number): Promise<ActivityPage> {
    const events: ActivityEvent[] = [];
    let cursor: string | undefined;
    for await (const { id, event } of this.#backward()) {
      cursor ??= id;
      if (isAskedFor(event, query)) events.push(event);
      if (events.length === size) break;
    }
    return { events, cursor: cursor ?? BEGINNING };
  }

  /** Goes back to the cursor; when that is gone with its file, to the oldest event there is. */
  async #since(query: ActivityQuery, size: number): Promise<ActivityPage> {
    let found: Written[] = [];
    let cursor: string | undefined;
    let isWhole = true;
    for await (const written of this.#backward()) {
      if (written.id === query.after) break;
      cursor ??= written.id;
      if (!isAskedFor(written.event, query)) continue;
      found.push(written);
      if (found.length < 2 * size) continue;
      // Only the oldest are asked for: the others come with the next page.
      found = found.slice(-size);
      isWhole = false;
    }
    isWhole &&= found.length <= size;
    const page = found.slice(-size).toReversed();
    const end = isWhole ? cursor : page.at(-1)?.id;
    return { events: page.map(({ event }) => event), cursor: end ?? query.after ?? BEGINNING };
  }

  /** Every event, the newest first, through all files. */
  async *#backward(): AsyncGenerator<Written> {
    const { files } = this.#options;
    const seen = new Set<number>();
    for (let number = 0; number < files; number++) {
      const handle = await open(this.#path(number), "r").catch(absent);
      if (!handle) continue;
      try {
        const { size, ino } = await handle.stat();
        // A file that was set aside meanwhile is met again under its new name.
        if (seen.has(ino)) continue;
        seen.add(ino);
        for await (const line of linesBackward(handle, size)) {
          const written = fromLine(line);
          if (written) yield written;
        }
      } finally {
        await handle.close();
      }
    }
  }

  async #write(events: readonly ActivityEvent[]): Promise<Outcome<void>> {
    try {
      let piece = "";
      for (const event of events) {
        const line = toLine({ id: this.#makeId(event.time), event });
        if (piece.length + line.length > this.#options.maxBytes) {
          await this.#append(piece);
          piece = "";
        }
        piece += line;
      }
      await this.#append(piece);
      return ok(undefined);
    } catch (error) {
      await this.#release();
      return fail("unavailable", `${this.#options.file} cannot be written: ${codeOf(error)}.`);
    }
  }

  async #append(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    let current = await this.#open();
    if (current.bytes > 0 && current.bytes + bytes.length > this.#options.maxBytes) {
      await this.#setAside();
      current = await this.#open();
    }
    await current.handle.appendFile(bytes);
  }

  /** The file as it lies there now: somebody may have moved or removed it. */
  async #open(): Promise<Current> {
    const { file } = this.#options;
    const there = await stat(file).catch(absent);
    if (this.#current && this.#current.ino === there?.ino) {
      this.#current.bytes = there.size;
      return this.#current;
    }
    await this.#release();
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const handle = await open(file, "a+", 0o600);
    const { size, ino } = await handle.stat();
    this.#current = { handle, ino, bytes: size };
    // Half a line of a process that was killed would take the next one with it.
    if (size > 0 && !(await endsWithLine(handle, size))) {
      await handle.appendFile("\n");
    }
    return this.#current;
  }

  async #setAside(): Promise<void> {
    await this.#release();
    const last = this.#options.files - 1;
    await rm(this.#path(last), { force: true });
    for (let number = last - 1; number >= 0; number--) {
      await rename(this.#path(number), this.#path(number + 1)).catch(absent);
    }
  }

  async #release(): Promise<void> {
    const { handle } = this.#current ?? {};
    this.#current = undefined;
    await handle?.close().catch(() => undefined);
  }

  #path(number: number): string {
    return number === 0 ? this.#options.file : `${this.#options.file}.${number}`;
  }
}

async function endsWithLine(handle: FileHandle, size: number): Promise<boolean> {
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] === LINE_END;
}

/** Stands for a file that is not there. */
function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "it failed without saying why";
}
