import type { Challenge, Credentials, Held, OAuthNeed } from "../../shared/credentials.ts";
import { fail, ok, type Outcome } from "../../shared/failure.ts";
import { LIMITS } from "../../shared/limits.ts";
import { withDeadline, type Scope } from "../../shared/scope.ts";
import type { Storage } from "../../shared/storage.ts";
import { Listeners } from "../listeners.ts";
import type { Vault } from "../vault.ts";
import { Clients, type Introduction } from "./client.ts";
import { discover, hintIn, type Hint } from "./discovery.ts";
import { troubleOf } from "./failures.ts";
import { Grants, isAlive, type GrantsOptions, type HeldGrant } from "./grants.ts";
import { newState, PendingAuthorizations } from "./pending.ts";
import { SERVER, type Grant, type Pending } from "./records.ts";
import { loadSdk } from "./sdk.ts";
import { redeemed } from "./token-requests.ts";
import { webOf, type Web } from "./web.ts";

/** What an {@link OAuthCredentials} works with. */
export interface OAuthOptions {
  readonly connector: string;
  readonly need: OAuthNeed;
  readonly vault: Vault;
  readonly storage: Storage;
  /** How the deployment introduces itself; the failure says what it lacks for that. */
  readonly introduce: () => Outcome<Introduction>;
  /** Makes requests; the platform's `fetch` when omitted. */
  readonly fetch?: Web | undefined;
}

/** What an operator may know of a connector's authorization. */
export interface GrantState {
  readonly state: "missing" | "authorized" | "ended" | "unreadable";
  readonly issuer?: string;
  readonly scope?: string;
  /** When the present token ends, in milliseconds since the epoch. */
  readonly expiresAt?: number;
  readonly message?: string;
}

const CODE = /^[a-z_]{1,40}$/;

/** Tokens for a protected server, which a person or the client itself has been granted. */
export class OAuthCredentials implements Credentials {
  readonly #options: OAuthOptions & GrantsOptions;
  readonly #grants: Grants;
  readonly #pending: PendingAuthorizations;
  readonly #listeners = new Listeners();
  /** What the server said of where to go and what for, when it last refused. */
  #hint: Hint | undefined;
  #wantsMore = false;

  constructor(options: OAuthOptions) {
    const { connector, need, vault, storage } = options;
    const web = webOf(need.resource, options.fetch);
    this.#options = { ...options, web, clients: new Clients(connector, need, vault) };
    this.#grants = new Grants(this.#options);
    this.#pending = new PendingAuthorizations(connector, vault, storage);
  }

  async current(scope: Scope): Promise<Outcome<Held>> {
    return held(await this.#grants.current(scope));
  }

  async renew(refused: Held, challenge: Challenge, scope: Scope): Promise<Outcome<Held>> {
    if (challenge.header !== undefined) await this.#hear(challenge.header, challenge.status);
    if (challenge.status !== 403) {
      return held(await this.#grants.renew(refused.values.accessToken, scope));
    }
    const { connector } = this.#options;
    const text = `${connector} was granted less than this call needs (HTTP 403).`;
    return fail("auth_required", text, { connector });
  }

  authorize(scope: Scope, force: boolean): Promise<Outcome<Readonly<Record<string, unknown>>>> {
    const what = `The authorization of ${this.#options.connector}`;
    return withDeadline(scope, LIMITS.callTimeoutMs.value, what, (inner) =>
      this.#authorize(inner, force),
    );
  }

  async #authorize(
    scope: Scope,
    force: boolean,
  ): Promise<Outcome<Readonly<Record<string, unknown>>>> {
    const { connector, need } = this.#options;
    if (need.grant === "client_credentials") return this.#connectItself(scope);
    const before = await this.#grants.read();
    if (!before.ok && !force) return before;
    const known = before.ok ? before.value : undefined;
    if (known !== undefined && isAlive(known.grant) && !force && !this.#wantsMore) {
      return ok({
        status: "authorized",
        message: `${connector} is authorized. With force: true a person authorizes it anew.`,
      });
    }
    const url = await this.#begin(known, force);
    if (!url.ok) return url;
    return ok({
      status: "authorization_needed",
      url: url.value,
      expiresInMs: LIMITS.authorizationMs.value,
      message:
        "Give the person this url, to open in a browser and to agree there. " +
        `Afterwards calls of ${connector} work; nothing has to be copied back.`,
    });
  }

  /**
   * Ends an authorization that a person has come back from.
   * Failures: `not_found` for a state that is none of this connector, `auth_required` where the
   * person or the server refused, and those of the authorization server.
   */
  async finish(answer: URLSearchParams, scope: Scope): Promise<Outcome<void>> {
    const { connector } = this.#options;
    const given = (name: string) => answer.get(name) ?? undefined;
    const pending = await this.#pending.take(given("state") ?? "");
    if (!pending.ok) return pending;
    const refused = await this.#refusalIn(pending.value, given("iss"), given("error"));
    if (refused !== undefined) return refused;
    const code = given("code");
    if (code === undefined) return fail("invalid_args", "The answer holds no code.");
    const known = await this.#grants.read();
    const other = known.ok
      ? this.#otherIssuer(known.value, pending.value.server.issuer)
      : undefined;
    if (other !== undefined) return other;
    const iss = given("iss");
    const asked = await redeemed(this.#options, pending.value, { code, iss }, scope.now());
    if (!asked.ok) {
      const text = `${connector} could not be authorized: ${asked.failure.message}`;
      return { ok: false, failure: { ...asked.failure, message: text } };
    }
    const written = await this.#grants.write(asked.grant);
    if (!written.ok) return written;
    this.#changed();
    return ok(undefined);
  }

  /** Forgets everything: the grant, how the server knows us, and which server it was. */
  async remove(): Promise<Outcome<void>> {
    const forgotten = await this.#grants.forget();
    if (!forgotten.ok) return forgotten;
    const unregistered = await this.#options.clients.forget();
    this.#changed();
    return unregistered;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** What an operator may know. */
  async state(): Promise<GrantState> {
    const read = await this.#grants.read();
    if (!read.ok) return { state: "unreadable", message: read.failure.message };
    if (read.value === undefined) return { state: "missing" };
    const { server, scope, tokens } = read.value.grant;
    return {
      state: tokens === undefined ? "ended" : "authorized",
      issuer: server.issuer,
      ...(scope !== undefined && { scope }),
      ...(tokens?.expiresAt !== undefined && { expiresAt: tokens.expiresAt }),
    };
  }

  async #begin(known: HeldGrant | undefined, force: boolean): Promise<Outcome<string>> {
    const { connector, need, introduce, clients, web } = this.#options;
    const introduction = introduce();
    if (!introduction.ok) return introduction;
    const found = await discover(connector, need, this.#hint, web);
    if (!found.ok) return found;
    const { server, resource, scope } = found.value;
    const other = this.#otherIssuer(known, server.issuer);
    if (other !== undefined) return other;
    const client = await clients.choose(server, introduction.value, web, force);
    if (!client.ok) return client;
    const { startAuthorization } = await loadSdk();
    const { redirectUri } = introduction.value;
    const state = newState();
    try {
      const { authorizationUrl, codeVerifier } = await startAuthorization(server.issuer, {
        metadata: server,
        clientInformation: { client_id: client.value.client_id },
        redirectUrl: redirectUri,
        state,
        ...(scope !== undefined && { scope }),
        ...(resource !== undefined && { resource }),
      });
      const begun = await this.#pending.begin(state, {
        server: SERVER.parse(server),
        client: client.value,
        redirectUri,
        verifier: codeVerifier,
        resource,
        scope,
      });
      return begun.ok ? ok(authorizationUrl.href) : begun;
    } catch (error) {
      return { ok: false, failure: (await troubleOf(connector, error)).failure };
    }
  }

  async #connectItself(scope: Scope): Promise<Outcome<Readonly<Record<string, unknown>>>> {
    const { connector } = this.#options;
    const connected = await this.#grants.current(scope);
    if (!connected.ok) return connected;
    return ok({
      status: "authorized",
      message: `${connector} authorizes itself: nobody has to do anything.`,
    });
  }

  /** Why an answer is not to be followed up, as far as it says so itself. */
  async #refusalIn(
    { server }: Pending,
    iss: string | undefined,
    error: string | undefined,
  ): Promise<Outcome<never> | undefined> {
    const { connector } = this.#options;
    const { validateAuthorizationResponseIssuer } = await loadSdk();
    try {
      validateAuthorizationResponseIssuer({
        iss,
        expectedIssuer: server.issuer,
        issParameterSupported: server.authorization_response_iss_parameter_supported === true,
      });
    } catch (mismatch) {
      return { ok: false, failure: (await troubleOf(connector, mismatch)).failure };
    }
    if (error === undefined) return undefined;
    const code = CODE.test(error) ? error : "error";
    const text = `The authorization server of ${connector} did not agree (${code}).`;
    return fail("auth_required", text, { connector });
  }

  /** What was granted by one server is never offered to another, whoever names it. */
  #otherIssuer(known: HeldGrant | undefined, issuer: string): Outcome<never> | undefined {
    const before = known?.grant.server.issuer;
    if (before === undefined || before === issuer) return undefined;
    const { connector } = this.#options;
    return fail(
      "connector_call_failed",
      `The server of ${connector} names another authorization server than before, which could be ` +
        "an attack. If it is meant, the operator lets go of the former: " +
        `connecta credentials remove ${connector}`,
      { connector },
    );
  }

  async #hear(header: string, status: number): Promise<void> {
    const hint = await hintIn(header);
    this.#hint = hint;
    if (status !== 403 || hint.scope === undefined) return;
    const read = await this.#grants.read();
    const had = read.ok ? (read.value?.grant.scope ?? "") : "";
    const all = new Set(`${had} ${hint.scope}`.split(" ").filter(Boolean));
    this.#hint = { ...hint, scope: [...all].join(" ") };
    this.#wantsMore = true;
  }

  #changed(): void {
    this.#hint = undefined;
    this.#wantsMore = false;
    this.#listeners.call();
  }
}

function held(outcome: Outcome<Grant>): Outcome<Held> {
  if (!outcome.ok) return outcome;
  const { account, tokens } = outcome.value;
  return ok({ account, values: { accessToken: tokens?.access ?? "" } });
}
