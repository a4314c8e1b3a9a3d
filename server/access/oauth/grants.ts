import type { OAuthNeed } from "../../shared/credentials.ts";
import { fail, ok, type Failed, type Outcome } from "../../shared/failure.ts";
import { Flight } from "../../shared/joining.ts";
import { LIMITS } from "../../shared/limits.ts";
import type { Scope } from "../../shared/scope.ts";
import type { Storage } from "../../shared/storage.ts";
import { unlessAborted } from "../../shared/waiting.ts";
import type { Opened, Place, Vault } from "../vault.ts";
import type { Clients } from "./client.ts";
import { Lease } from "./lease.ts";
import { GRANT, readRecord, type Grant } from "./records.ts";
import { asForClient, refreshed, type Asked } from "./token-requests.ts";
import type { Web } from "./web.ts";

/** What a {@link Grants} works with. */
export interface GrantsOptions {
  readonly connector: string;
  readonly need: OAuthNeed;
  readonly vault: Vault;
  readonly storage: Storage;
  readonly clients: Clients;
  readonly web: Web;
}

/** A grant with the seal that it was read from. */
export interface HeldGrant {
  readonly grant: Grant;
  readonly opened: Opened;
}

type Alive = Grant & { readonly tokens: NonNullable<Grant["tokens"]> };

/** Longer than its holder's one question may take. */
const LEASE_MS = LIMITS.oauthTimeoutMs.value + 5_000;
const POLL_MS = 50;
const WRITE_TRIES = 3;

/**
 * What was granted to one connector. A refresh token is used once: by one caller of an instance, by
 * one instance of a deployment, and what it gave replaces it in one step.
 */
export class Grants {
  readonly #options: GrantsOptions;
  readonly #lease: Lease;
  readonly #flight = new Flight<Outcome<Alive>>(LEASE_MS + LIMITS.oauthTimeoutMs.value);

  constructor(options: GrantsOptions) {
    this.#options = options;
    this.#lease = new Lease(options.storage, `oauth/renewing/${options.connector}`, LEASE_MS);
  }

  /** The grant as it stands, whatever has become of it. */
  async read(): Promise<Outcome<HeldGrant | undefined>> {
    const read = await this.#options.vault.read(this.#place());
    if (!read.ok) return read;
    const opened = read.value;
    const grant = opened && readRecord(GRANT, opened.text);
    return ok(opened === undefined || grant === undefined ? undefined : { grant, opened });
  }

  /** The grant with a token that is not due; renews it first where it is. */
  async current(scope: Scope): Promise<Outcome<Alive>> {
    const read = await this.read();
    if (!read.ok) return read;
    const grant = read.value?.grant;
    if (grant === undefined || !isAlive(grant)) {
      return this.#isClientsOwn() ? this.renew(undefined, scope) : this.#needed(grant);
    }
    const { access, dueAt, expiresAt } = grant.tokens;
    if (dueAt === undefined || scope.now() < dueAt) return ok(grant);
    const renewed = await this.renew(access, scope);
    const stillGood = expiresAt !== undefined && scope.now() < expiresAt;
    return !renewed.ok && renewed.failure.code === "unavailable" && stillGood ? ok(grant) : renewed;
  }

  /**
   * Gets another token than one that is due or was refused; callers share the work.
   * @param stale the access token that is of no use any more
   */
  renew(stale: string | undefined, scope: Scope): Promise<Outcome<Alive>> {
    const flight = this.#flight.join(() => {
      const work = this.#renewOnce(stale, scope);
      scope.defer(work);
      return work;
    });
    const { connector } = this.#options;
    return unlessAborted(flight, scope.signal, `The authorization of ${connector}`);
  }

  /** Puts a new grant in the place of whatever was there. */
  write(grant: Grant): Promise<Outcome<void>> {
    return this.#options.vault.write(this.#place(), JSON.stringify(grant));
  }

  /** Forgets the grant and which authorization server gave it. */
  forget(): Promise<Outcome<void>> {
    return this.#options.vault.remove(this.#place());
  }

  async #renewOnce(stale: string | undefined, scope: Scope): Promise<Outcome<Alive>> {
    const { connector } = this.#options;
    for (const until = performance.now() + LEASE_MS; performance.now() < until;) {
      const done = await this.#renewedByOthers(stale);
      if (done !== undefined) return done;
      const lease = await this.#lease.take();
      if (!lease.ok) return lease;
      if (lease.value !== undefined) {
        try {
          // Between the look and the lease somebody may have finished.
          return (await this.#renewedByOthers(stale)) ?? (await this.#ask(scope));
        } finally {
          await lease.value();
        }
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return fail("unavailable", `The authorization of ${connector} is being renewed elsewhere.`, {
      connector,
    });
  }

  /** What became of a stale token in the meantime; nothing while it is the one that we have. */
  async #renewedByOthers(stale: string | undefined): Promise<Outcome<Alive> | undefined> {
    const read = await this.read();
    if (!read.ok) return read;
    const grant = read.value?.grant;
    if (grant?.tokens?.access === stale) return undefined;
    if (grant !== undefined && isAlive(grant)) return ok(grant);
    return this.#isClientsOwn() ? undefined : this.#needed(grant);
  }

  /** Asks the authorization server, which is the one that gave the grant and no other. */
  async #ask(scope: Scope): Promise<Outcome<Alive>> {
    const read = await this.read();
    if (!read.ok) return read;
    const held = read.value;
    const asked = this.#isClientsOwn()
      ? await asForClient(this.#options, held?.grant, scope.now())
      : await this.#refresh(held?.grant, scope.now());
    if (asked.ok) return this.#save(held, asked.grant);
    if (!asked.isOver || held === undefined) return { ok: false, failure: asked.failure };
    const { tokens: _, ...ended } = held.grant;
    await this.#options.vault.replace(this.#place(), held.opened, JSON.stringify(ended));
    return this.#needed(ended);
  }

  async #refresh(grant: Grant | undefined, now: number): Promise<Asked> {
    if (grant?.tokens?.refresh !== undefined) return refreshed(this.#options, grant, now);
    const { failure } = this.#needed(grant);
    return { ok: false, failure, isOver: true };
  }

  /** A rotated token that is not written down is lost: a store that stumbles is asked again. */
  async #save(held: HeldGrant | undefined, grant: Alive): Promise<Outcome<Alive>> {
    const { vault } = this.#options;
    for (let tries = 1; ; tries++) {
      const written = await vault.replace(this.#place(), held?.opened, JSON.stringify(grant));
      if (written.ok) return written.value ? ok(grant) : this.#whatIsThere();
      if (tries === WRITE_TRIES) return written;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  /** Meanwhile a person authorized anew, or took the authorization away. */
  async #whatIsThere(): Promise<Outcome<Alive>> {
    const read = await this.read();
    if (!read.ok) return read;
    const grant = read.value?.grant;
    return grant !== undefined && isAlive(grant) ? ok(grant) : this.#needed(grant);
  }

  #needed(grant: Grant | undefined): Failed {
    const { connector } = this.#options;
    const text =
      grant === undefined
        ? `${connector} needs a person's authorization.`
        : `The authorization of ${connector} has ended: a person must authorize it again.`;
    return fail("auth_required", text, { connector });
  }

  #isClientsOwn(): boolean {
    return this.#options.need.grant === "client_credentials";
  }

  #place(): Place {
    return { purpose: "grant", connector: this.#options.connector, field: "oauth" };
  }
}

/** Whether a grant still has what calls authenticate with. */
export function isAlive(grant: Grant): grant is Alive {
  return grant.tokens !== undefined;
}
