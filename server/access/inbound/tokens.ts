import { z } from "zod";
import { digestOf, fromHex, hashOf } from "../../shared/digest.ts";
import { fail, ok, type Outcome } from "../../shared/failure.ts";
import { LIMITS } from "../../shared/limits.ts";
import { Notice } from "../../shared/notice.ts";
import type { Storage } from "../../shared/storage.ts";
import { utf8Length } from "../../shared/text.ts";
import { isSameDigest, randomHex } from "./secret.ts";
import { UNKNOWN, type Report, type Verdict, type WayIn } from "./verdict.ts";

/** A token as its operator sees it: everything but the token. Times are milliseconds since the epoch. */
export interface IssuedToken {
  /** Names the token in lists and as the caller `token:<id>`; no secret. */
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly expiresAt?: number;
  /** The start of the hour in which it was last used. */
  readonly lastUsedAt?: number;
}

/** What a token is created with. */
export interface TokenOptions {
  /** What it is for, in 1 to 128 bytes. */
  readonly name: string;
  /** Milliseconds until it ends; it stays when omitted. */
  readonly expiresInMs?: number;
}

const ID_BYTES = 8;
const SECRET_BYTES = 32;
const TOKEN = /^connecta_([0-9a-f]{16})_[0-9a-f]{64}$/;
const PREFIX = "access/token/";
/** So long a token that has expired is still listed. */
const LISTED_MS = 30 * 24 * 3_600_000;
/** As long as a real one, and the hash of nothing that anybody knows. */
const NO_HASH = new Uint8Array(32);

const RECORD = z.strictObject({
  name: z.string(),
  /** SHA-256 of the whole token: it is random enough that nothing slower would add to it. */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: z.number(),
  expiresAt: z.number().optional(),
  lastUsedAt: z.number().optional(),
});

type TokenRecord = z.infer<typeof RECORD>;

/**
 * Tokens that an operator hands out. The store holds a hash of each; a lookup asks the store every
 * time, so that a token revoked by any process is refused at the very next request.
 */
export class Tokens implements WayIn {
  readonly #storage: Storage;
  readonly #now: () => number;
  readonly #report: Report | undefined;
  #isReported = false;

  /** @param report told of a store that does not answer, once until it did again */
  constructor(storage: Storage, now: () => number = Date.now, report?: Report) {
    this.#storage = storage;
    this.#now = now;
    this.#report = report;
  }

  /**
   * Makes a token and hands it over for the only time.
   * @returns `invalid_args` for a name or a time that cannot be used, else the store's failures
   */
  async create({
    name,
    expiresInMs,
  }: TokenOptions): Promise<Outcome<IssuedToken & { readonly token: string }>> {
    const max = LIMITS.nameBytes.value;
    if (!/^[^\p{C}]+$/u.test(name) || name.trim() === "" || utf8Length(name) > max) {
      return fail("invalid_args", `A token's name has 1 to ${max} bytes that can be printed.`);
    }
    const createdAt = this.#now();
    const expiresAt = expiresInMs === undefined ? undefined : createdAt + expiresInMs;
    if (expiresAt !== undefined && !(Number.isSafeInteger(expiresAt) && expiresAt > createdAt)) {
      return fail("invalid_args", "A token ends a whole number of milliseconds from now.");
    }
    const id = randomHex(ID_BYTES);
    const token = `connecta_${id}_${randomHex(SECRET_BYTES)}`;
    const hash = await hashOf(token);
    const record = { name, hash, createdAt, ...(expiresAt !== undefined && { expiresAt }) };
    const kept = await this.#storage.set(PREFIX + id, JSON.stringify(record), this.#kept(record));
    return kept.ok ? ok({ ...shown(id, record), token }) : kept;
  }

  /** Every token that is there, those that expired within a month among them, oldest first. */
  async list(): Promise<Outcome<readonly IssuedToken[]>> {
    const found: IssuedToken[] = [];
    let after: string | undefined;
    do {
      const page = await this.#storage.list(PREFIX, after === undefined ? {} : { after });
      if (!page.ok) return page;
      for (const key of page.value) {
        const value = await this.#storage.get(key);
        if (!value.ok) return value;
        const record = parsed(value.value);
        if (record) found.push(shown(key.slice(PREFIX.length), record));
      }
      after = page.value.length < LIMITS.storageListKeys.value ? undefined : page.value.at(-1);
    } while (after !== undefined);
    return ok(found.toSorted((one, other) => one.createdAt - other.createdAt));
  }

  /** Ends a token; `not_found` when there is none of this id. */
  async revoke(id: string): Promise<Outcome<void>> {
    const found = /^[0-9a-f]{16}$/.test(id) ? await this.#storage.get(PREFIX + id) : ok(undefined);
    if (!found.ok) return found;
    if (found.value === undefined) return fail("not_found", "No token has this id.");
    return this.#storage.delete(PREFIX + id);
  }

  async check(credential: string): Promise<Verdict> {
    const id = TOKEN.exec(credential)?.[1];
    if (id === undefined) return UNKNOWN;
    const [hash, stored] = await Promise.all([digestOf(credential), this.#read(id)]);
    if (stored === undefined) {
      return { kind: "unavailable", message: "The store of tokens does not answer now." };
    }
    const record = parsed(stored.text);
    // A token that nobody issued costs the same as one with a wrong secret.
    const isSame = isSameDigest(hash, record ? fromHex(record.hash) : NO_HASH);
    if (!isSame || !record) return { kind: "invalid", message: "The token is not valid here." };
    if (record.expiresAt !== undefined && record.expiresAt <= this.#now()) {
      return { kind: "invalid", message: "The token has expired." };
    }
    await this.#markUsed(id, record, stored.text);
    return { kind: "admitted", principal: `token:${id}` };
  }

  async #read(id: string): Promise<{ readonly text: string | undefined } | undefined> {
    const found = await inTime(this.#storage.get(PREFIX + id));
    if (found?.ok) {
      this.#isReported = false;
      return { text: found.value };
    }
    this.#failed(found?.failure.message ?? "the store took too long.");
    return undefined;
  }

  #failed(reason: string): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#report?.(new Notice(`auth.tokens lets nobody in: ${reason}`), "inbound auth");
  }

  /** One write an hour at most; what was revoked meanwhile is not written again. */
  async #markUsed(id: string, record: TokenRecord, text: string | undefined): Promise<void> {
    const now = this.#now();
    const hour = now - (now % LIMITS.tokenUseMs.value);
    if (record.lastUsedAt !== undefined && record.lastUsedAt >= hour) return;
    const value = JSON.stringify({ ...record, lastUsedAt: hour });
    // The time of use is worth no refusal.
    await inTime(this.#storage.compareAndSet(PREFIX + id, text, value, this.#kept(record))).catch(
      () => undefined,
    );
  }

  #kept({ expiresAt }: { readonly expiresAt?: number | undefined }): { readonly ttlMs?: number } {
    return expiresAt === undefined ? {} : { ttlMs: expiresAt - this.#now() + LISTED_MS };
  }
}

function shown(id: string, record: TokenRecord): IssuedToken {
  const { name, createdAt, expiresAt, lastUsedAt } = record;
  return {
    id,
    name,
    createdAt,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(lastUsedAt !== undefined && { lastUsedAt }),
  };
}

function parsed(text: string | undefined): TokenRecord | undefined {
  if (text === undefined) return undefined;
  try {
    return RECORD.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** What a store answers, or `undefined` when it takes too long. */
async function inTime<T>(work: Promise<Outcome<T>>): Promise<Outcome<T> | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, LIMITS.storageTimeoutMs.value, undefined);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
