import type { AuthorizationServerMetadata } from "@modelcontextprotocol/client";
import type { OAuthNeed } from "../../shared/credentials.ts";
import { fail, ok, type Outcome } from "../../shared/failure.ts";
import { isLoopback } from "../../shared/loopback.ts";
import type { Place, Vault } from "../vault.ts";
import { troubleOf } from "./failures.ts";
import { CLIENT, readRecord, REGISTRATION, type ClientRecord } from "./records.ts";
import { loadSdk } from "./sdk.ts";
import type { Web } from "./web.ts";

/** How a deployment introduces itself to authorization servers. */
export interface Introduction {
  readonly name: string;
  /** Where a person comes back to. */
  readonly redirectUri: string;
  /** The document that this deployment publishes about itself, where others can read it. */
  readonly documentUrl: string | undefined;
}

/** What a client says of itself. */
export function clientMetadata(name: string, redirectUris: readonly string[]) {
  return {
    client_name: name,
    redirect_uris: [...redirectUris],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: redirectUris.every((uri) => isLoopback(new URL(uri).hostname))
      ? "native"
      : "web",
  };
}

/** Who we are to the authorization server of one connector. */
export class Clients {
  readonly #connector: string;
  readonly #need: OAuthNeed;
  readonly #vault: Vault;

  constructor(connector: string, need: OAuthNeed, vault: Vault) {
    this.#connector = connector;
    this.#need = need;
    this.#vault = vault;
  }

  /**
   * The configured client; else the document that the config names; else one that we register; else
   * the document that we publish.
   * @param anew registers again although there is a registration
   */
  async choose(
    server: AuthorizationServerMetadata,
    { name, redirectUri, documentUrl }: Introduction,
    web: Web,
    anew: boolean,
  ): Promise<Outcome<ClientRecord>> {
    const { clientId, clientMetadataUrl } = this.#need;
    if (clientId !== undefined) return ok({ client_id: clientId });
    const readsDocuments = server.client_id_metadata_document_supported === true;
    if (readsDocuments && clientMetadataUrl !== undefined) {
      return ok({ client_id: clientMetadataUrl, token_endpoint_auth_method: "none" });
    }
    if (server.registration_endpoint !== undefined) {
      const known = anew ? ok(undefined) : await this.#known(server.issuer, redirectUri);
      if (!known.ok || known.value !== undefined) return known as Outcome<ClientRecord>;
      return this.#register(server, name, redirectUri, web);
    }
    if (readsDocuments && documentUrl !== undefined) {
      return ok({ client_id: documentUrl, token_endpoint_auth_method: "none" });
    }
    return fail(
      "connector_call_failed",
      `The authorization server of ${this.#connector} registers nobody by itself: the operator ` +
        `registers a client there for ${redirectUri} and gives auth.clientId.`,
      { connector: this.#connector },
    );
  }

  /** A client with its secret, wherever that is kept. */
  complete(client: ClientRecord): ClientRecord {
    const { clientId, clientSecret } = this.#need;
    if (client.client_id !== clientId || clientSecret === undefined) return client;
    return { ...client, client_secret: clientSecret };
  }

  /** Forgets what was registered. */
  forget(): Promise<Outcome<void>> {
    return this.#vault.remove(this.#place());
  }

  async #known(issuer: string, redirectUri: string): Promise<Outcome<ClientRecord | undefined>> {
    const read = await this.#vault.read(this.#place());
    if (!read.ok) return read;
    const known = read.value && readRecord(REGISTRATION, read.value.text);
    if (known?.issuer !== issuer || known.redirectUri !== redirectUri) return ok(undefined);
    // Zero stands for a secret that never ends.
    const ends = known.client.client_secret_expires_at ?? 0;
    return ok(ends !== 0 && ends * 1000 <= Date.now() ? undefined : known.client);
  }

  async #register(
    server: AuthorizationServerMetadata,
    name: string,
    redirectUri: string,
    web: Web,
  ): Promise<Outcome<ClientRecord>> {
    const { registerClient, selectClientAuthMethod } = await loadSdk();
    const methods = server.token_endpoint_auth_methods_supported ?? [];
    const isPublic = methods.length === 0 || methods.includes("none");
    const method = isPublic
      ? "none"
      : selectClientAuthMethod({ client_id: "", client_secret: "" }, methods);
    const metadata = {
      ...clientMetadata(name, [redirectUri]),
      token_endpoint_auth_method: method,
    };
    try {
      const found = await registerClient(server.issuer, {
        metadata: server,
        clientMetadata: metadata,
        fetchFn: web,
      });
      const client = CLIENT.parse(found);
      const text = JSON.stringify({ issuer: server.issuer, redirectUri, client });
      const written = await this.#vault.write(this.#place(), text);
      return written.ok ? ok(client) : written;
    } catch (error) {
      return { ok: false, failure: (await troubleOf(this.#connector, error)).failure };
    }
  }

  #place(): Place {
    return { purpose: "client", connector: this.#connector, field: "registration" };
  }
}
