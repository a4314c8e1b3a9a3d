import { Hono, type Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { getCookie, setCookie } from "hono/cookie";
import type { CredentialDesk } from "../../access/desk.ts";
import type { Tokens } from "../../access/inbound/tokens.ts";
import type { OperatorDoor, Session } from "../../access/operator.ts";
import type { Outcome } from "../../shared/failure.ts";
import { LIMITS } from "../../shared/limits.ts";
import type { Log } from "../../shared/log.ts";
import { browserScope } from "../browser-scope.ts";
import type { Bindings } from "../deferring.ts";
import { activity, since } from "./activity.ts";
import { connections, type ConnectionsSource } from "./connections.ts";
import { changeCredential, credentials } from "./credentials.ts";
import {
  contentPolicy,
  ICON,
  page,
  PAGES,
  signInPage,
  type Notice,
  type Surroundings,
} from "./markup.ts";
import { changeToken, tokens } from "./tokens.ts";
import { tools } from "./tools.ts";

/** What the operator page of a deployment works with. */
export interface OperatorSite extends ConnectionsSource {
  readonly door: OperatorDoor;
  readonly name: string;
  /** Where browsers reach the deployment, when its config says so. */
  readonly publicUrl: string | undefined;
  readonly desk: CredentialDesk | undefined;
  /** Absent where callers have no tokens. */
  readonly tokens: Tokens | undefined;
  readonly log: Log;
}

interface Known {
  Bindings: Bindings;
  Variables: { session: Session };
}

type Asked = Context<Known>;
type Path = keyof typeof PAGES;

const SESSION = "connecta_operator";
const BROWSER = "connecta_operator_browser";
/** Fields of one credential, as a form writes them. */
const FORM_BYTES = 1024 * 1024;
const FORM = /^application\/x-www-form-urlencoded(?:;|$)/i;

/**
 * The pages under `/operator`. They change credentials of connectors and tokens of callers, and
 * nothing else; to look at them changes nothing.
 */
export function operatorRoutes(site: OperatorSite): Hono<Known> {
  const { door, name } = site;
  const base = `${new URL(site.publicUrl ?? "http://localhost").pathname.replace(/\/$/, "")}/operator`;
  const app = new Hono<Known>();
  app.use(withHeaders());
  app.get("/icon.svg", ({ body }) => body(ICON, 200, { "content-type": "image/svg+xml" }));
  app.get("/sign-in", async (c) => {
    const session = await sessionOf(c, door);
    if (session.ok && session.value) return c.redirect(base, 303);
    return c.html(signInPage(base, name));
  });
  app.use(onlyFromHere(site.publicUrl));
  app.use(
    bodyLimit({ maxSize: FORM_BYTES, onError: (c) => c.text("The form is too large.", 413) }),
  );
  app.post("/sign-in", (c) => signIn(c, site, base));
  app.use(async (c, next) => {
    const session = await sessionOf(c, door);
    if (!session.ok) return c.text("The store does not answer now. Try again later.", 503);
    if (session.value === undefined) {
      return c.req.path.endsWith("/since")
        ? c.json({ error: "Sign in again." }, 401)
        : c.redirect(`${base}/sign-in`, 303);
    }
    c.set("session", session.value);
    await next();
  });
  addPages(app, site, base);
  app.post("/sign-out", async (c) => {
    const form = await formOf(c, door);
    if (form === undefined) return refused(c);
    await door.signOut(c.get("session"));
    keep(c, site, base, SESSION, "", 0);
    return c.redirect(`${base}/sign-in`, 303);
  });
  app.all("*", (c) => {
    // Typed by a person who ends every address like that.
    if (c.req.path === "/operator/") return c.redirect(base, 303);
    return c.text("There is no such page.", 404);
  });
  return app;
}

function addPages(app: Hono<Known>, site: OperatorSite, base: string): void {
  const { door, name, desk, tokens: store } = site;
  const show = async (c: Asked, path: Path, notice?: Notice) => {
    const around = { base, name, formToken: c.get("session").formToken };
    const content = await contentOf(c, site, around, path);
    return c.html(page(around, path, content, notice), notice?.kind === "bad" ? 422 : 200);
  };
  for (const path of Object.keys(PAGES) as Path[]) {
    app.get(path === "" ? "/" : path, (c) => show(c, path));
  }
  app.get("/activity/since", async (c) => {
    const read = await since(site.activity, new URL(c.req.url).searchParams);
    return read.ok ? c.json(read.value) : c.json({ error: read.failure.message }, 503);
  });
  app.post("/credentials", async (c) => {
    const form = await formOf(c, door);
    if (form === undefined || desk === undefined) return refused(c);
    const changed = (connector: string) => site.catalogs.markStale(connector);
    const notice = await changeCredential(
      desk,
      form,
      changed,
      browserScope(c, "operator", "the operator page", site.log),
    );
    return show(c, "/credentials", notice);
  });
  app.post("/tokens", async (c) => {
    const form = await formOf(c, door);
    if (form === undefined || store === undefined) return refused(c);
    return show(c, "/tokens", await changeToken(store, form));
  });
}

async function contentOf(c: Asked, site: OperatorSite, around: Surroundings, path: Path) {
  const { base } = around;
  const scope = browserScope(c, "operator", "the operator page", site.log);
  const query = new URL(c.req.url).searchParams;
  switch (path) {
    case "":
      return connections(base, site, (await site.desk?.list()) ?? [], scope);
    case "/tools":
      return tools(site, query.get("connector") ?? undefined, scope);
    case "/credentials":
      return credentials(around, (await site.desk?.list()) ?? []);
    case "/tokens":
      return tokens(around, await site.tokens?.list());
    case "/activity":
      return activity(base, site.activity, site.connectors, query);
  }
}

/** Nobody's frame, nobody's cache, no script but ours. */
function withHeaders() {
  let policy: Promise<string> | undefined;
  return async ({ header }: Asked, next: () => Promise<void>) => {
    policy ??= contentPolicy();
    header("content-security-policy", await policy);
    header("cache-control", "no-store");
    header("x-content-type-options", "nosniff");
    header("x-frame-options", "DENY");
    // Under `no-referrer` a browser would send `Origin: null` with our own forms.
    header("referrer-policy", "same-origin");
    header("cross-origin-opener-policy", "same-origin");
    header("cross-origin-resource-policy", "same-origin");
    await next();
  };
}

/** What changes something comes from a page of ours, or it is refused. */
function onlyFromHere(publicUrl: string | undefined) {
  return async (c: Asked, next: () => Promise<void>) => {
    const { method } = c.req;
    if (method === "GET" || method === "HEAD") return next();
    if (method !== "POST") return c.text("Use GET or POST.", 405, { allow: "GET, HEAD, POST" });
    const site = c.req.header("sec-fetch-site");
    const isOurs = isOwnOrigin(c.req.header("origin"), c.req.header("host"), publicUrl);
    if (!isOurs || (site !== undefined && site !== "same-origin")) {
      return c.text("Only the operator page itself may send this.", 403);
    }
    return next();
  };
}

function isOwnOrigin(origin = "", host = "", publicUrl: string | undefined): boolean {
  if (!URL.canParse(origin)) return false;
  const { host: named } = new URL(origin);
  return named === host || (publicUrl !== undefined && origin === new URL(publicUrl).origin);
}

function sessionOf(c: Asked, door: OperatorDoor): Promise<Outcome<Session | undefined>> {
  return door.session(getCookie(c, SESSION));
}

/** A form that a page of this session holds. */
async function formOf(c: Asked, door: OperatorDoor): Promise<URLSearchParams | undefined> {
  if (!FORM.test(c.req.header("content-type") ?? "")) return undefined;
  const form = new URLSearchParams(await c.req.text());
  return (await door.isForm(c.get("session"), form.get("form") ?? "")) ? form : undefined;
}

function refused(c: Asked): Response {
  return c.text("The form is not one of your session: load the page again.", 403);
}

async function signIn(c: Asked, site: OperatorSite, base: string): Promise<Response> {
  const { door, name, log } = site;
  if (!FORM.test(c.req.header("content-type") ?? "")) return c.text("Send the form.", 415);
  const given = new URLSearchParams(await c.req.text()).get("secret") ?? "";
  const attempt = await door.signIn(given, getCookie(c, BROWSER));
  if (attempt.kind === "admitted") {
    keep(c, site, base, SESSION, attempt.cookie, LIMITS.operatorSessionMs.value);
    keep(c, site, base, BROWSER, attempt.known, LIMITS.operatorBrowserMs.value);
    log.write("info", "the operator signed in");
    return c.redirect(base, 303);
  }
  if (attempt.kind === "wrong") {
    log.write("warn", "somebody tried to sign in as the operator with a wrong secret");
    return c.html(signInPage(base, name, "That is not the operator secret."), 401);
  }
  const seconds = Math.ceil(attempt.retryAfterMs / 1_000);
  c.header("retry-after", String(seconds));
  const problem = `Too many attempts. Try again in ${seconds} seconds.`;
  return c.html(signInPage(base, name, problem), 429);
}

function keep(
  c: Asked,
  { publicUrl }: OperatorSite,
  base: string,
  cookie: string,
  value: string,
  ms: number,
): void {
  setCookie(c, cookie, value, {
    path: base,
    httpOnly: true,
    sameSite: "Strict",
    secure: new URL(publicUrl ?? c.req.url).protocol === "https:",
    maxAge: Math.floor(ms / 1_000),
  });
}
