import {
  readFields,
  type CredentialNeed,
  type CredentialOption,
  type Held,
} from "../../shared/credentials.ts";

/** How a server's authorization server knows us, and what is asked for there. */
export interface OAuthClientOptions {
  /** `client_credentials` where the client itself has access and no person is asked. */
  readonly grant?: "authorization_code" | "client_credentials";
  /** A client that somebody registered there; without one we introduce ourselves. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** A client metadata document on the web that stands for us, where the server reads such. */
  readonly clientMetadataUrl?: string;
  /** What to ask for; what the server names when omitted. */
  readonly scopes?: readonly string[];
  /** The only authorization server to go to; the one that the server names first when omitted. */
  readonly issuer?: string;
}

/** A credential that a person hands over, and the headers that it makes. */
export interface HeaderCredential extends CredentialOption {
  headers(values: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
}

/** The options that decide what a server is sent of a credential. */
export interface AuthorizationOptions {
  /** Values that a person hands over, see `connecta credentials`. */
  readonly credential?: HeaderCredential;
  /** `"oauth"` for a server that says where tokens come from; more where that does not do. */
  readonly auth?: "oauth" | OAuthClientOptions;
}

/** What a connector needs, and the headers that come of it. */
export interface Authorization {
  readonly need: CredentialNeed;
  readonly headers: (held: Held) => Readonly<Record<string, string>>;
}

const OPTIONS = "grant clientId clientSecret clientMetadataUrl scopes issuer".split(" ");

/**
 * Reads how a server is authenticated at.
 * @param at the connector, as a message names it
 * @throws TypeError naming the option and the fix, never a value
 */
export function readAuthorization(
  at: string,
  { credential, auth }: AuthorizationOptions,
  resource: string,
): Authorization | undefined {
  if (credential !== undefined && auth !== undefined) {
    throw new TypeError(`${at} has both credential and auth: choose one.`);
  }
  if (credential !== undefined) {
    if (typeof credential?.headers !== "function") {
      throw new TypeError(
        `${at}.credential.headers is missing: ({ token }) => ({ Authorization: token }).`,
      );
    }
    const need = readFields(`${at}.credential`, credential);
    return { need, headers: ({ values }) => credential.headers(values) };
  }
  if (auth === undefined) return undefined;
  const client = auth === "oauth" ? {} : checkedClient(`${at}.auth`, auth);
  const { grant = "authorization_code", ...rest } = client;
  return {
    need: { kind: "oauth", resource, grant, ...rest },
    headers: ({ values }) => ({ Authorization: `Bearer ${values.accessToken}` }),
  };
}

function checkedClient(at: string, client: OAuthClientOptions): OAuthClientOptions {
  if (typeof client !== "object" || client === null) {
    throw new TypeError(`${at} must be "oauth" or an object.`);
  }
  const unknown = Object.keys(client).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(`${at}.${unknown} is no option; there are: ${OPTIONS.join(", ")}.`);
  }
  const { grant, clientId, clientSecret, clientMetadataUrl, scopes, issuer } = client;
  for (const [name, value] of Object.entries({ clientId, clientSecret })) {
    if (value === undefined || (typeof value === "string" && value !== "")) continue;
    throw new TypeError(`${at}.${name} is no text.`);
  }
  const addresses: Record<string, string | undefined> = { clientMetadataUrl, issuer };
  for (const [name, value] of Object.entries(addresses)) {
    if (value === undefined || URL.canParse(value)) continue;
    throw new TypeError(`${at}.${name} is no URL.`);
  }
  if (clientMetadataUrl !== undefined && new URL(clientMetadataUrl).protocol !== "https:") {
    throw new TypeError(`${at}.clientMetadataUrl must begin with https://.`);
  }
  if (scopes !== undefined && !(Array.isArray(scopes) && scopes.every(isScope))) {
    throw new TypeError(`${at}.scopes must be a list of scopes, such as ["read"].`);
  }
  if (grant !== undefined && grant !== "authorization_code" && grant !== "client_credentials") {
    throw new TypeError(`${at}.grant must be "authorization_code" or "client_credentials".`);
  }
  const isAlone = grant === "client_credentials";
  if (isAlone && (clientId === undefined || clientSecret === undefined)) {
    throw new TypeError(`${at} needs clientId and clientSecret for client_credentials.`);
  }
  if (clientSecret !== undefined && clientId === undefined) {
    throw new TypeError(`${at}.clientSecret needs the clientId that it belongs to.`);
  }
  const given = Object.entries(client).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as OAuthClientOptions;
}

function isScope(scope: unknown): boolean {
  return typeof scope === "string" && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope);
}
