import { html } from "hono/html";
import {
  ACTIVITY_SOURCES,
  type ActivityEvent,
  type ActivityFilter,
  type ActivityStore,
} from "../../shared/activity.ts";
import type { Connector } from "../../shared/contracts.ts";
import { fail, type Outcome } from "../../shared/failure.ts";
import { plain, type Markup } from "./markup.ts";

const SHOWN = 100;
const OUTCOMES = { ok: "ok", failed: "failed" } as const;

type Store = Pick<ActivityStore, "read"> | undefined;

/** One call as the page shows it; everything is text. */
export interface ShownEvent {
  readonly time: string;
  readonly source: string;
  readonly address: string;
  readonly outcome: string;
  readonly isOk: boolean;
  readonly took: string;
  readonly caller: string;
}

/** The calls that were recorded, the newest first, with what chooses among them. */
export async function activity(
  base: string,
  store: Store,
  connectors: readonly Connector[],
  query: URLSearchParams,
): Promise<Markup> {
  if (store === undefined) return html`<p class="empty">The config records no calls.</p>`;
  const filter = filterOf(query);
  const read = await store.read({ ...filter, limit: SHOWN });
  if (!read.ok) return html`<p class="notice bad">${read.failure.message}</p>`;
  const { events, cursor } = read.value;
  const ids = Object.fromEntries(connectors.map(({ id }) => [id, id]));
  return html`<form class="filters" method="get">
      ${choice("Connector", "connector", ids, filter.connector)}
      ${choice("Outcome", "outcome", OUTCOMES, filter.outcome)}
      ${choice("Source", "source", ACTIVITY_SOURCES, filter.source)}
      <button class="ghost">Filter</button>
      <label class="check" hidden><input type="checkbox" id="follow" />Follow</label>
      <span id="following" class="quiet" role="status"></span>
    </form>
    <div class="card scrolls" tabindex="0" role="region" aria-label="Calls">
      <table id="events" data-cursor="${cursor}" data-from="${base}/activity/since" data-most="${SHOWN}">
        <thead>
          <tr>
            <th scope="col">Time (UTC)</th>
            <th scope="col">Source</th>
            <th scope="col">Tool</th>
            <th scope="col">Outcome</th>
            <th scope="col" class="num">Took</th>
            <th scope="col">Caller</th>
          </tr>
        </thead>
        <tbody>${events.map(shown).map(row)}</tbody>
      </table>
      <p class="empty" id="none" ${events.length > 0 ? "hidden" : ""}>Nothing was recorded.</p>
    </div>`;
}

/** What was recorded after a cursor, oldest first. */
export async function since(
  store: Store,
  query: URLSearchParams,
): Promise<Outcome<{ readonly events: readonly ShownEvent[]; readonly cursor: string }>> {
  if (store === undefined) return fail("not_found", "The config records no calls.");
  const after = query.get("after") ?? "";
  const read = await store.read({ ...filterOf(query), after, limit: SHOWN });
  if (!read.ok) return read;
  const { events, cursor } = read.value;
  return { ok: true, value: { events: events.map(shown), cursor } };
}

function filterOf(query: URLSearchParams): ActivityFilter {
  const connector = query.get("connector") || undefined;
  return {
    connector,
    outcome: keyIn(OUTCOMES, query.get("outcome")),
    source: keyIn(ACTIVITY_SOURCES, query.get("source")),
  };
}

function keyIn<T extends object>(known: T, given: string | null): keyof T | undefined {
  return (Object.keys(known) as (keyof T)[]).find((key) => key === given);
}

function choice(
  label: string,
  name: string,
  options: Readonly<Record<string, string>>,
  chosen: string | undefined,
): Markup {
  return html`<label>
    ${label}
    <select name="${name}">
      <option value="">All</option>
      ${Object.entries(options).map(
        ([value, title]) =>
          html`<option value="${value}" ${value === chosen ? "selected" : ""}>${title}</option>`,
      )}
    </select>
  </label>`;
}

function shown(event: ActivityEvent): ShownEvent {
  const { time, source, address, outcome, code, durationMs, attempts, principal } = event;
  const how = outcome === "ok" ? "ok" : (code ?? "failed");
  return {
    time: new Date(time).toISOString().slice(0, 19).replace("T", " "),
    source: ACTIVITY_SOURCES[source],
    address: plain(address),
    outcome: attempts > 1 ? `${how} ×${attempts}` : how,
    isOk: outcome === "ok",
    took:
      durationMs < 1_000 ? `${durationMs.toFixed(1)} ms` : `${(durationMs / 1_000).toFixed(1)} s`,
    caller: plain(principal),
  };
}

function row({ time, source, address, outcome, isOk, took, caller }: ShownEvent): Markup {
  return html`<tr>
    <td>${time}</td>
    <td>${source}</td>
    <td><bdi>${address}</bdi></td>
    <td class="${isOk ? "fine" : "error"}">${outcome}</td>
    <td class="num">${took}</td>
    <td><bdi>${caller}</bdi></td>
  </tr>`;
}
