import { fail, ok, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import { closedStore, refusal, type KeepOptions, type Storage } from "../shared/storage.ts";
import { LinkError, linkTo, OwnLink, type RedisClient, type RedisLink } from "./redis-link.ts";
import { COMPARE_AND_SET, DELETE, GET, LIST, SET, type Script } from "./redis-scripts.ts";

/** Where a shared store is. */
export interface RedisStorageOptions {
  /** `redis://user:password@host:6379/0`, `rediss:` for TLS; characters of a password escaped. */
  readonly url?: string;
  /** Parts deployments that share a server: letters, digits, `_.:-`; `connecta` when omitted. */
  readonly prefix?: string;
  /** A connected client in the place of `url`; whoever made it closes it. */
  readonly client?: RedisClient;
  /** Milliseconds since the epoch; the server's clock when omitted, the same for all instances. */
  readonly now?: () => number;
}

/**
 * A store that several instances share, in Redis 6 or later or Valkey, connected at its first use.
 * Every operation happens whole or not at all, and is answered within `storageTimeoutMs`.
 * @throws TypeError for options that cannot be used; its message repeats no URL
 */
export function redisStorage(options: RedisStorageOptions): Storage {
  return new RedisStorage(options);
}

class RedisStorage implements Storage {
  readonly isShared = true;
  readonly #link: RedisLink;
  readonly #name: string;
  readonly #start: readonly string[];
  readonly #now: (() => number) | undefined;
  #isClosed = false;

  constructor({ url, prefix = "connecta", client, now }: RedisStorageOptions) {
    if ((url === undefined) === (client === undefined)) {
      const what = client ? "both" : "neither; if url is read from a variable, set that";
      throw new TypeError(`redisStorage() takes either url or client, and has ${what}.`);
    }
    if (!/^[\w.:-]{1,100}$/.test(prefix)) {
      throw new TypeError("redisStorage() takes a prefix of 1 to 100 letters, digits and _ . : -");
    }
    this.#name = url === undefined ? "behind a client" : nameOf(url);
    this.#link = client ? linkTo(client) : new OwnLink(url ?? "");
    // The braces keep all of it on one server where there are several.
    this.#start = ["2", `{${prefix}}:keys`, `{${prefix}}:ends`, `{${prefix}}:value:`];
    this.#now = now;
  }

  get(key: string): Promise<Outcome<string | undefined>> {
    return this.#run({ key }, GET, [key], textOf);
  }

  set(key: string, value: string, options: KeepOptions = {}): Promise<Outcome<void>> {
    const asked = { ...options, key, values: [value] };
    return this.#run(asked, SET, [key, value, timeOf(options)], () => {});
  }

  delete(key: string): Promise<Outcome<void>> {
    return this.#run({ key }, DELETE, [key], () => {});
  }

  list(
    prefix: string,
    options: Parameters<Storage["list"]>[1] = {},
  ): Promise<Outcome<readonly string[]>> {
    const { after = "", limit = LIMITS.storageListKeys.value } = options;
    const isWithin = Buffer.compare(Buffer.from(after), Buffer.from(prefix)) >= 0;
    const args = [isWithin ? `(${after}` : `[${prefix}`, prefix, String(limit)];
    return this.#run({ ...options, prefix }, LIST, args, textsOf);
  }

  compareAndSet(
    key: string,
    expected: string | undefined,
    value: string,
    options: KeepOptions = {},
  ): Promise<Outcome<boolean>> {
    const asked = { ...options, key, values: [expected, value] };
    const args = [key, value, timeOf(options), ...(expected === undefined ? [] : [expected])];
    return this.#run(asked, COMPARE_AND_SET, args, (reply) => Number(reply) === 1);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#link.close();
  }

  async #run<T>(
    asked: Parameters<typeof refusal>[0],
    script: Script,
    args: readonly string[],
    read: (reply: unknown) => T,
  ): Promise<Outcome<T>> {
    if (this.#isClosed) return closedStore();
    const refused = refusal(asked);
    if (refused !== undefined) return refused;
    const now = this.#now === undefined ? "" : String(this.#now());
    try {
      return ok(read(await this.#link.run(script, [...this.#start, now, ...args])));
    } catch (error) {
      return this.#isClosed
        ? closedStore()
        : fail("unavailable", `The store ${this.#name} failed: ${reasonOf(error)}.`);
    }
  }
}

/** A URL without what must not be shown. */
function nameOf(url: string): string {
  const bad = "redisStorage() takes a url like redis://user:password@host:6379/0, characters of ";
  try {
    const { protocol, host, pathname, search, hash } = new URL(url);
    // Where a password holds / ? or # as they are, what is taken for the host begins it.
    const isWhole = /^(?:\/\d*)?$/.test(pathname) && search === "" && hash === "";
    if (/^rediss?:$/.test(protocol) && host !== "" && isWhole) return `${protocol}//${host}`;
  } catch {
    // The error would hold the URL.
  }
  throw new TypeError(`${bad}the password escaped.`);
}

function timeOf({ ttlMs }: KeepOptions): string {
  return ttlMs === undefined ? "" : String(ttlMs);
}

function textOf(reply: unknown): string | undefined {
  if (reply instanceof Uint8Array) return Buffer.from(reply).toString();
  return typeof reply === "string" ? reply : undefined;
}

function textsOf(reply: unknown): readonly string[] {
  return Array.isArray(reply) ? reply.map((one) => textOf(one) ?? "") : [];
}

/** A code alone: a message of the server may quote what it was given. */
function reasonOf(error: unknown): string {
  if (error instanceof LinkError) return error.message;
  if (!(error instanceof Error)) return "it ended the connection";
  if ("code" in error && typeof error.code === "string") return error.code;
  return /^[A-Z]{3,20}(?= )/.exec(error.message)?.[0] ?? "it ended the connection";
}
