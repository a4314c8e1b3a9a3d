import type { AuthorizationServerMetadata } from "@modelcontextprotocol/client";
import type { OAuthNeed } from "../../shared/credentials.ts";
import { fail, ok, type Outcome } from "../../shared/failure.ts";
import { isLoopback } from "../../shared/loopback.ts";
import { troubleOf } from "./failures.ts";
import { loadSdk } from "./sdk.ts";
import { isConfidential, type Web } from "./web.ts";

/** Where tokens for a protected server come from. */
export interface Discovered {
  readonly server: AuthorizationServerMetadata;
  /** What tokens are asked for, as the protected server calls itself. */
  readonly resource: string | undefined;
  /** What to ask for, in the order of preference that the protocol gives. */
  readonly scope: string | undefined;
}

/** What a protected server said when it refused. */
export interface Hint {
  readonly metadataUrl: URL | undefined;
  readonly scope: string | undefined;
}

/** A request that reads and changes nothing, and that a protected server refuses. */
const PROBE = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

/**
 * Finds the authorization server of a protected server, as both describe themselves.
 * Failures: `unavailable`, and `connector_call_failed` where what they say cannot be used.
 */
export async function discover(
  connector: string,
  need: OAuthNeed,
  told: Hint | undefined,
  web: Web,
): Promise<Outcome<Discovered>> {
  const { discoverOAuthServerInfo, discoverAuthorizationServerMetadata, checkResourceAllowed } =
    await loadSdk();
  try {
    const hint = told ?? (await askForHint(need.resource, web));
    const found = await discoverOAuthServerInfo(need.resource, {
      fetchFn: web,
      ...(hint.metadataUrl !== undefined && { resourceMetadataUrl: hint.metadataUrl }),
    });
    const { resourceMetadata } = found;
    const isListed = resourceMetadata?.authorization_servers?.includes(need.issuer ?? "") === true;
    const server =
      need.issuer !== undefined && isListed
        ? await discoverAuthorizationServerMetadata(need.issuer, { fetchFn: web })
        : found.authorizationServerMetadata;
    const described = resourceMetadata?.resource;
    const isOurs =
      described === undefined ||
      checkResourceAllowed({ requestedResource: need.resource, configuredResource: described });
    const problem = isOurs ? serverProblem(server, need) : "the server describes another resource";
    if (server === undefined || problem !== undefined) {
      const text = `${connector} cannot be authorized: ${problem}.`;
      return fail("connector_call_failed", text, { connector });
    }
    return ok({
      server,
      resource: described,
      scope: scopeOf(need, hint, resourceMetadata?.scopes_supported, server),
    });
  } catch (error) {
    return { ok: false, failure: (await troubleOf(connector, error)).failure };
  }
}

/** What a challenge says about where to go and what to ask for. */
export async function hintIn(header: string): Promise<Hint> {
  const { extractWWWAuthenticateParams } = await loadSdk();
  const headers = { "www-authenticate": header };
  const found = extractWWWAuthenticateParams(new Response(null, { status: 401, headers }));
  return { metadataUrl: found.resourceMetadataUrl, scope: found.scope };
}

async function askForHint(resource: string, web: Web): Promise<Hint> {
  const response = await web(resource, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: PROBE,
  });
  await response.body?.cancel();
  const header = response.headers.get("www-authenticate");
  return response.status === 401 && header !== null
    ? hintIn(header)
    : { metadataUrl: undefined, scope: undefined };
}

/** Why an authorization server cannot be used, in a sentence without its end. */
function serverProblem(
  server: AuthorizationServerMetadata | undefined,
  need: OAuthNeed,
): string | undefined {
  if (server === undefined) return "its authorization server publishes no metadata";
  if (need.issuer !== undefined && need.issuer !== server.issuer) {
    return "its server names another authorization server than auth.issuer";
  }
  const nearby = isLoopback(new URL(need.resource).hostname);
  const isPerson = need.grant === "authorization_code";
  const endpoints = [server.token_endpoint, ...(isPerson ? [server.authorization_endpoint] : [])];
  if (!endpoints.every((endpoint) => isConfidential(endpoint, nearby))) {
    return "its authorization server has an endpoint without https";
  }
  if (!isPerson) return undefined;
  // Without a challenge, a code that somebody else gets hold of is as good as a token.
  return server.code_challenge_methods_supported?.includes("S256") === true
    ? undefined
    : "its authorization server does not announce PKCE with S256";
}

function scopeOf(
  need: OAuthNeed,
  hint: Hint,
  supported: readonly string[] | undefined,
  server: AuthorizationServerMetadata,
): string | undefined {
  if (need.scopes !== undefined) return need.scopes.join(" ") || undefined;
  const wanted = (hint.scope ?? supported?.join(" ") ?? "").split(" ").filter(Boolean);
  const isPerson = need.grant === "authorization_code";
  // Many servers give a refresh token only to who asks for it by this name.
  const offline = isPerson && server.scopes_supported?.includes("offline_access") === true;
  const all = [...new Set([...wanted, ...(offline ? ["offline_access"] : [])])];
  return all.length > 0 ? all.join(" ") : undefined;
}
