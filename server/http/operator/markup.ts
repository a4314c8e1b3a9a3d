import { html, raw } from "hono/html";
import { digestOf } from "../../shared/digest.ts";
import { clampUtf8 } from "../../shared/text.ts";
import followSource from "./follow.ts?travel";
import palette from "./palette.css?raw";
import pageStyle from "./page.css?raw";
import partsStyle from "./parts.css?raw";

/** HTML in which every text was escaped. */
export type Markup = ReturnType<typeof html>;

/** What every page of a session knows. */
export interface Surroundings {
  /** Where the page stands, without a slash at the end. */
  readonly base: string;
  /** The deployment's name. */
  readonly name: string;
  readonly formToken: string;
}

/** What came of a form. */
export interface Notice {
  readonly kind: "good" | "bad";
  readonly text: string;
  /** What goes with it, such as a token that is shown this once. */
  readonly more?: Markup | undefined;
}

/** The pages of the navigation, by their paths. */
export const PAGES = {
  "": "Connections",
  "/tools": "Tools",
  "/credentials": "Credentials",
  "/tokens": "Tokens",
  "/activity": "Activity",
} as const;

const SCRIPT = `(${followSource})()`;
const style = palette + pageStyle + partsStyle;
const MAX_TEXT_BYTES = 500;

/** The policy of every page: the one script and the one style that we wrote, and forms to us. */
export async function contentPolicy(): Promise<string> {
  const [script, look] = await Promise.all([SCRIPT, style].map(sourceOf));
  return (
    `default-src 'none'; script-src '${script}'; style-src '${look}'; img-src 'self'; ` +
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
  );
}

async function sourceOf(text: string): Promise<string> {
  return `sha256-${btoa(String.fromCharCode(...(await digestOf(text))))}`;
}

/** A text that somebody else wrote: of one line, bounded, its direction kept to itself. */
export function told(text: string, maxBytes = MAX_TEXT_BYTES): Markup {
  return html`<bdi>${plain(text, maxBytes)}</bdi>`;
}

/** The same where no element can stand. */
export function plain(text: string, maxBytes = MAX_TEXT_BYTES): string {
  const line = text
    .slice(0, maxBytes)
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, " ")
    .trim();
  const shown = clampUtf8(line, maxBytes);
  return shown.length < text.trim().length && text.length > maxBytes ? `${shown}…` : shown;
}

/** A moment, such as `2030-01-31 12:30 UTC`. */
export function moment(at: number): Markup {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace("T", " ")} UTC</time>`;
}

const MARK = html`<svg viewBox="0 0 24 24" aria-hidden="true">
  <circle cx="17" cy="12" r="4" />
  <path d="M3 4h4l6.5 6M3 12h10M3 20h4l6.5-6" />
</svg>`;

/** The picture of the tab. */
export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#4f5bd5" ' +
  'stroke-width="2"><circle cx="17" cy="12" r="4"/><path d="M3 4h4l6.5 6M3 12h10M3 20h4l6.5-6"/></svg>';

function whole(base: string, title: string, body: Markup): Markup {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <link rel="icon" href="${base}/icon.svg" />
        <style>${raw(style)}</style>
      </head>
      <body>
        ${body}
        <script>${raw(SCRIPT)}</script>
      </body>
    </html> `;
}

/** A page of somebody who signed in. */
export function page(
  { base, name, formToken }: Surroundings,
  path: keyof typeof PAGES,
  content: Markup,
  notice?: Notice,
): Markup {
  const links = Object.entries(PAGES).map(
    ([to, title]) =>
      html`<a href="${base}${to}" ${to === path ? raw('aria-current="page"') : ""}>${title}</a>`,
  );
  const body = html`<a class="skip" href="#content">Skip to the content</a>
    <header class="top">
      <a class="brand" href="${base}">${MARK}<b>${plain(name)}</b></a>
      <nav aria-label="Pages">${links}</nav>
      <form method="post" action="${base}/sign-out">
        <input type="hidden" name="form" value="${formToken}" />
        <button class="ghost">Sign out</button>
      </form>
    </header>
    <main id="content">
      <h1>${PAGES[path]}</h1>
      ${notice === undefined ? "" : noticeOf(notice)} ${content}
    </main>`;
  return whole(base, `${PAGES[path]} – ${plain(name)}`, body);
}

function noticeOf({ kind, text, more }: Notice): Markup {
  return html`<div class="notice ${kind}" role="${kind === "bad" ? "alert" : "status"}">
    <p>${plain(text, 2 * MAX_TEXT_BYTES)}</p>
    ${more ?? ""}
  </div>`;
}

/** The page of somebody who did not sign in yet. */
export function signInPage(base: string, name: string, problem?: string): Markup {
  const body = html`<main class="sign-in">
    <form class="card" method="post" action="${base}/sign-in">
      <p class="brand">${MARK}<b>${plain(name)}</b></p>
      <h1>Operator</h1>
      ${problem === undefined ? "" : noticeOf({ kind: "bad", text: problem })}
      <input
        class="unseen"
        name="username"
        value="operator"
        autocomplete="username"
        tabindex="-1"
        aria-hidden="true"
        readonly
      />
      <label for="secret">Operator secret</label>
      <input
        id="secret"
        name="secret"
        type="password"
        autocomplete="current-password"
        required
        autofocus
      />
      <button class="primary">Sign in</button>
    </form>
  </main>`;
  return whole(base, `Sign in – ${plain(name)}`, body);
}

/** A form that one button sends to its page. */
export function buttonForm(
  { formToken }: Surroundings,
  fields: Readonly<Record<string, string>>,
  button: Markup,
): Markup {
  return html`<form method="post">${hidden({ form: formToken, ...fields })}${button}</form>`;
}

/** Fields of a form that nobody sees. */
export function hidden(fields: Readonly<Record<string, string>>): readonly Markup[] {
  return Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );
}
