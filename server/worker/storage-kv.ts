import { fail, ok, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import { Permits } from "../shared/permits.ts";
import {
  closedStore,
  endOf,
  isOver,
  refusal,
  type KeepOptions,
  type Storage,
} from "../shared/storage.ts";
import { byCodePoints, kindOf } from "../shared/text.ts";
import { isRoot, keyAbove, keyOf, nameOf, nameStart, stored, valueIn } from "./kv-names.ts";

/** What is stored beside a value. */
interface Metadata {
  /** When the value ends, in milliseconds since the epoch. */
  readonly end?: number;
}

/** A page of names. */
interface NamePage {
  readonly keys: readonly { readonly name: string; readonly metadata?: unknown }[];
  readonly list_complete: boolean;
  readonly cursor?: string;
}

/** A binding to a namespace of Workers KV: structurally a `KVNamespace`. */
export interface KvNamespace {
  getWithMetadata(
    name: string,
    type: "text",
  ): Promise<{ readonly value: string | null; readonly metadata: unknown }>;
  put(
    name: string,
    value: string,
    options: { readonly metadata: Metadata; readonly expirationTtl?: number },
  ): Promise<void>;
  delete(name: string): Promise<void>;
  list(options: { readonly prefix: string; readonly cursor?: string }): Promise<NamePage>;
}

/** Where a store lies. */
export interface KvStorageOptions {
  readonly namespace: KvNamespace;
  /** What all names begin with, at most 40 bytes; `connecta/` when omitted. */
  readonly prefix?: string;
  /** Milliseconds since the epoch; the system's clock when omitted. */
  readonly now?: () => number;
}

/** The least that the platform keeps a value, in seconds. */
const MIN_TTL_S = 60;
/** What is kept for longer is kept without an end of the platform's. */
const MAX_TTL_S = 10 * 365 * 24 * 3_600;

/** So long the platform keeps work alive behind an answer: until then a slow write is not gone. */
const LONGEST_WRITE_MS = 30_000;

/**
 * A store in a namespace of Workers KV. Writes come to other places within a minute, one key takes
 * one write a second, and comparing and setting holds within one isolate alone: good for what is
 * written seldom and read often, such as tool lists. A listing reads every name of its prefix.
 * @throws TypeError for an option that cannot be used
 */
export function kvStorage(options: KvStorageOptions): Storage {
  if (typeof options?.namespace?.getWithMetadata !== "function") {
    throw new TypeError("kvStorage() needs a binding: kvStorage({ namespace: env.KV }).");
  }
  const { prefix = "connecta/" } = options;
  if (typeof prefix === "string" && isRoot(prefix)) return new KvStorage({ ...options, prefix });
  throw new TypeError("kvStorage(): prefix is a text of 1 to 40 bytes.");
}

class KvStorage implements Storage {
  readonly #namespace: KvNamespace;
  readonly #root: string;
  readonly #now: () => number;
  readonly #writing = new Map<string, Permits>();
  #isClosed = false;

  constructor({ namespace, prefix, now = Date.now }: KvStorageOptions & { prefix: string }) {
    this.#namespace = namespace;
    this.#root = prefix;
    this.#now = now;
  }

  get(key: string): Promise<Outcome<string | undefined>> {
    return this.#use({ key }, () => this.#read(key));
  }

  set(key: string, value: string, options: KeepOptions = {}): Promise<Outcome<void>> {
    return this.#use({ ...options, key, values: [value] }, () =>
      this.#alone(key, () => this.#write(key, value, options)),
    );
  }

  delete(key: string): Promise<Outcome<void>> {
    return this.#use({ key }, () =>
      this.#alone(key, async () => this.#namespace.delete(await nameOf(this.#root, key))),
    );
  }

  list(
    prefix: string,
    options: Parameters<Storage["list"]>[1] = {},
  ): Promise<Outcome<readonly string[]>> {
    const { after = "", limit = LIMITS.storageListKeys.value } = options;
    return this.#use({ ...options, prefix }, async () => {
      const keys = await this.#keys(prefix);
      const wanted = keys.filter((key) => byCodePoints(key, after) > 0);
      return wanted.toSorted(byCodePoints).slice(0, limit);
    });
  }

  compareAndSet(
    key: string,
    expected: string | undefined,
    value: string,
    options: KeepOptions = {},
  ): Promise<Outcome<boolean>> {
    return this.#use({ ...options, key, values: [expected, value] }, () =>
      this.#alone(key, async () => {
        if ((await this.#read(key)) !== expected) return false;
        await this.#write(key, value, options);
        return true;
      }),
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  async #use<T>(asked: Parameters<typeof refusal>[0], work: () => Promise<T>): Promise<Outcome<T>> {
    const refused = this.#isClosed ? closedStore() : refusal(asked);
    if (refused !== undefined) return refused;
    try {
      return ok(await work());
    } catch (error) {
      return fail("unavailable", `The KV namespace failed (${kindOf(error)}).`);
    }
  }

  /** One after the other writes a key, as far as one isolate can see to it. */
  async #alone<T>(key: string, work: () => Promise<T>): Promise<T> {
    const { value: waitMs } = LIMITS.storageTimeoutMs;
    const queued = LIMITS.storageListKeys.value;
    const bounds = { active: 1, queued, waitMs, heldMs: LONGEST_WRITE_MS };
    const permits = this.#writing.get(key) ?? new Permits(bounds);
    this.#writing.set(key, permits);
    const admission = await permits.acquire();
    if (!admission.ok) throw new Error(admission.reason);
    try {
      return await work();
    } finally {
      admission.release();
      if (permits.active === 0) this.#writing.delete(key);
    }
  }

  async #read(key: string): Promise<string | undefined> {
    const { value, metadata } = await this.#namespace.getWithMetadata(
      await nameOf(this.#root, key),
      "text",
    );
    if (value === null || isOver(endIn(metadata), this.#now())) return undefined;
    return valueIn(key, value);
  }

  async #write(key: string, value: string, options: KeepOptions): Promise<void> {
    const end = endOf(options, this.#now());
    const seconds = Math.max(MIN_TTL_S, Math.ceil((options.ttlMs ?? 0) / 1_000));
    const hasEnd = end !== undefined && seconds <= MAX_TTL_S;
    await this.#namespace.put(await nameOf(this.#root, key), stored(key, value), {
      metadata: end === undefined ? {} : { end },
      ...(hasEnd && { expirationTtl: seconds }),
    });
  }

  async #longKey(name: string): Promise<string | undefined> {
    const { value } = await this.#namespace.getWithMetadata(name, "text");
    return value === null ? undefined : keyAbove(value);
  }

  async #keys(prefix: string): Promise<string[]> {
    const keys: string[] = [];
    const now = this.#now();
    for (let cursor: string | undefined = ""; cursor !== undefined;) {
      const page: NamePage = await this.#namespace.list({
        prefix: nameStart(this.#root, prefix),
        ...(cursor !== "" && { cursor }),
      });
      for (const { name, metadata } of page.keys) {
        if (isOver(endIn(metadata), now)) continue;
        const key = keyOf(this.#root, name) ?? (await this.#longKey(name));
        if (key?.startsWith(prefix)) keys.push(key);
      }
      cursor = page.list_complete ? undefined : page.cursor;
    }
    return keys;
  }
}

function endIn(metadata: unknown): number | undefined {
  if (typeof metadata !== "object" || metadata === null || !("end" in metadata)) return undefined;
  return typeof metadata.end === "number" ? metadata.end : undefined;
}
