import type { Tool } from "@modelcontextprotocol/client";
import { button, byId, el } from "./dom.ts";
import { Gateway, isForViews, type Result } from "./gateway.ts";
import type { ToolCall } from "./result.ts";
import { loadPrograms } from "./site.ts";
import { markPage, openWorkbench, type Item, type Workbench } from "./workbench.ts";

const EMPTY: Item = {
  id: "",
  title: "Empty",
  description: "No example programs were found; write your own.",
  code: "async () => {\n  return await connecta.search({});\n}\n",
};

/** Runs programs on the server that the page came from. */
export class Playground {
  readonly #bench: Workbench;
  #gateway: Gateway | undefined;
  #running: AbortController | undefined;

  private constructor(items: readonly Item[], sandboxOrigin: string) {
    const asked = new URLSearchParams(location.search).get("program");
    this.#bench = openWorkbench({
      items,
      chosen: items.find(({ id }) => id === asked) ?? items[0],
      sandboxOrigin,
      readOnly: false,
      onChoose: ({ id }) => history.replaceState(null, "", `/?program=${encodeURIComponent(id)}`),
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

  async #connect(): Promise<boolean> {
    showConnection("waiting", "Connecting…");
    const connected = await Gateway.connect(new URL("/mcp", location.href));
    this.#bench.run.disabled = false;
    if (!connected.ok) {
      const retry = button({ class: "link" }, () => void this.#connect(), "Try again");
      showConnection("down", "Not connected", retry);
      this.#bench.output.fail(connected.problem);
      return false;
    }
    this.#gateway = connected.value;
    showServer(connected.value);
    return true;
  }

  async #runOrStop(): Promise<void> {
    if (this.#running) return this.#running.abort();
    await this.#while((gateway, signal) => this.#run(gateway, signal));
  }

  /** The call that a program may not make, made by the person who pressed the button. */
  async #approved(call: ToolCall): Promise<void> {
    if (this.#running) return;
    await this.#while(async (gateway, signal) => {
      const since = performance.now();
      const answer = await gateway.call(call, signal);
      if (answer.ok) this.#bench.output.show(answer.value, performance.now() - since);
      else this.#bench.output.fail(answer.problem);
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
      if (this.#gateway === undefined && !(await this.#connect())) return;
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
    await mounted;
    if (answer.ok) {
      const { hasView, problem } = output.show(answer.value, ms);
      if (!hasView && !problem) output.explain("This program rendered no view.");
      void stage.deliver({ kind: "result", result: answer.value });
      showConnection("up", gateway.server);
    } else if (signal.aborted) {
      output.end("Stopped");
      void stage.deliver({ kind: "cancelled", reason: "stopped by the person" });
    } else {
      output.end("No result");
      output.fail(answer.problem);
      output.explain("There is no result to show.");
      void stage.deliver({ kind: "cancelled", reason: answer.problem.message });
      if (answer.problem.code === "no_answer") showConnection("down", "Not connected");
    }
  }

  async #mount(gateway: Gateway, args: Record<string, unknown>): Promise<void> {
    const { output, stage } = this.#bench;
    const tool = gateway.tool("execute_code");
    const shell: Result<string> = await gateway.shellOf(tool);
    if (!shell.ok) {
      await stage.unmount();
      output.explain(shell.problem.message);
      return;
    }
    await stage.mount(shell.value, {
      tool,
      find: (name) => gateway.tool(name),
      call: (call, signal) => gateway.call(call, signal),
    });
    void stage.deliver({ kind: "input", arguments: args });
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
