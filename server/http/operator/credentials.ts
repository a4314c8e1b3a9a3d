import { html } from "hono/html";
import type { CredentialDesk, CredentialState } from "../../access/desk.ts";
import type { FieldState } from "../../access/fields.ts";
import { fail, ok, type Outcome } from "../../shared/failure.ts";
import type { Scope } from "../../shared/scope.ts";
import { summaryOf } from "./connections.ts";
import {
  buttonForm,
  hidden,
  moment,
  told,
  type Markup,
  type Notice,
  type Surroundings,
} from "./markup.ts";

/** What of the desk the page uses. */
export type Desk = Pick<CredentialDesk, "list" | "set" | "remove" | "test" | "authorize">;

const FIELD = "value.";

/** What every connector needs, each with the forms that change it; no value is on the page. */
export function credentials(around: Surroundings, states: readonly CredentialState[]): Markup {
  if (states.length === 0) {
    return html`<p class="empty">No connector of this deployment keeps a credential.</p>`;
  }
  return html`<ul class="cards">${states.map((state) => card(around, state))}</ul>`;
}

function card(around: Surroundings, state: CredentialState): Markup {
  const { connector } = state;
  const [kind, word] = summaryOf(state);
  const instructions = state.kind === "fields" ? state.instructions : undefined;
  const isThere = kind === "good";
  const act = (action: string, button: Markup) => buttonForm(around, { action, connector }, button);
  return html`<li class="card" id="${connector}">
    <h2>${connector}<span class="chip ${kind}">${word}</span></h2>
    ${instructions === undefined ? "" : html`<p class="quiet">${told(instructions)}</p>`}
    ${state.kind === "fields" ? fieldsForm(around, state) : grant(state)}
    <div class="actions">
      ${
        state.kind === "oauth" && state.grant === "authorization_code"
          ? act(
              "authorize",
              html`<button class="${isThere ? "ghost" : "primary"}">
              ${isThere ? "Authorize anew" : "Authorize"}<span class="unseen"> ${connector}</span>
            </button>`,
            )
          : ""
      }
      ${act("test", html`<button class="ghost">Test<span class="unseen"> ${connector}</span></button>`)}
      ${
        isAnything(state)
          ? act(
              "remove",
              html`<button class="ghost danger" data-sure="Remove the credential of ${connector}?">
              Remove<span class="unseen"> ${connector}</span>
            </button>`,
            )
          : ""
      }
    </div>
  </li>`;
}

function isAnything(state: CredentialState): boolean {
  if (state.kind === "oauth") return state.state !== "missing";
  return state.fields.some((field) => field.state !== "missing");
}

function fieldsForm(
  { formToken }: Surroundings,
  { connector, fields }: Extract<CredentialState, { kind: "fields" }>,
): Markup {
  return html`<form method="post" class="fields">
    ${hidden({ form: formToken, action: "set", connector })}
    ${fields.map((field) => input(connector, field))}
    <button class="primary">Save<span class="unseen"> ${connector}</span></button>
  </form>`;
}

function input(connector: string, field: FieldState): Markup {
  const { name, title, description, state, ending, message } = field;
  const id = `${connector}.${name}`;
  const how = ending === undefined ? state : `${state}, ends in ${ending}`;
  return html`<div class="field">
    <label for="${id}">${told(title)}</label>
    <small id="${id}.how">
      ${how}${description === undefined ? "" : html`. ${told(description)}`}
      ${message === undefined ? "" : html`<span class="error">${told(message)}</span>`}
    </small>
    <input
      id="${id}"
      name="${FIELD}${name}"
      type="password"
      autocomplete="off"
      spellcheck="false"
      aria-describedby="${id}.how"
      placeholder="${state === "set" ? "Leave empty to keep it" : ""}"
    />
  </div>`;
}

function grant(state: Extract<CredentialState, { kind: "oauth" }>): Markup {
  const { issuer, scope, expiresAt, message, state: how } = state;
  return html`<dl>
    <dt>Authorization</dt>
    <dd>${state.grant === "client_credentials" ? "by the client itself" : "by a person"}, ${how}</dd>
    ${issuer === undefined ? "" : html`<dt>Server</dt><dd>${told(issuer)}</dd>`}
    ${scope === undefined ? "" : html`<dt>Scope</dt><dd>${told(scope)}</dd>`}
    ${expiresAt === undefined ? "" : html`<dt>Token until</dt><dd>${moment(expiresAt)}</dd>`}
    ${message === undefined ? "" : html`<dt>Problem</dt><dd class="error">${told(message)}</dd>`}
  </dl>`;
}

/** Does what a form asks for. */
export async function changeCredential(
  desk: Desk,
  form: URLSearchParams,
  changed: (connector: string) => void,
  scope: Scope,
): Promise<Notice> {
  const connector = form.get("connector") ?? "";
  const done = await carryOut(desk, connector, form, scope);
  if (!done.ok) return { kind: "bad", text: done.failure.message };
  changed(connector);
  return { kind: "good", ...done.value };
}

type Said = Omit<Notice, "kind">;

async function carryOut(
  desk: Desk,
  connector: string,
  form: URLSearchParams,
  scope: Scope,
): Promise<Outcome<Said>> {
  switch (form.get("action")) {
    case "set":
      return set(desk, connector, form);
    case "test": {
      const tested = await desk.test(connector, scope);
      return tested.ok ? ok({ text: tested.value }) : tested;
    }
    case "remove": {
      const removed = await desk.remove(connector);
      return removed.ok ? ok({ text: `The credential of ${connector} is removed.` }) : removed;
    }
    case "authorize":
      return authorize(desk, connector, scope);
    default:
      return fail("invalid_args", "The page has no such action.");
  }
}

async function set(desk: Desk, connector: string, form: URLSearchParams): Promise<Outcome<Said>> {
  const given = [...form].filter(([name, value]) => name.startsWith(FIELD) && value !== "");
  if (given.length === 0) return fail("invalid_args", "Nothing was filled in: nothing is changed.");
  const values = Object.fromEntries(
    given.map(([name, value]) => [name.slice(FIELD.length), value] as const),
  );
  const written = await desk.set(connector, values);
  if (!written.ok) return written;
  const state = (await desk.list()).find((one) => one.connector === connector);
  const fields = state?.kind === "fields" ? state.fields : [];
  const missing = fields.filter((field) => field.state === "missing").map(({ title }) => title);
  const next =
    missing.length > 0 ? `Still missing: ${missing.join(", ")}.` : "Its next call uses it.";
  return ok({ text: `The credential of ${connector} is saved. ${next}` });
}

async function authorize(desk: Desk, connector: string, scope: Scope): Promise<Outcome<Said>> {
  const begun = await desk.authorize(connector, scope, true);
  if (!begun.ok) return begun;
  const { url, message } = begun.value;
  if (typeof url !== "string") return ok({ text: String(message ?? "Nothing is to be done.") });
  // An authorization server chose it: an address that runs a script must not become a link.
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    return fail("connector_call_failed", `${connector} leads to an address that is no page.`);
  }
  const { host } = new URL(url);
  const more = html`<p>
    <a class="primary" href="${url}" target="_blank" rel="noopener noreferrer">Go on at ${told(host)}</a>
  </p>`;
  return ok({
    text: `Agree there, and ${connector} is authorized. The link holds ten minutes.`,
    more,
  });
}
