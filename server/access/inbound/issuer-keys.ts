import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from "jose";
import { fail, ok, type Outcome } from "../../shared/failure.ts";
import { endedWithin, Flight } from "../../shared/joining.ts";
import { LIMITS } from "../../shared/limits.ts";
import { Notice } from "../../shared/notice.ts";
import { discoverKeys, readKeys } from "./issuer-documents.ts";
import type { ReadyIssuer } from "./oauth-options.ts";
import type { Report } from "./verdict.ts";

/** Thrown through the verifier when a key could not be looked for; nothing is known of the token. */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

/** Longer than one question to an issuer may take, in milliseconds. */
const FIND_MS = LIMITS.issuerTimeoutMs.value + 1_000;

/** Where one issuer's keys are. */
interface Place {
  readonly url: URL;
  readonly getKey: JWTVerifyGetKey;
  readonly foundAt: number;
}

/**
 * The public keys of one issuer: found, kept for a while, and read anew for a key that is not among
 * them. Keys that can no longer be read are not used beyond their time.
 */
export class IssuerKeys {
  readonly #options: ReadyIssuer;
  readonly #report: Report;
  #place: Place | undefined;
  readonly #finding = new Flight<Outcome<Place>>(FIND_MS);
  #failedAt = Number.NEGATIVE_INFINITY;
  #isReported = false;

  constructor(options: ReadyIssuer, report: Report) {
    this.#options = options;
    this.#report = report;
  }

  /** Finds the key that a token names; throws {@link KeysUnavailable}, or what the verifier expects. */
  readonly getKey: JWTVerifyGetKey = async (header, token) => {
    const place = await this.#placed();
    if (!place.ok) throw new KeysUnavailable(place.failure.message);
    try {
      const key = await place.value.getKey(header, token);
      this.#isReported = false;
      return key;
    } catch (error) {
      if (isAboutTheToken(error)) throw error;
      throw new KeysUnavailable("The issuer's keys cannot be read now.");
    }
  };

  async #placed(): Promise<Outcome<Place>> {
    const place = this.#place;
    if (place && Date.now() - place.foundAt < LIMITS.issuerFreshMs.value) return ok(place);
    const found = await this.#found();
    // What was found earlier is an address only: the keys behind it must answer for themselves.
    return found.ok || !place ? found : ok(place);
  }

  /** Nobody waits for one who is gone longer than that one could have taken. */
  async #found(): Promise<Outcome<Place>> {
    const finding = this.#finding.join(() => this.#find());
    if (await endedWithin(finding, FIND_MS)) return finding;
    return fail("unavailable", `${this.#options.issuer} was not found in time.`);
  }

  async #find(): Promise<Outcome<Place>> {
    const { issuer, jwksUri } = this.#options;
    if (this.#isPausing()) return fail("unavailable", `${issuer} cannot be asked now.`);
    const found = jwksUri ? ok(jwksUri) : await discoverKeys(issuer);
    if (!found.ok) {
      this.#failed(found.failure.message);
      return found;
    }
    const old = this.#place;
    const getKey = old?.url.href === found.value.href ? old.getKey : this.#keysAt(found.value);
    this.#place = { url: found.value, getKey, foundAt: Date.now() };
    return ok(this.#place);
  }

  #keysAt(url: URL): JWTVerifyGetKey {
    return createRemoteJWKSet(url, {
      timeoutDuration: LIMITS.issuerTimeoutMs.value,
      cooldownDuration: LIMITS.issuerRetryMs.value,
      cacheMaxAge: LIMITS.issuerKeysFreshMs.value,
      [customFetch]: async (address, { signal }) => {
        if (this.#isPausing()) throw new KeysUnavailable();
        const read = await readKeys(address, signal);
        if (read.ok) return new Response(read.value);
        this.#failed(`${address}: ${read.failure.message}`);
        throw new KeysUnavailable();
      },
    });
  }

  #isPausing(): boolean {
    return Math.abs(Date.now() - this.#failedAt) < LIMITS.issuerRetryMs.value;
  }

  /** Told once until keys were found again. */
  #failed(reason: string): void {
    this.#failedAt = Date.now();
    if (this.#isReported) return;
    this.#isReported = true;
    const { issuer } = this.#options;
    this.#report(new Notice(`auth.oauth ${issuer} lets nobody in: ${reason}`), "inbound auth");
  }
}

function isAboutTheToken(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  );
}
