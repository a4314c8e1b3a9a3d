import type { Authenticate } from "../access/inbound/verdict.ts";
import { refuseForeignHost } from "../http/gate.ts";
import { isLoopback } from "../shared/loopback.ts";
import type { Metrics } from "./metrics.ts";

const PATH = "/metrics";

/** What the server knows of who is at the other end. */
export interface Peer {
  readonly incoming: { readonly socket: { readonly remoteAddress?: string | undefined } };
}

/** A name of this machine must be asked for, or a page of somebody else's could read along. */
const OWN_NAMES = { authenticate: undefined, allowedHosts: undefined, allowedOrigins: [] };

/**
 * Answers `/metrics`, before and beside everything else. A deployment with auth wants of everybody
 * what it wants of callers, since a proxy of this machine makes every client look near; one without
 * answers this machine alone.
 */
export function metricsPage(metrics: Metrics, authenticate: Authenticate | undefined) {
  const refusal = async (request: Request, { incoming }: Peer) => {
    if (authenticate) {
      if ((await authenticate(request)).kind === "admitted") return undefined;
      const headers = { "www-authenticate": "Bearer" };
      return new Response("Send a token that a caller of /mcp sends.\n", {
        status: 401,
        headers,
      });
    }
    if (isLoopback(incoming.socket.remoteAddress ?? "")) {
      return refuseForeignHost(request, OWN_NAMES);
    }
    return new Response("Only this machine may ask.\n", { status: 403 });
  };
  return async (request: Request, env: Peer): Promise<Response | undefined> => {
    if (new URL(request.url).pathname !== PATH) return undefined;
    const refused = await refusal(request, env);
    if (refused) return refused;
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new Response("Use GET.\n", { status: 405, headers: { allow: "GET, HEAD" } });
    }
    const headers = { "content-type": metrics.contentType, "cache-control": "no-store" };
    return new Response(await metrics.text(), { headers });
  };
}
