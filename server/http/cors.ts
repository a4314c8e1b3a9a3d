/** What MCP clients in browsers send, of both protocol generations. */
const REQUEST_HEADERS = [
  "authorization",
  "content-type",
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name",
  "mcp-session-id",
  "last-event-id",
];

/** What they read besides the body: where to sign in, and when to try again. */
const RESPONSE_HEADERS = ["www-authenticate", "retry-after"];

/** How long a browser may remember a preflight, in seconds. */
const MAX_AGE_SECONDS = 600;

/** Whether a browser asks if a page may send a request. */
export function isPreflight(request: Request): boolean {
  return (
    request.method === "OPTIONS" &&
    request.headers.has("origin") &&
    request.headers.has("access-control-request-method")
  );
}

/** Answers the preflight of an origin that may call. */
export function preflight(): Response {
  const headers = {
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": REQUEST_HEADERS.join(", "),
    "access-control-max-age": String(MAX_AGE_SECONDS),
  };
  return new Response(null, { status: 204, headers });
}

/**
 * Lets a page of a listed origin read an answer, refusals included. Credentials that a browser adds
 * by itself are never asked for: a token is the caller's to send.
 */
export function readableBy(
  origins: readonly string[],
  request: Request,
  response: Response,
): Response {
  const origin = request.headers.get("origin");
  if (origin === null || !origins.includes(origin)) return response;
  const headers = new Headers(response.headers);
  headers.set("access-control-allow-origin", origin);
  headers.set("access-control-expose-headers", RESPONSE_HEADERS.join(", "));
  headers.append("vary", "origin");
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}
