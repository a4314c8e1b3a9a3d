import { html } from "hono/html";
import { inspect, type InspectedTool, type Inspection } from "../../catalog/inspect.ts";
import type { Tool } from "../../shared/contracts.ts";
import { LIMITS } from "../../shared/limits.ts";
import type { Scope } from "../../shared/scope.ts";
import type { ConnectionsSource } from "./connections.ts";
import { told, type Markup } from "./markup.ts";

const WHY = {
  annotation: "as the tool says",
  config: "as the config says",
  none: "the tool does not say",
} as const;

const KINDS = {
  "read-only": "good",
  "needs approval": "warn",
  hidden: "plain",
  "set aside": "bad",
} as const;

/** The tools of one connector, each with its class and why; first those that deserve a look. */
export async function tools(
  { connectors, catalogs }: Pick<ConnectionsSource, "connectors" | "catalogs">,
  chosen: string | undefined,
  scope: Scope,
): Promise<Markup> {
  const connector = connectors.find(({ id }) => id === chosen) ?? connectors[0];
  if (connector === undefined) return html`<p class="empty">No connector is configured.</p>`;
  const timeoutMs = LIMITS.catalogTimeoutMs.value;
  const [[found], loaded] = await Promise.all([
    inspect([connector], scope.signal, timeoutMs),
    catalogs.load(connector.id, scope),
  ]);
  const described: ReadonlyMap<string, Tool> = loaded.ok ? loaded.value.tools : new Map();
  const options = connectors.map(
    ({ id }) => html`<option ${id === connector.id ? "selected" : ""}>${id}</option>`,
  );
  return html`<form class="filters" method="get">
      <label>Connector<select name="connector">${options}</select></label>
      <button class="ghost">Show</button>
    </form>
    ${found === undefined ? "" : result(found, described)}`;
}

function result(found: Inspection, described: ReadonlyMap<string, Tool>): Markup {
  if (!found.ok) {
    return html`<div class="notice bad"><p>Not loaded (${found.code}): ${told(found.message)}</p></div>`;
  }
  const warnings = found.warnings.map((one) => html`<p class="notice warn">${told(one)}</p>`);
  if (found.tools.length === 0) return html`${warnings}<p class="empty">It has no tools.</p>`;
  return html`${warnings}
    <ul class="rows card">
      ${found.tools.map((tool) => row(tool, described.get(tool.name)?.description))}
    </ul>`;
}

function row(tool: InspectedTool, description: string | undefined): Markup {
  const { name, why, note, suspicious } = tool;
  return html`<li>
    <div class="line">
      <code>${told(name)}</code>
      <span class="chip ${KINDS[tool.class]}">${tool.class}</span>
      <small>${tool.class === "set aside" ? "" : WHY[why]}</small>
    </div>
    ${
      typeof description === "string" && description !== ""
        ? html`<p class="quiet">${told(description)}</p>`
        : ""
    }
    ${
      note === undefined
        ? ""
        : html`<p class="${suspicious === true ? "error" : "quiet"}">
          ${suspicious === true ? "Look at this one: " : ""}${told(note)}
        </p>`
    }
  </li>`;
}
