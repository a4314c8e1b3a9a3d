import type { Tool } from "@modelcontextprotocol/client";
import { button, byId, el } from "./dom.ts";
import { Drafts } from "./drafts.ts";
import { Gateway, isForViews, type Result } from "./gateway.ts";
import type { Item } from "./picker.ts";
import type { ToolCall } from "./result.ts";
import { loadPrograms } from "./site.ts";
import { markPage, openWorkbench, type Workbench } from "./workbench.ts";

const EMPTY: Item = {
  id: "",
  title: "Empty",
  description: "No example programs were found; write your own.",
  code: "async () => {\n  return await connecta.search({});\n}\n",
};

const NO_RESULT = "There is no result to show.";

/** Runs programs on the server that the page came from. */
export class Playground {
  readonly #bench: Workbench;
  #gateway: Gateway | undefined;
  #running: AbortController | undefined;
  #chosen: Item | undefined;
  /** What the output belongs to. */
  #ran: Item | undefined;

  private constructor(items: readonly Item[], sandboxOrigin: string) {
    const asked = new URLSearchParams(location.search).get("program");
    this.#chosen = items.find(({ id }) => id === asked) ?? items[0];
    this.#bench = openWorkbench({
      items,
      chosen: this.#chosen,
      sandboxOrigin,
      drafts: new Drafts(),
      onChoose: (item) => this.#choose(item),
      onRun: () => void this.#runOrStop(),
      onApprove: (call) => void this.#approved(call),
    });
    markPage("link-playground");
  }

  /** Opens the playground; it stays usable while the server cannot be reached. */
  static async open(sandboxOrigin: string): Promise<void> {
    const programs = await loadPrograms();
    const page = new Playground(programs.length > 0 ? programs : [EMPTY], sandboxOrigin);
    await page.#connect();
  }

  #choose(item: Item): void {
    history.replaceState(null, "", `/?program=${encodeURIComponent(item.id)}`);
    this.#chosen = item;
    this.#bench.output.belongTo(this.#ran === item ? undefined : this.#ran?.title);
  }

  /** @param retry what the person asks for by “Try again” */
  async #connect(retry: () => void = () => void this.#connect()): Promise<boolean> {
    const { output, run } = this.#bench;
    showConnection("waiting", "Connecting…");
    const connected = await Gateway.connect(new URL("/mcp", location.href));
    run.disabled = false;
    if (!connected.ok) {
      this.#showGone();
      output.fail(connected.problem, { retry });
      return false;
    }
    this.#gateway = connected.value;
    output.clearProblem();
    showServer(connected.value);
    return true;
  }

  #showGone(): void {
    const retry = button({ class: "link" }, () => void this.#connect(), "Try again");
    showConnection("down", "Not connected", retry);
  }

  async #runOrStop(): Promise<void> {
    if (this.#running) return this.#running.abort();
    this.#ran = this.#chosen;
    this.#bench.output.belongTo(undefined);
    await this.#while((gateway, signal) => this.#run(gateway, signal));
  }

  /** The call that a program may not make, made by the person who pressed the button. */
  async #approved(call: ToolCall): Promise<void> {
    if (this.#running) return;
    await this.#while(async (gateway, signal) => {
      const since = performance.now();
      const answer = await gateway.call(call, signal);
      const { output } = this.#bench;
      if (answer.ok) output.show(answer.value, performance.now() - since, false);
      else {
        output.end("No result", NO_RESULT);
        if (!signal.aborted) output.fail(answer.problem);
      }
      this.#bench.output.tabs.select("tab-result");
    });
  }

  async #while(work: (gateway: Gateway, signal: AbortSignal) => Promise<void>): Promise<void> {
    const running = new AbortController();
    this.#running = running;
    this.#showRunning(true);
    this.#bench.output.begin();
    // On a narrow screen the answer stands below the program.
    byId("output", HTMLElement).scrollIntoView({ block: "start", behavior: "smooth" });
    try {
      const retry = () => void this.#runOrStop();
      if (this.#gateway === undefined && !(await this.#connect(retry))) {
        this.#bench.output.end("No result", NO_RESULT);
        return this.#bench.output.explain(NO_RESULT);
      }
      if (this.#gateway) await work(this.#gateway, running.signal);
    } finally {
      this.#running = undefined;
      this.#showRunning(false);
    }
  }

  async #run(gateway: Gateway, signal: AbortSignal): Promise<void> {
    const { editor, output, stage } = this.#bench;
    const diagnostics = byId("diagnostics", HTMLInputElement).checked;
    const args = { code: editor.code, ...(diagnostics && { diagnostics }) };
    const since = performance.now();
    let ms = 0;
    const called = gateway
      .call({ name: "execute_code", arguments: args }, signal)
      .then((answer) => {
        ms = performance.now() - since;
        return answer;
      });
    const mounted = this.#mount(gateway, args);
    const answer = await called;
    const isMounted = await mounted;
    if (answer.ok) {
      const { hasView, problem } = output.show(answer.value, ms, isMounted);
      if (!hasView && !problem) output.explain("This program rendered no view.");
      void stage.deliver({ kind: "result", result: answer.value });
      showConnection("up", gateway.server);
    } else if (signal.aborted) {
      output.end("Stopped", "Stopped before there was a result.");
      void stage.deliver({ kind: "cancelled", reason: "stopped by the person" });
    } else {
      output.end("No result", NO_RESULT);
      output.fail(answer.problem, { retry: () => void this.#runOrStop() });
      await stage.unmount();
      output.explain(NO_RESULT);
      if (answer.problem.code !== "no_answer") return;
      // The one that answers next may be another.
      this.#gateway = undefined;
      this.#showGone();
    }
  }

  /** @returns whether there is a view to deliver to */
  async #mount(gateway: Gateway, args: Record<string, unknown>): Promise<boolean> {
    const { output, stage } = this.#bench;
    const tool = gateway.tool("execute_code");
    const shell: Result<string> = await gateway.shellOf(tool);
    if (!shell.ok) {
      await stage.unmount();
      output.explain(shell.problem.message);
      return false;
    }
    await stage.mount(shell.value, {
      tool,
      find: (name) => gateway.tool(name),
      call: (call, signal) => gateway.call(call, signal),
    });
    void stage.deliver({ kind: "input", arguments: args });
    return true;
  }

  #showRunning(isRunning: boolean): void {
    byId("run-label", HTMLElement).textContent = isRunning ? "Stop" : "Run";
    this.#bench.run.classList.toggle("running", isRunning);
  }
}

function showConnection(state: "waiting" | "up" | "down", words: string, action?: Node): void {
  const place = byId("connection", HTMLElement);
  place.dataset["state"] = state;
  place.replaceChildren(words, ...(action ? [" ", action] : []));
}

function showServer(gateway: Gateway): void {
  showConnection("up", gateway.server);
  byId("protocol", HTMLElement).textContent = `MCP ${gateway.protocol}`;
  const opener = byId("tools-button", HTMLButtonElement);
  opener.hidden = false;
  opener.textContent = `${gateway.tools.length} tools`;
  byId("tools", HTMLElement).replaceChildren(
    el("h2", {}, "Tools of this server"),
    el("ul", {}, ...gateway.tools.map((tool) => describeTool(tool))),
  );
}

function describeTool(tool: Tool): HTMLElement {
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
  const chips = [el("span", { class: "chip" }, readOnlyHint === true ? "reads" : "acts")];
  if (destructiveHint === true) chips.push(el("span", { class: "chip refused" }, "asks first"));
  if (isForViews(tool)) chips.push(el("span", { class: "chip read" }, "for views too"));
  return el("li", {}, el("code", {}, tool.name), ...chips);
}
