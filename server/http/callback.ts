import { html, raw } from "hono/html";
import type { Outcome } from "../shared/failure.ts";
import type { Log } from "../shared/log.ts";
import type { Scope } from "../shared/scope.ts";
import { browserScope, type Asked } from "./browser-scope.ts";
import { refuse } from "./refusal.ts";

/** What the routes of authorizations need from a deployment; structurally a credential desk. */
export interface Authorizations {
  finish(connector: string, answer: URLSearchParams, scope: Scope): Promise<Outcome<void>>;
  clientDocument(): Readonly<Record<string, unknown>> | undefined;
}

const NONCE_BYTES = 16;
const STYLE =
  ":root{color-scheme:light dark;font:1.125rem/1.5 system-ui,sans-serif}" +
  "main{max-width:32rem;margin:15vh auto 0;padding:0 1.25rem}h1{font-size:1.5rem}";

/**
 * Answers a browser that comes back from an authorization server, once for each authorization.
 * Only GET counts: what merely looks whether the page is there must not use it up.
 */
export async function finishAuthorization(
  asked: Asked,
  connector: string,
  authorizations: Pick<Authorizations, "finish">,
  log: Log,
): Promise<Response> {
  const request = asked.req.raw;
  if (request.method !== "GET") return refuse(405, "Use GET.", { allow: "GET" });
  const scope = browserScope(asked, "browser", "an authorization", log);
  const done = await authorizations.finish(connector, new URL(request.url).searchParams, scope);
  return done.ok
    ? page(200, "Connected", [
        `${connector} is connected. You can close this page and go on where you were.`,
      ])
    : page(done.failure.retryable ? 503 : 400, "Not connected", [
        done.failure.message,
        "Nothing was connected by this page. To try again, ask for a new link.",
      ]);
}

/** A page without scripts, for nobody's frame and nobody's cache, that tells its address to nobody. */
async function page(
  status: number,
  title: string,
  sentences: readonly string[],
): Promise<Response> {
  const nonce = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(NONCE_BYTES))));
  const text = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${title}</title>
        <meta name="viewport" content="width=device-width" />
        <style nonce="${nonce}">${raw(STYLE)}</style>
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${sentences.map((sentence) => html`<p>${sentence}</p>`)}
        </main>
      </body>
    </html> `;
  return new Response(String(text), {
    status,
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'; ` +
        "frame-ancestors 'none'",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cross-origin-opener-policy": "same-origin",
    },
  });
}
