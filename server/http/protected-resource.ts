/** What tells a client where to sign in. */
export interface ResourceOptions {
  /** The issuers, the one that clients should use first. */
  readonly issuers: readonly string[];
  /** Scopes that a client should ask for. */
  readonly scopes: readonly string[];
  /** Addresses under which this deployment is reached, without a trailing slash; never none. */
  readonly addresses: () => readonly string[];
  readonly name: string;
}

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** The path of the endpoint below an address of the deployment. */
export const ENDPOINT = "/mcp";

/** For how long a client may keep the document, in seconds. */
const MAX_AGE_SECONDS = 300;

/** This deployment as OAuth sees it: a resource with metadata (RFC 9728). */
export class ProtectedResource {
  readonly #options: ResourceOptions;

  constructor(options: ResourceOptions) {
    this.#options = options;
  }

  /** Scopes that a client should ask for. */
  get scopes(): readonly string[] {
    return this.#options.scopes;
  }

  /** Where the metadata is, for a client that reached us by the name in its request. */
  metadataUrl(request: Request): string {
    return `${this.#address(request)}${WELL_KNOWN}${ENDPOINT}`;
  }

  /** The metadata for whoever asks, from any page; `undefined` for a path that is not its own. */
  answer(request: Request): Response | undefined {
    const { pathname } = new URL(request.url);
    const address = this.#address(request);
    const inserted = WELL_KNOWN + new URL(address + ENDPOINT).pathname;
    if (![WELL_KNOWN, WELL_KNOWN + ENDPOINT, inserted].includes(pathname)) return undefined;
    const cors = { "access-control-allow-origin": "*" };
    if (request.method === "OPTIONS") {
      // The document is public: whatever header a client adds changes nothing.
      const headers = request.headers.get("access-control-request-headers") ?? "";
      const allowed = {
        "access-control-allow-methods": "GET",
        "access-control-allow-headers": headers,
      };
      return new Response(null, { status: 204, headers: { ...cors, ...allowed } });
    }
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new Response(null, { status: 405, headers: { ...cors, allow: "GET, HEAD, OPTIONS" } });
    }
    const { issuers, scopes, name } = this.#options;
    const document = {
      resource: address + ENDPOINT,
      authorization_servers: issuers,
      ...(scopes.length > 0 && { scopes_supported: scopes }),
      bearer_methods_supported: ["header"],
      resource_name: name,
    };
    const cache = { "cache-control": `public, max-age=${MAX_AGE_SECONDS}`, vary: "host" };
    return Response.json(document, { headers: { ...cors, ...cache } });
  }

  /** Of our own addresses the one that the request asked for, else the first: never the caller's. */
  #address(request: Request): string {
    const addresses = this.#options.addresses();
    const host = request.headers.get("host");
    return addresses.find((one) => new URL(one).host === host) ?? addresses[0] ?? "";
  }
}
