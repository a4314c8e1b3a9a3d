import type { CallToolResult } from "@modelcontextprotocol/client";
import { button, byId, el, formatBytes, formatMs, icon } from "./dom.ts";
import { jsonTree } from "./json.ts";
import { takeApart, type Parts, type Problem, type ToolCall } from "./result.ts";
import { Tabs } from "./tabs.ts";

const encoder = new TextEncoder();

interface FailOptions {
  /** Offered as “Try again”. */
  readonly retry?: () => void;
  /** Whether the view says the same, so that beside it only the actions are needed. */
  readonly isInView?: boolean;
}

/** The panels that show what a run gave back. */
export class Output {
  readonly tabs = new Tabs(byId("output-tabs", HTMLElement));
  readonly #problem = byId("problem", HTMLElement);
  readonly #result = byId("panel-result", HTMLElement);
  readonly #logs = byId("panel-logs", HTMLElement);
  readonly #diagnostics = byId("panel-diagnostics", HTMLElement);
  readonly #emitted = byId("panel-emitted", HTMLElement);
  readonly #meta = byId("run-meta", HTMLElement);
  readonly #empty = byId("view-empty", HTMLElement);
  readonly #goTo: (line: number, column: number) => void;
  readonly #approve: ((call: ToolCall) => void) | undefined;
  readonly #earlier = byId("earlier", HTMLElement);

  /**
   * @param goTo moves the editor's cursor to a place that an error names
   * @param approve carries out a call that needs a person; without it none is offered
   */
  constructor(
    goTo: (line: number, column: number) => void,
    approve: ((call: ToolCall) => void) | undefined,
  ) {
    this.#goTo = goTo;
    this.#approve = approve;
    this.tabs.select("tab-view");
    this.#fill("Nothing has run yet.");
  }

  /** A run began: what the last one left is out of date. */
  begin(): void {
    this.clearProblem();
    this.#empty.hidden = true;
    this.#meta.textContent = "Running…";
    for (const panel of [this.#result, this.#logs, this.#diagnostics, this.#emitted]) {
      panel.replaceChildren();
    }
    this.tabs.count("tab-emitted", 0);
    this.tabs.count("tab-logs", 0);
  }

  /**
   * Shows a tool result, whatever it is.
   * @param ms how long the call took, as the page saw it
   * @param isDelivered whether the view gets the same result and says what went wrong
   * @returns the result taken apart
   */
  show(result: CallToolResult, ms: number | undefined, isDelivered: boolean): Parts {
    const parts = takeApart(result);
    const bytes = formatBytes(encoder.encode(JSON.stringify(result)).length);
    this.#meta.textContent = ms === undefined ? bytes : `${formatMs(ms)} · ${bytes}`;
    if (parts.problem) this.fail(parts.problem, { isInView: isDelivered });
    this.#showResult(parts, result);
    const lines = parts.logs === "" ? 0 : parts.logs.trimEnd().split("\n").length;
    this.tabs.count("tab-logs", lines);
    this.#logs.replaceChildren(
      lines === 0 ? empty("The program logged nothing.") : el("pre", {}, parts.logs),
    );
    this.#diagnostics.replaceChildren(
      parts.diagnostics === undefined
        ? empty("Tick Diagnostics beside Run to see where the time of a run goes.")
        : jsonTree(parts.diagnostics, 4),
    );
    this.tabs.count("tab-emitted", parts.emitted.length);
    this.#emitted.replaceChildren(
      ...(parts.emitted.length === 0
        ? [empty("The program emitted no block.")]
        : parts.emitted.map((block) => showBlock(block))),
    );
    this.tabs.select(firstTab(parts));
    return parts;
  }

  /** Shows in words why there is no result, or that the result is a failure. */
  fail(problem: Problem, { retry, isInView }: FailOptions = {}): void {
    const { code, message, line, column = 1, excerpt, retryable, approvable } = problem;
    const approve = this.#approve;
    const strip = el(
      "div",
      { class: isInView === true ? "problem in-view" : "problem" },
      el("code", {}, code),
      el("span", { class: "problem-text" }, message),
    );
    if (retryable === true) strip.append(el("span", { class: "chip" }, "worth a retry"));
    if (excerpt !== undefined) strip.append(el("pre", { class: "excerpt" }, excerpt));
    if (line !== undefined) {
      const place = `line ${line}, column ${column}`;
      strip.append(
        button({ class: "link goto" }, () => this.#goTo(line, column), `Go to ${place}`),
      );
    }
    if (approvable && approve) {
      const label = `Approve ${String(approvable.arguments?.["address"] ?? "this call")}`;
      strip.append(button({ class: "approve" }, () => approve(approvable), label));
    }
    if (retry) strip.append(button({ class: "link" }, retry, "Try again"));
    this.#problem.replaceChildren(strip);
  }

  /** What went wrong no longer holds. */
  clearProblem(): void {
    this.#problem.replaceChildren();
  }

  /**
   * The run ended without a result.
   * @param words one or two, for the bar
   * @param sentence for every panel that would have shown a part of the result
   */
  end(words: string, sentence: string): void {
    this.#meta.textContent = words;
    this.#fill(sentence);
  }

  /** Says which program the output belongs to, when it is not the one that is chosen now. */
  belongTo(title: string | undefined): void {
    this.#earlier.hidden = title === undefined;
    this.#earlier.textContent =
      title === undefined ? "" : `Output of “${title}”. Press Run for the program chosen now.`;
  }

  #fill(words: string): void {
    for (const panel of [this.#result, this.#logs, this.#diagnostics, this.#emitted]) {
      panel.replaceChildren(empty(words));
    }
  }

  /** There is no view to show, and this is why. */
  explain(words: string): void {
    byId("view-empty-text", HTMLElement).textContent = words;
    this.#empty.hidden = false;
  }

  #showResult(parts: Parts, result: CallToolResult): void {
    const copy = button(
      { class: "ghost copy", "aria-label": "Copy the envelope as JSON", title: "Copy as JSON" },
      () => void navigator.clipboard.writeText(JSON.stringify(parts.envelope, null, 2)),
      icon("copy"),
    );
    this.#result.replaceChildren(
      copy,
      el("h3", {}, "Envelope", el("small", {}, "what the model reads")),
      jsonTree(parts.envelope, 4),
    );
    if (!parts.hasView) return;
    this.#result.append(
      el("h3", {}, "_meta", el("small", {}, "what only the view gets")),
      jsonTree(result._meta, 2),
    );
  }
}

function firstTab(parts: Parts): string {
  if (parts.problem) return "tab-result";
  if (parts.hasView) return "tab-view";
  return parts.emitted.length > 0 ? "tab-emitted" : "tab-result";
}

function empty(words: string): HTMLElement {
  return el("p", { class: "empty-text" }, words);
}

function showBlock(block: Parts["emitted"][number]): HTMLElement {
  const figure = el("figure", { class: "block" });
  const name = el("figcaption", {}, block.type);
  if (block.type === "text") figure.append(name, el("pre", {}, block.text));
  else if (block.type === "image" || block.type === "audio") {
    const src = `data:${block.mimeType};base64,${block.data}`;
    const size = formatBytes(Math.floor((block.data.length * 3) / 4));
    name.append(el("small", {}, `${block.mimeType} · ${size}`));
    figure.append(
      name,
      block.type === "image"
        ? el("img", { src, alt: "Image that the program emitted" })
        : el("audio", { src, controls: true, "aria-label": "Sound that the program emitted" }),
    );
  } else figure.append(name, jsonTree(block, 3));
  return figure;
}
