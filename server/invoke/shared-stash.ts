import { fail, ok, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import { Notice } from "../shared/notice.ts";
import { withDeadline, type Scope } from "../shared/scope.ts";
import type { Storage } from "../shared/storage.ts";
import { ResultSeal } from "./result-seal.ts";
import {
  announced,
  pageOf,
  Stash,
  tooLarge,
  unknownResult,
  type Page,
  type Results,
  type Truncated,
} from "./stash.ts";
import { StashRoom, type Held } from "./stash-room.ts";
import { toBytes } from "./text-bytes.ts";

interface Entry extends Held {
  readonly name: string;
}

const PREFIX = "result/";
/** Bytes of a result in one value of the store; a page takes one or two of them. */
const PART_BYTES = 256 * 1024;
/** Before each part: how long the whole result is. */
const HEAD_BYTES = 4;
const MAX_CHARACTER_BYTES = 4;

/**
 * Results in a store that several instances share, sealed, for the caller who made the call. What
 * one instance keeps there is bounded like what it would keep in memory. While the store fails,
 * results are kept in memory, where this instance alone finds them.
 */
export class SharedStash implements Results {
  readonly #storage: Storage;
  readonly #own = new Stash();
  readonly #room = new StashRoom<Entry>((entry) => this.#dropped.push(entry));
  readonly #dropped: Entry[] = [];
  #isReported = false;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  async keep(address: string, text: string, scope: Scope): Promise<Outcome<Truncated>> {
    const bytes = toBytes(text);
    const refused = tooLarge(address, bytes);
    if (refused) return refused;
    const id = crypto.randomUUID();
    const written = await this.#ask(scope, () => this.#write(id, bytes, scope));
    if (written.ok) {
      this.#isReported = false;
      return ok(announced(id, bytes));
    }
    this.#report(written.failure.message, scope);
    return this.#own.keep(address, text, scope);
  }

  async page(id: string, offset: number, maxBytes: number, scope: Scope): Promise<Outcome<Page>> {
    const own = this.#own.page(id, offset, maxBytes, scope);
    if (own.ok || own.failure.code !== "not_found") return own;
    const page = await this.#ask(scope, () => this.#page(id, offset, maxBytes, scope.principal));
    if (page.ok || !["unavailable", "timeout"].includes(page.failure.code)) return page;
    this.#report(page.failure.message, scope);
    return fail("unavailable", "The store of results does not answer now; ask again later.");
  }

  async #page(
    id: string,
    offset: number,
    maxBytes: number,
    principal: string,
  ): Promise<Outcome<Page>> {
    const seal = await ResultSeal.of(id, principal);
    const start = Math.floor(offset / PART_BYTES);
    const first = await this.#part(seal, start);
    if (!first.ok) return start > 0 ? this.#beyond(seal, id, offset, maxBytes) : first;
    const { totalBytes } = first.value;
    const until = Math.min(totalBytes, offset + maxBytes + MAX_CHARACTER_BYTES);
    const pieces = [first.value.content.subarray(offset - start * PART_BYTES)];
    for (let number = start + 1; number * PART_BYTES < until; number++) {
      const part = await this.#part(seal, number);
      if (!part.ok) return part;
      pieces.push(part.value.content);
    }
    return pageOf(
      { id, offset, maxBytes, totalBytes },
      joined(pieces, Math.max(0, until - offset)),
    );
  }

  /** Tells a result that ends before an offset from one that is not there. */
  async #beyond(
    seal: ResultSeal,
    id: string,
    offset: number,
    maxBytes: number,
  ): Promise<Outcome<Page>> {
    const first = await this.#part(seal, 0);
    if (!first.ok) return first;
    const { totalBytes } = first.value;
    if (offset < totalBytes) return unknownResult();
    return pageOf({ id, offset, maxBytes, totalBytes }, new Uint8Array());
  }

  async #part(seal: ResultSeal, number: number) {
    const stored = await this.#storage.get(keyOf(seal.name, number));
    if (!stored.ok) return stored;
    const bytes = stored.value === undefined ? undefined : await seal.open(number, stored.value);
    if (bytes === undefined) return unknownResult();
    const totalBytes = new DataView(bytes.buffer).getUint32(0);
    return ok({ totalBytes, content: bytes.subarray(HEAD_BYTES) });
  }

  async #write(id: string, bytes: Uint8Array, scope: Scope): Promise<Outcome<void>> {
    const { principal } = scope;
    const seal = await ResultSeal.of(id, principal);
    // Its place is taken before it is there: what comes meanwhile must find the bounds right.
    this.#room.put(id, { name: seal.name, bytes: bytes.length, principal }, scope.now());
    const dropped = this.#dropped.splice(0);
    if (dropped.length > 0) scope.defer(this.#remove(dropped));
    for (let number = 0; number < partsOf(bytes.length); number++) {
      const content = bytes.subarray(number * PART_BYTES, (number + 1) * PART_BYTES);
      const part = new Uint8Array(HEAD_BYTES + content.length);
      new DataView(part.buffer).setUint32(0, bytes.length);
      part.set(content, HEAD_BYTES);
      const value = await seal.seal(number, part);
      const ttlMs = LIMITS.stashTtlMs.value;
      const written = await this.#storage.set(keyOf(seal.name, number), value, { ttlMs });
      if (!written.ok) return written;
    }
    return ok(undefined);
  }

  #report(message: string, scope: Scope): void {
    if (this.#isReported) return;
    this.#isReported = true;
    scope.report(new Notice(`Large results are not shared: ${message}`), "the store of results");
  }

  /** Whatever a store does is an outcome, and soon. */
  #ask<T>(scope: Scope, work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const timeoutMs = LIMITS.storageTimeoutMs.value;
    return withDeadline(scope, timeoutMs, "The store of results", async () => {
      try {
        return await work();
      } catch {
        return fail("unavailable", "The store failed without saying why.");
      }
    });
  }

  async #remove(entries: readonly Entry[]): Promise<void> {
    const keys = entries.flatMap(({ name, bytes }) =>
      Array.from({ length: partsOf(bytes) }, (_, number) => keyOf(name, number)),
    );
    // What stays after a failure ends with its time.
    await Promise.allSettled(keys.map(async (key) => this.#storage.delete(key)));
  }
}

/** The first bytes of what pieces hold one after the other. */
function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    const taken = piece.subarray(0, length - at);
    all.set(taken, at);
    at += taken.length;
  }
  return all;
}

function partsOf(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / PART_BYTES));
}

function keyOf(name: string, part: number): string {
  return `${PREFIX}${name}/${part}`;
}
