import { fail, type Failed, type Outcome } from "./failure.ts";
import { LIMITS } from "./limits.ts";
import { utf8Length } from "./text.ts";

/** How a value is kept. */
export interface KeepOptions {
  /** Milliseconds after which the value is gone, by the clock of whoever wrote it. */
  readonly ttlMs?: number;
}

/** Which keys a listing gives. */
export interface ListOptions {
  /** The last key of the page before. */
  readonly after?: string;
  /** Keys of one page; 1,000 when omitted, which is also the most. */
  readonly limit?: number;
}

/**
 * Texts by key that outlive a process. What was answered as written is there for whoever reads
 * next. Keys have 1 to 1,024 bytes in UTF-8, values up to 16 MiB; both are well-formed Unicode.
 * Failures: `invalid_args` for a key, time or limit that cannot be used, `result_too_large` for a
 * value, `unavailable` when the store does not answer or was closed.
 */
export interface Storage {
  /** The value, or `undefined` where there is none or its time has passed. */
  get(key: string): Promise<Outcome<string | undefined>>;
  /** Writes a value and its time anew; without `ttlMs` it stays. */
  set(key: string, value: string, options?: KeepOptions): Promise<Outcome<void>>;
  /** Removes a value; removing what is not there is no failure. */
  delete(key: string): Promise<Outcome<void>>;
  /** Keys that begin with a text, in the order of their code points. */
  list(prefix: string, options?: ListOptions): Promise<Outcome<readonly string[]>>;
  /**
   * Writes only where the value is still the expected one; `undefined` expects none.
   * @returns whether it was written
   */
  compareAndSet(
    key: string,
    expected: string | undefined,
    value: string,
    options?: KeepOptions,
  ): Promise<Outcome<boolean>>;
  /** True where several instances of a deployment use it: what one keeps, all must find. */
  readonly isShared?: boolean;
  /** Ends the store's work; everything that was written stays. */
  close?(): Promise<void>;
}

interface Asked extends KeepOptions, ListOptions {
  readonly key?: string;
  readonly prefix?: string;
  readonly values?: readonly (string | undefined)[];
}

const SURROGATE = /\p{Surrogate}/u;

/** Why a store takes none of this, the same for every driver; `undefined` when it does. */
export function refusal(asked: Asked): Failed | undefined {
  const { key, prefix, values = [], ttlMs, after = "", limit = 1 } = asked;
  if (key === "") return fail("invalid_args", "A key of the store has at least one character.");
  return (
    keyRefusal(key ?? prefix ?? "") ??
    keyRefusal(after) ??
    wholeRefusal("ttlMs", ttlMs ?? 1, Number.MAX_SAFE_INTEGER) ??
    wholeRefusal("limit", limit, LIMITS.storageListKeys.value) ??
    values.map(valueRefusal).find((one) => one !== undefined)
  );
}

/** Whether a time at which a value ends has come. */
export function isOver(expiresAt: number | null | undefined, now: number): boolean {
  return typeof expiresAt === "number" && expiresAt <= now;
}

/** When a value ends that is kept from now on. */
export function endOf({ ttlMs }: KeepOptions, now: number): number | undefined {
  return ttlMs === undefined ? undefined : Math.min(now + ttlMs, Number.MAX_SAFE_INTEGER);
}

/** What a closed store answers. */
export function closedStore(): Failed {
  return fail("unavailable", "The store was closed.");
}

function keyRefusal(key: string): Failed | undefined {
  const maxBytes = LIMITS.storageKeyBytes.value;
  if (SURROGATE.test(key)) return fail("invalid_args", "A key of the store is no valid Unicode.");
  if (key.length <= maxBytes && utf8Length(key) <= maxBytes) return undefined;
  return fail("invalid_args", `A key of the store has at most ${maxBytes} bytes.`, { maxBytes });
}

function valueRefusal(value: string | undefined): Failed | undefined {
  if (value === undefined) return undefined;
  const maxBytes = LIMITS.storageValueBytes.value;
  const bytes = utf8Length(value);
  if (bytes > maxBytes) {
    const message = `A value of the store has at most ${maxBytes} bytes, this one ${bytes}.`;
    return fail("result_too_large", message, { bytes, maxBytes });
  }
  return SURROGATE.test(value)
    ? fail("invalid_args", "A value of the store is no valid Unicode.")
    : undefined;
}

function wholeRefusal(name: string, value: number, most: number): Failed | undefined {
  if (Number.isInteger(value) && value >= 1 && value <= most) return undefined;
  return fail("invalid_args", `${name} is a whole number from 1 to ${most}.`);
}
