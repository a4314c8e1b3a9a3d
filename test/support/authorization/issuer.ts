import type { RequestListener } from "node:http";
import { Provider, type Configuration } from "oidc-provider";
import { serve, type Served } from "./listen.ts";

/** An authorization server whose only person agrees to everything, and what it was asked for. */
export interface Issuer extends Served {
  readonly provider: Provider;
  /** The form of every request to the token endpoint. */
  readonly tokenRequests: URLSearchParams[];
  /** Answers instead of the token endpoint, while it is set. */
  down: { readonly status: number; readonly body: string } | undefined;
  /** What a request for a path waits for before it is answered, while it is set. */
  hold: ((path: string) => Promise<void> | undefined) | undefined;
  /** How often clients registered. */
  registrations: number;
}

/** A client of the machine's own, and one that somebody registered by hand. */
export const MACHINE = { clientId: "machine", clientSecret: "machine-secret-0123456789" };

const YEAR_S = 365 * 24 * 3600;

/** Starts an authorization server of a well-kept kind. */
export async function startIssuer(options: Configuration = {}): Promise<Issuer> {
  const state = {
    tokenRequests: [] as URLSearchParams[],
    registrations: 0,
    down: undefined,
    hold: undefined,
  };
  let provider: Provider | undefined;
  const served = await serve((origin) => {
    provider = makeProvider(origin, options);
    const handle = provider.callback();
    const answer: RequestListener = (request, response) => {
      const isToken = request.url === "/token" && request.method === "POST";
      if (request.url === "/reg" && request.method === "POST") issuer.registrations++;
      if (isToken && issuer.down !== undefined) {
        request.resume();
        response.writeHead(issuer.down.status, { "content-type": "application/json" });
        return response.end(issuer.down.body);
      }
      if (isToken) {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () =>
          issuer.tokenRequests.push(new URLSearchParams(Buffer.concat(chunks).toString())),
        );
      }
      return void handle(request, response);
    };
    return (request, response) => {
      const held = issuer.hold?.(request.url ?? "");
      if (held === undefined) return answer(request, response);
      return void held.then(() => answer(request, response));
    };
  });
  if (provider === undefined) throw new Error("The listener is made at once.");
  const issuer: Issuer = { ...served, ...state, provider };
  return issuer;
}

function makeProvider(origin: string, options: Configuration): Provider {
  const made: Provider = new Provider(origin, {
    clients: [
      {
        client_id: MACHINE.clientId,
        client_secret: MACHINE.clientSecret,
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
        scope: "read",
      },
    ],
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => ({
          scope: "read write",
          audience: resource,
          accessTokenTTL: 3600,
          accessTokenFormat: "opaque",
        }),
      },
      ...options.features,
    },
    scopes: ["openid", "offline_access", "read", "write"],
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    interactions: { url: (_, { uid }) => `/agree/${uid}` },
    issueRefreshToken: () => true,
    rotateRefreshToken: () => true,
    ttl: { RefreshToken: YEAR_S, Grant: YEAR_S, Session: YEAR_S, Interaction: YEAR_S },
    ...without(options, "features"),
  });
  made.use(async (context, next) => {
    if (!context.path.startsWith("/agree/")) return next();
    await agree(made, context.req, context.res);
    context.respond = false;
  });
  return made;
}

function without(options: Configuration, name: keyof Configuration): Configuration {
  return Object.fromEntries(Object.entries(options).filter(([key]) => key !== name));
}

type Details = Parameters<Provider["interactionDetails"]>;

/** Signs the one person in and grants everything that is asked for. */
async function agree(provider: Provider, request: Details[0], response: Details[1]): Promise<void> {
  const { params, prompt, session } = await provider.interactionDetails(request, response);
  const accountId = session?.accountId ?? "ada";
  const grant = new provider.Grant({ accountId, clientId: String(params.client_id) });
  const scope = String(params.scope ?? "");
  grant.addOIDCScope(scope);
  if (typeof params.resource === "string") grant.addResourceScope(params.resource, scope);
  const grantId = await grant.save();
  const done = prompt.name === "login" ? { login: { accountId } } : { consent: { grantId } };
  await provider.interactionFinished(request, response, done, { mergeWithLastSubmission: true });
}

/** Follows an authorization as a browser would; gives the address that it comes back to. */
export async function visit(url: string, redirectsTo: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let at = new URL(url);
  for (let steps = 0; steps < 20; steps++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(at, { redirect: "manual", headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [pair = ""] = set.split(";");
      const equals = pair.indexOf("=");
      cookies.set(pair.slice(0, equals), pair.slice(equals + 1));
    }
    const text = await response.text();
    const location = response.headers.get("location");
    if (location === null) throw new Error(`${at.pathname}: HTTP ${response.status} ${text}`);
    at = new URL(location, at);
    if (at.href.startsWith(redirectsTo)) return at;
  }
  throw new Error("The authorization server never sends the browser back.");
}
