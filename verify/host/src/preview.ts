import shellHtml from "virtual:connecta-shell";
import { button, byId } from "./dom.ts";
import { answerRead, FIXTURES, type Fixture } from "./fixtures.ts";
import type { Item } from "./picker.ts";
import type { ViewServer } from "./stage.ts";
import { markPage, openWorkbench, type Workbench } from "./workbench.ts";

type Entry = Item & { readonly fixture: Fixture };

const ENTRIES: readonly Entry[] = FIXTURES.map((fixture) => ({
  id: fixture.id,
  title: fixture.title,
  description: fixture.description,
  code: explain(fixture),
  fixture,
}));

/**
 * Shows the built shell in one of its states, with fixed messages and no server.
 * @param name fixture to begin with; an unknown one begins with the first
 */
export async function openPreview(sandboxOrigin: string, name: string): Promise<void> {
  let chosen = ENTRIES.find(({ id }) => id === name) ?? ENTRIES[0];
  const show = () => (chosen ? deliver(bench, chosen.fixture) : Promise.resolve());
  const bench = openWorkbench({
    items: ENTRIES,
    chosen,
    sandboxOrigin,
    onChoose: (entry) => {
      chosen = entry;
      history.replaceState(null, "", `/?fixture=${entry.id}`);
      void show();
    },
    onRun: () => void show(),
  });
  markPage("link-preview");
  byId("picker-label", HTMLElement).textContent = "Fixture";
  byId("run-label", HTMLElement).textContent = "Deliver";
  byId("diagnostics-label", HTMLElement).hidden = true;
  byId("connection", HTMLElement).textContent = "Preview: fixed results, no server";
  bench.run.disabled = false;
  await show();
}

async function deliver(bench: Workbench, fixture: Fixture): Promise<void> {
  const { output, stage } = bench;
  output.begin();
  output.end("", "No result is delivered yet.");
  offerMore(bench, fixture);
  if (shellHtml === undefined) {
    return output.explain("The shell is not built: run “npm run build” first.");
  }
  fixHeight(fixture.fixedHeight);
  await stage.mount(shellHtml, serverOf(fixture));
  if (fixture.input) void stage.deliver({ kind: "input", arguments: { code: "async () => …" } });
  if (fixture.result) {
    void stage.deliver({ kind: "result", result: fixture.result });
    output.show(fixture.result, undefined, true);
  }
  if (fixture.cancelled !== undefined) {
    void stage.deliver({ kind: "cancelled", reason: fixture.cancelled });
  }
  if (fixture.tornDown === true) void stage.deliver({ kind: "teardown" });
  output.tabs.select("tab-view");
}

/** Lets views have this height and no other, or, without one, the room and the say they always have. */
function fixHeight(height: string | undefined): void {
  const place = byId("stage", HTMLElement);
  place.classList.toggle("fixed", height !== undefined);
  place.style.setProperty("--fixed-height", height ?? null);
}

function serverOf(fixture: Fixture): ViewServer {
  const tool = {
    name: "call_tool",
    inputSchema: { type: "object" as const },
    _meta: { ui: { visibility: ["model", "app"] } },
  };
  const find = (name: string) => (name === tool.name ? tool : undefined);
  if (!fixture.serverTools) return { tool: undefined, find };
  return { tool: undefined, find, call: async (call) => ({ ok: true, value: answerRead(call) }) };
}

function offerMore(bench: Workbench, fixture: Fixture): void {
  const { late } = fixture;
  const down = button({ class: "ghost" }, () => void bench.stage.unmount(), "Tear down");
  const more = button(
    { class: "ghost" },
    () => late && void bench.stage.deliver({ kind: "result", result: late }),
    "Late result",
  );
  byId("extra-actions", HTMLElement).replaceChildren(...(late ? [more, down] : [down]));
}

function explain(fixture: Fixture): string {
  if (fixture.result) return `${JSON.stringify(fixture.result, null, 2)}\n`;
  if (fixture.cancelled !== undefined) {
    return `// ui/notifications/tool-cancelled\n${JSON.stringify({ reason: fixture.cancelled })}\n`;
  }
  return "// No result is delivered.\n";
}
