import { html } from "hono/html";
import type { CredentialState } from "../../access/desk.ts";
import type { Catalogs } from "../../catalog/catalogs.ts";
import type { ActivityEvent, ActivityStore } from "../../shared/activity.ts";
import type { Connector } from "../../shared/contracts.ts";
import { knownCode } from "../../shared/failure.ts";
import { LIMITS } from "../../shared/limits.ts";
import { withDeadline, type Scope } from "../../shared/scope.ts";
import { moment, told, type Markup } from "./markup.ts";

/** So long the page waits for connectors that were not reached yet, in milliseconds. */
const PATIENCE_MS = 2_000;

/** What of a deployment its connections are read from. */
export interface ConnectionsSource {
  readonly connectors: readonly Connector[];
  readonly catalogs: Catalogs;
  readonly activity: Pick<ActivityStore, "read"> | undefined;
}

/** Every connector with how it is, and what went wrong last. */
export async function connections(
  base: string,
  source: ConnectionsSource,
  credentials: readonly CredentialState[],
  scope: Scope,
): Promise<Markup> {
  const { connectors, catalogs } = source;
  if (connectors.length === 0) return html`<p class="empty">No connector is configured.</p>`;
  const [failed, states] = await Promise.all([
    lastFailures(source),
    Promise.all(connectors.map(({ id }) => stateOf(catalogs, id, scope))),
  ]);
  const cards = connectors.map((connector, at) => {
    const { id, title, description = "" } = connector;
    const state = states[at] ?? WAITING;
    const credential = credentials.find((one) => one.connector === id);
    const last = failed.get(id);
    return html`<li class="card">
      <h2>${told(title ?? id)}${title === undefined ? "" : html`<code>${id}</code>`}</h2>
      ${description === "" ? "" : html`<p class="quiet">${told(description)}</p>`}
      <p class="marks">
        <span class="chip ${state.kind}">${state.word}</span>
        ${credential === undefined ? "" : credentialChip(base, credential)}
        <a href="${base}/tools?connector=${encodeURIComponent(id)}">Tools</a>
      </p>
      ${state.error === undefined ? "" : html`<p class="error">${told(state.error)}</p>`}
      ${last === undefined ? "" : lastFailure(last)}
    </li>`;
  });
  return html`<ul class="cards">${cards}</ul>`;
}

interface State {
  readonly kind: "good" | "warn" | "bad" | "plain";
  readonly word: string;
  readonly error?: string;
}

const WAITING: State = {
  kind: "plain",
  word: "not reached yet",
  error: "It has not answered so far. Load this page again in a moment.",
};

async function stateOf(catalogs: Catalogs, id: string, scope: Scope): Promise<State> {
  const what = `The tool list of ${id}`;
  const loaded = await withDeadline(scope, PATIENCE_MS, what, (inner) => catalogs.load(id, inner));
  const setback = catalogs.setback(id);
  if (loaded.ok) {
    const { size } = loaded.value.tools;
    const word = size === 1 ? "1 tool" : `${size} tools`;
    if (setback === undefined) return { kind: "good", word };
    return { kind: "warn", word: `${word}, not refreshed`, error: setback.message };
  }
  const { code, message } = loaded.failure;
  if (code === "timeout" && setback === undefined) return WAITING;
  const error = setback?.message ?? message;
  return code === "auth_required"
    ? { kind: "warn", word: "needs a credential", error }
    : { kind: "bad", word: "not reached", error };
}

function credentialChip(base: string, state: CredentialState): Markup {
  const [kind, word] = summaryOf(state);
  return html`<a class="chip ${kind}" href="${base}/credentials#${state.connector}">${word}</a>`;
}

/** A credential in a word, with how good that is. */
export function summaryOf(state: CredentialState): readonly [State["kind"], string] {
  const all: readonly string[] =
    state.kind === "fields" ? state.fields.map((one) => one.state) : [state.state];
  if (all.includes("unreadable")) return ["bad", "credential unreadable"];
  if (all.includes("missing")) return ["warn", "credential missing"];
  if (all.includes("ended")) return ["warn", "authorization ended"];
  return ["good", state.kind === "fields" ? "credential set" : "authorized"];
}

/** The newest failed call of each connector, among what was recorded lately. */
async function lastFailures({ activity }: ConnectionsSource) {
  const found = new Map<string, ActivityEvent>();
  const read = await activity?.read({ limit: LIMITS.activityPage.value });
  if (!read?.ok) return found;
  for (const event of read.value.events) {
    const { connector, outcome } = event;
    if (connector === undefined || outcome === "ok" || found.has(connector)) continue;
    found.set(connector, event);
  }
  return found;
}

function lastFailure({ address, code, time }: ActivityEvent): Markup {
  const how = knownCode(code) ?? "failed";
  return html`<p class="quiet">
    Last failed call: <code>${told(address)}</code> ${how}, ${moment(time)}
  </p>`;
}
