import type { Connector } from "../shared/contracts.ts";
import type { CredentialNeed } from "../shared/credentials.ts";
import { fail, ok, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import { isLoopback } from "../shared/loopback.ts";
import { withDeadline, type Scope } from "../shared/scope.ts";
import type { Storage } from "../shared/storage.ts";
import { kindOf } from "../shared/text.ts";
import { FieldCredentials, type FieldState } from "./fields.ts";
import { clientMetadata, type Introduction } from "./oauth/client.ts";
import { OAuthCredentials, type GrantState } from "./oauth/oauth.ts";
import type { Web } from "./oauth/web.ts";
import { Vault, type Rotation } from "./vault.ts";

/** What a deployment gives its desk to work with. */
export interface DeskOptions {
  readonly connectors: readonly Connector[];
  readonly storage: Storage;
  /** The bytes of the vault's keys, the one to seal with first. */
  readonly keys: readonly Uint8Array<ArrayBuffer>[];
  /** What authorization servers are told that we are called. */
  readonly name: string;
  /** The deployment's own URL without a path, as browsers reach it; asked for when it is needed. */
  readonly origin: () => string | undefined;
  /** Where an operator hands credentials over in a browser; the command line otherwise. */
  readonly operatorUrl?: (() => string | undefined) | undefined;
  /** Makes requests to authorization servers; the platform's `fetch` when omitted. */
  readonly fetch?: Web;
}

/** What an operator may know of one connector's credential; nothing of it can be read back. */
export type CredentialState = { readonly connector: string } & (
  | {
      readonly kind: "fields";
      readonly instructions?: string;
      readonly fields: readonly FieldState[];
    }
  | ({
      readonly kind: "oauth";
      readonly grant: "authorization_code" | "client_credentials";
    } & Readonly<GrantState>)
);

type Holder = FieldCredentials | OAuthCredentials;

const CALLBACK = "/oauth/callback/";
/** Where a deployment says who it is. */
const CLIENT_DOCUMENT = "/oauth/client.json";

/**
 * Everything that people hand over to a deployment's connectors: what is needed and how far it is,
 * to set, replace, try and take away, and the way to an authorization and back.
 */
export class CredentialDesk {
  readonly #options: DeskOptions;
  readonly #vault: Vault;
  readonly #connectors = new Map<string, Connector>();
  readonly #holders = new Map<string, Holder>();

  /** Lends every connector that needs a credential the source of it. */
  constructor(options: DeskOptions) {
    this.#options = options;
    this.#vault = new Vault(options.storage, options.keys);
    for (const connector of options.connectors) {
      const { id, credential } = connector;
      if (credential === undefined) continue;
      const holder = this.#holder(id, credential);
      this.#connectors.set(id, connector);
      this.#holders.set(id, holder);
      connector.useCredentials?.(holder);
    }
  }

  /** What every connector needs and how far it is, in the order of the config. */
  list(): Promise<readonly CredentialState[]> {
    return Promise.all(
      [...this.#holders].map(async ([connector, holder]): Promise<CredentialState> => {
        const need = this.#connectors.get(connector)?.credential;
        if (holder instanceof FieldCredentials) {
          const instructions = need?.kind === "fields" ? need.instructions : undefined;
          const fields = await holder.states();
          return { connector, kind: "fields", fields, ...(instructions && { instructions }) };
        }
        const grant = need?.kind === "oauth" ? need.grant : "authorization_code";
        return { connector, kind: "oauth", grant, ...(await holder.state()) };
      }),
    );
  }

  /**
   * Sets or replaces values of fields; the next call uses them, in every instance.
   * Failures: `not_found`, `invalid_args`, and those of the store.
   */
  async set(connector: string, values: Readonly<Record<string, string>>): Promise<Outcome<void>> {
    const holder = this.#find(connector);
    if (!holder.ok) return holder;
    if (holder.value instanceof FieldCredentials) return holder.value.set(values);
    return fail(
      "invalid_args",
      `${connector} is authorized in a browser: authorize_connector gives the address.`,
    );
  }

  /** Takes a credential away, or one field of it. */
  async remove(connector: string, field?: string): Promise<Outcome<void>> {
    const holder = this.#find(connector);
    if (!holder.ok) return holder;
    return holder.value instanceof FieldCredentials
      ? holder.value.remove(field)
      : holder.value.remove();
  }

  /** Tries a credential at its server; says in a sentence what came of it. */
  async test(connector: string, scope: Scope): Promise<Outcome<string>> {
    const holder = this.#find(connector);
    if (!holder.ok) return holder;
    const held = await holder.value.current(scope);
    if (!held.ok) return held;
    const tried = this.#connectors.get(connector);
    if (tried === undefined) return unknown(connector);
    const what = `The test of the credential of ${connector}`;
    return withDeadline(scope, LIMITS.callTimeoutMs.value, what, async (inner) => {
      try {
        if (tried.testCredential !== undefined) return await tried.testCredential(inner);
        const listed = await tried.listTools(inner);
        if (!listed.ok) return listed;
        const count = listed.value.length;
        return ok(`${connector} accepts its credential; its tools: ${count}.`);
      } catch (error) {
        return fail("connector_call_failed", `${what} failed unexpectedly (${kindOf(error)}).`);
      }
    });
  }

  /** Begins an authorization, or says what else a person must do. */
  async authorize(
    connector: string,
    scope: Scope,
    force = false,
  ): Promise<Outcome<Readonly<Record<string, unknown>>>> {
    const holder = this.#find(connector);
    return holder.ok ? holder.value.authorize(scope, force) : holder;
  }

  /** Ends an authorization that a browser brings back, for the connector of its address. */
  async finish(connector: string, answer: URLSearchParams, scope: Scope): Promise<Outcome<void>> {
    const holder = this.#find(connector);
    if (!holder.ok) return holder;
    if (holder.value instanceof FieldCredentials) return unknown(connector);
    for (const name of ["state", "code", "iss", "error"]) {
      if (answer.getAll(name).length > 1) {
        return fail("invalid_args", `The answer holds more than one ${name}.`);
      }
    }
    return holder.value.finish(answer, scope);
  }

  /** Seals everything with the current key, so that the older ones are needed no more. */
  rotate(): Promise<Outcome<Rotation>> {
    return this.#vault.rotate();
  }

  /** What this deployment says of itself at `/oauth/client.json`, where it says it. */
  clientDocument(): Readonly<Record<string, unknown>> | undefined {
    const url = this.#documentUrl();
    if (url === undefined) return undefined;
    const ids = [...this.#holders].filter(([, one]) => one instanceof OAuthCredentials);
    const uris = ids.map(([id]) => `${this.#options.origin()}${CALLBACK}${id}`);
    return { client_id: url, ...clientMetadata(this.#options.name, uris) };
  }

  #holder(connector: string, need: CredentialNeed): Holder {
    const { storage, operatorUrl, fetch } = this.#options;
    if (need.kind === "fields") {
      const where = () => {
        const url = operatorUrl?.();
        return url === undefined ? `connecta credentials set ${connector}` : `${url}#${connector}`;
      };
      return new FieldCredentials(connector, need, this.#vault, where);
    }
    const introduce = () => this.#introduce(connector);
    return new OAuthCredentials({
      connector,
      need,
      vault: this.#vault,
      storage,
      introduce,
      fetch,
    });
  }

  #introduce(connector: string): Outcome<Introduction> {
    const { name, origin } = this.#options;
    const own = origin();
    if (own === undefined) {
      const text =
        `${connector} cannot be authorized yet: the operator gives publicUrl, the address under ` +
        "which browsers reach this deployment.";
      return fail("connector_call_failed", text, { connector });
    }
    const redirectUri = `${own}${CALLBACK}${connector}`;
    return ok({ name, redirectUri, documentUrl: this.#documentUrl() });
  }

  /** Others can read it only where they reach us, and believe it only over https. */
  #documentUrl(): string | undefined {
    const own = this.#options.origin();
    if (own === undefined) return undefined;
    const { protocol, hostname } = new URL(own);
    return protocol === "https:" && !isLoopback(hostname) ? `${own}${CLIENT_DOCUMENT}` : undefined;
  }

  #find(connector: string): Outcome<Holder> {
    const holder = this.#holders.get(connector);
    return holder === undefined ? unknown(connector) : ok(holder);
  }
}

function unknown(connector: string): Outcome<never> {
  return fail("not_found", `No connector ${connector} needs a credential.`);
}

/** What of a deployment's config its desk is opened with. */
export interface DeskConfig extends Pick<DeskOptions, "connectors" | "name" | "operatorUrl"> {
  readonly storage: Storage | undefined;
  readonly vaultKeys: DeskOptions["keys"];
  readonly publicUrl: string | undefined;
}

/**
 * The desk of a deployment, which lends its connectors their credentials.
 * @param origin where browsers of this machine reach the deployment, for one without `publicUrl`
 * @param fetch makes requests to authorization servers
 * @returns nothing for a deployment without a vault
 */
export function openDesk(
  { storage, vaultKeys: keys, publicUrl, ...rest }: DeskConfig,
  origin: () => string | undefined = () => undefined,
  fetch?: Web,
): CredentialDesk | undefined {
  if (storage === undefined || keys.length === 0) return undefined;
  const { connectors, name, operatorUrl } = rest;
  return new CredentialDesk({
    connectors,
    storage,
    keys,
    name,
    origin: () => publicUrl ?? origin(),
    operatorUrl,
    ...(fetch !== undefined && { fetch }),
  });
}
