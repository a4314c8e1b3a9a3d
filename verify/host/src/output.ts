import type { CallToolResult } from "@modelcontextprotocol/client";
import { button, byId, el, formatBytes, formatMs, icon } from "./dom.ts";
import { jsonTree } from "./json.ts";
import { takeApart, type Parts, type Problem, type ToolCall } from "./result.ts";
import { Tabs } from "./tabs.ts";

const encoder = new TextEncoder();

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
  }

  /** A run began: what the last one left is out of date. */
  begin(): void {
    this.#problem.replaceChildren();
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
   * @returns the result taken apart
   */
  show(result: CallToolResult, ms: number | undefined): Parts {
    const parts = takeApart(result);
    const bytes = formatBytes(encoder.encode(JSON.stringify(result)).length);
    this.#meta.textContent = ms === undefined ? bytes : `${formatMs(ms)} · ${bytes}`;
    if (parts.problem) this.fail(parts.problem);
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
  fail(problem: Problem): void {
    const { code, message, line, column = 1, retryable, approvable } = problem;
    const approve = this.#approve;
    const strip = el(
      "div",
      { class: "problem" },
      el("code", {}, code),
      el("span", { class: "problem-text" }, message),
    );
    if (retryable === true) strip.append(el("span", { class: "chip" }, "worth a retry"));
    if (line !== undefined) {
      const place = `line ${line}, column ${column}`;
      strip.append(button({ class: "link" }, () => this.#goTo(line, column), `Go to ${place}`));
    }
    if (approvable && approve) {
      const label = `Approve ${String(approvable.arguments?.["address"] ?? "this call")}`;
      strip.append(button({ class: "approve" }, () => approve(approvable), label));
    }
    this.#problem.replaceChildren(strip);
  }

  /** The run ended without a result. */
  end(words: string): void {
    this.#meta.textContent = words;
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
