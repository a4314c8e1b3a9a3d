import type { OAuthTokens } from "@modelcontextprotocol/client";
import type { OAuthNeed } from "../../shared/credentials.ts";
import { failure, type Failure } from "../../shared/failure.ts";
import type { Clients } from "./client.ts";
import { discover } from "./discovery.ts";
import { troubleOf } from "./failures.ts";
import { SERVER, type Grant, type Pending, type Tokens } from "./records.ts";
import { loadSdk } from "./sdk.ts";
import { WebError, type Web } from "./web.ts";

/** Whose tokens are asked for, and how. */
export interface Asking {
  readonly connector: string;
  readonly need: OAuthNeed;
  readonly clients: Clients;
  readonly web: Web;
}

/** What a question for tokens came to. */
export type Asked =
  | { readonly ok: true; readonly grant: Grant & { readonly tokens: Tokens } }
  | {
      readonly ok: false;
      readonly failure: Failure;
      /** Whether the grant is dead, so that asking again is of no use. */
      readonly isOver: boolean;
    };

/** So long before its end a token is renewed, unless it lives for a short time only. */
const MARGIN_MS = 30_000;
const CLIENT_REFUSED = new Set(["invalid_client", "unauthorized_client"]);
/** All calls of a client that acts for itself are of one account. */
const OWN_ACCOUNT = "client";

/** Uses a refresh token at the authorization server that gave it. */
export async function refreshed(asking: Asking, grant: Grant, now: number): Promise<Asked> {
  const { refreshAuthorization } = await loadSdk();
  const { server, client, resource } = grant;
  return tried(asking, async () => {
    const tokens = await refreshAuthorization(server.issuer, {
      metadata: server,
      clientInformation: asking.clients.complete(client),
      refreshToken: grant.tokens?.refresh ?? "",
      ...(resource !== undefined && { resource }),
      fetchFn: asking.web,
    });
    return { ...grant, tokens: read(tokens, now) };
  });
}

/** Redeems the code that a person came back with. */
export async function redeemed(
  asking: Asking,
  pending: Pending,
  answer: { readonly code: string; readonly iss: string | undefined },
  now: number,
): Promise<Asked> {
  const { exchangeAuthorization } = await loadSdk();
  const { server, client, resource, verifier, redirectUri, scope } = pending;
  return tried(asking, async () => {
    const tokens = await exchangeAuthorization(server.issuer, {
      metadata: server,
      clientInformation: asking.clients.complete(client),
      authorizationCode: answer.code,
      ...(answer.iss !== undefined && { iss: answer.iss }),
      codeVerifier: verifier,
      redirectUri,
      ...(resource !== undefined && { resource }),
      fetchFn: asking.web,
    });
    const granted = tokens.scope ?? scope;
    return {
      server,
      client,
      ...(resource !== undefined && { resource }),
      ...(granted !== undefined && { scope: granted }),
      account: crypto.randomUUID(),
      tokens: read(tokens, now),
    };
  });
}

/** Asks for a token as the client itself, at the server of an earlier grant if there was one. */
export async function asForClient(
  asking: Asking,
  before: Grant | undefined,
  now: number,
): Promise<Asked> {
  const { fetchToken, ClientCredentialsProvider } = await loadSdk();
  const { connector, need, web } = asking;
  const found = before === undefined ? await discover(connector, need, undefined, web) : undefined;
  if (found?.ok === false) return { ...found, isOver: false };
  const resource = before?.resource ?? found?.value.resource;
  const scope = before?.scope ?? found?.value.scope;
  return tried(asking, async () => {
    const server = before?.server ?? SERVER.parse(found?.value.server);
    const { clientId = "", clientSecret = "" } = need;
    const provider = new ClientCredentialsProvider({
      clientId,
      clientSecret,
      expectedIssuer: server.issuer,
      ...(scope !== undefined && { scope }),
    });
    const tokens = await fetchToken(provider, server.issuer, {
      metadata: server,
      ...(resource !== undefined && { resource }),
      fetchFn: web,
    });
    return {
      server,
      client: { client_id: clientId },
      ...(resource !== undefined && { resource }),
      ...(scope !== undefined && { scope }),
      account: OWN_ACCOUNT,
      tokens: read(tokens, now),
    };
  });
}

async function tried(
  { connector, need, clients }: Asking,
  work: () => Promise<Grant & { readonly tokens: Tokens }>,
): Promise<Asked> {
  try {
    return { ok: true, grant: await work() };
  } catch (error) {
    const { code = "", failure: failed } = await troubleOf(connector, error);
    if (!CLIENT_REFUSED.has(code)) {
      return { ok: false, failure: failed, isOver: code === "invalid_grant" };
    }
    if (need.clientId === undefined) {
      // It knows us no more: whoever authorizes next is introduced anew.
      await clients.forget();
      return { ok: false, failure: failed, isOver: true };
    }
    const text =
      `The authorization server of ${connector} refuses the client (${code}): ` +
      "the operator corrects auth.clientId and auth.clientSecret.";
    return {
      ok: false,
      failure: failure("connector_call_failed", text, { connector }),
      isOver: false,
    };
  }
}

function read(tokens: OAuthTokens, now: number): Tokens {
  if (tokens.token_type.toLowerCase() !== "bearer") {
    throw new WebError("it gives tokens of another kind than Bearer");
  }
  const lifetime = tokens.expires_in === undefined ? undefined : tokens.expires_in * 1000;
  return {
    access: tokens.access_token,
    ...(tokens.refresh_token !== undefined && { refresh: tokens.refresh_token }),
    ...(lifetime !== undefined && {
      dueAt: now + lifetime - Math.min(MARGIN_MS, lifetime / 10),
      expiresAt: now + lifetime,
    }),
  };
}
