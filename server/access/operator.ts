import { digestOf, fromHex, toHex } from "../shared/digest.ts";
import { ok, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import type { Storage } from "../shared/storage.ts";
import { toUtf8 } from "../shared/text.ts";
import { isSameDigest, randomHex } from "./inbound/secret.ts";

/** Who may open the operator page. */
export interface OperatorOptions {
  /** What the operator signs in with: at least 16 characters, and no caller's bearer. */
  readonly secret: string;
}

/** A session of somebody who signed in. */
export interface Session {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Stands in every form of this session, and in no page of anybody else. */
  readonly formToken: string;
}

/** How an attempt to sign in ended; `known` is what the browser gives to be known the next time. */
export type Attempt =
  | { readonly kind: "admitted"; readonly cookie: string; readonly known: string }
  | { readonly kind: "wrong" }
  | { readonly kind: "later"; readonly retryAfterMs: number };

const MIN_SECRET_CHARS = 16;
const ID_BYTES = 16;
const SIGNED = /^([0-9a-f]{32})\.(\d{1,16})\.([0-9a-f]{64})$/;
const ENDED = "operator/ended/";
/** What strangers share, under a name that no browser has. */
const STRANGERS = "";

type Purpose = "session" | "form" | "browser";

/**
 * The operator's door: one secret, sessions that it signs, and bounded attempts. Another secret
 * ends every session. What was signed out is remembered in the store where there is one.
 */
export class OperatorDoor {
  readonly #secret: Promise<Uint8Array>;
  readonly #key: Promise<CryptoKey>;
  readonly #storage: Storage | undefined;
  readonly #now: () => number;
  readonly #attempts: Attempts;
  readonly #ended = new Map<string, number>();

  /** @throws TypeError for a secret that is missing or too short */
  constructor(
    { secret }: OperatorOptions,
    storage: Storage | undefined,
    now: () => number = Date.now,
  ) {
    if (typeof secret !== "string" || secret.trim().length < MIN_SECRET_CHARS) {
      throw new TypeError(`operator.secret needs at least ${MIN_SECRET_CHARS} characters.`);
    }
    this.#secret = digestOf(secret);
    this.#key = signingKey(secret);
    this.#storage = storage;
    this.#now = now;
    this.#attempts = new Attempts(now);
  }

  /**
   * Tries a secret.
   * @param known what a browser was given that signed in before: it has attempts of its own, so
   *   that nobody else can use them up
   */
  async signIn(secret: string, known: string | undefined): Promise<Attempt> {
    const browser = known === undefined ? undefined : await this.#opened("browser", known);
    const retryAfterMs = this.#attempts.take(browser?.id ?? STRANGERS);
    if (retryAfterMs > 0) return { kind: "later", retryAfterMs };
    if (!isSameDigest(await digestOf(secret), await this.#secret)) return { kind: "wrong" };
    const [cookie, next] = await Promise.all([
      this.#signed("session", LIMITS.operatorSessionMs.value),
      this.#signed("browser", LIMITS.operatorBrowserMs.value),
    ]);
    return { kind: "admitted", cookie, known: next };
  }

  /**
   * The session of a cookie, unless it is over, was ended, or is not ours.
   * Failures: those of the store, which alone could say that it was ended.
   */
  async session(cookie: string | undefined): Promise<Outcome<Session | undefined>> {
    const opened = cookie === undefined ? undefined : await this.#opened("session", cookie);
    if (opened === undefined || this.#ended.has(opened.id)) return ok(undefined);
    const ended = await this.#storage?.get(ENDED + opened.id);
    if (ended?.ok === false) return ended;
    if (ended?.value !== undefined) return ok(undefined);
    return ok({ ...opened, formToken: await this.#mac("form", opened.id) });
  }

  /** Whether a form is one of this session's. */
  async isForm({ formToken }: Session, given: string): Promise<boolean> {
    return isSameDigest(await digestOf(formToken), await digestOf(given));
  }

  /** Ends a session before its time, for every copy of its cookie. */
  async signOut({ id, expiresAt }: Session): Promise<void> {
    const now = this.#now();
    for (const [one, end] of this.#ended) if (end <= now) this.#ended.delete(one);
    this.#ended.set(id, expiresAt);
    const ttlMs = Math.max(1, expiresAt - now);
    await this.#storage?.set(ENDED + id, "1", { ttlMs });
  }

  async #signed(purpose: Purpose, ms: number): Promise<string> {
    const text = `${randomHex(ID_BYTES)}.${this.#now() + ms}`;
    return `${text}.${await this.#mac(purpose, text)}`;
  }

  async #opened(purpose: Purpose, signed: string) {
    const [, id = "", until = "", mac = ""] = SIGNED.exec(signed) ?? [];
    const expected = fromHex(await this.#mac(purpose, `${id}.${until}`));
    if (!isSameDigest(fromHex(mac), expected) || Number(until) <= this.#now()) return undefined;
    return { id, expiresAt: Number(until) };
  }

  async #mac(purpose: Purpose, text: string): Promise<string> {
    const bytes = toUtf8(`${purpose} ${text}`);
    return toHex(new Uint8Array(await crypto.subtle.sign("HMAC", await this.#key, bytes)));
  }
}

/** Attempts by browser: some at once, then one in a while. */
class Attempts {
  readonly #now: () => number;
  /** When what was used is there again, by browser. */
  readonly #usedUntil = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Uses one up; otherwise the milliseconds until there is one. */
  take(browser: string): number {
    const [now, each] = [this.#now(), LIMITS.operatorAttemptMs.value];
    for (const [one, until] of this.#usedUntil) if (until <= now) this.#usedUntil.delete(one);
    const until = Math.max(this.#usedUntil.get(browser) ?? 0, now) + each;
    const wait = until - now - each * LIMITS.operatorAttempts.value;
    if (wait > 0) return wait;
    this.#usedUntil.set(browser, until);
    return 0;
  }
}

function signingKey(secret: string): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", toUtf8(secret), { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
}
