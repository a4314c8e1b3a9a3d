import { byId } from "./dom.ts";
import { Editor } from "./editor.ts";
import { Inspector } from "./inspector.ts";
import { MessageLog } from "./messages.ts";
import { Output } from "./output.ts";
import { Picker, type Item, type PickerOptions } from "./picker.ts";
import type { ToolCall } from "./result.ts";
import { splitter } from "./splitter.ts";
import { Stage } from "./stage.ts";
import { bindThemeSwitch, Theme } from "./theme.ts";

/** What a use of the page brings along. */
export interface WorkbenchOptions<T extends Item> extends PickerOptions<T> {
  readonly sandboxOrigin: string;
  readonly onRun: () => void;
  /** Carries out a call that the person approved; a use without a server has none. */
  readonly onApprove?: (call: ToolCall) => void;
}

/** The parts of the page, wired to each other but to no server. */
export interface Workbench {
  readonly editor: Editor;
  readonly output: Output;
  readonly stage: Stage;
  readonly log: MessageLog;
  readonly run: HTMLButtonElement;
}

/** Brings the page to life; the playground and the preview differ only in what they pass in. */
export function openWorkbench<T extends Item>(options: WorkbenchOptions<T>): Workbench {
  const theme = new Theme();
  bindThemeSwitch(theme, byId("theme", HTMLElement));
  bindSplitters();
  const editor = new Editor(
    byId("editor", HTMLElement),
    options.drafts === undefined,
    options.onRun,
  );
  const goTo = (line: number, column: number) => editor.goTo(line, column);
  const output = new Output(goTo, options.onApprove);
  const log = new MessageLog();
  new Inspector(log);
  const place = byId("stage", HTMLElement);
  const stage = new Stage(place, options.sandboxOrigin, log, theme, (message) =>
    output.fail({ code: "sandbox", message }),
  );
  byId("sandbox-origin", HTMLElement).textContent = `Views on ${options.sandboxOrigin}`;
  new Picker(options, editor);
  return { editor, output, stage, log, run: bindRun(options.onRun) };
}

function bindRun(onRun: () => void): HTMLButtonElement {
  const run = byId("run", HTMLButtonElement);
  const isMac = navigator.platform.startsWith("Mac");
  byId("run-keys", HTMLElement).textContent = isMac ? "⌘ ↵" : "Ctrl ↵";
  run.setAttribute("aria-keyshortcuts", isMac ? "Meta+Enter" : "Control+Enter");
  run.addEventListener("click", onRun);
  // The editor has its own binding, and has then already prevented the default.
  document.addEventListener("keydown", (event) => {
    const isRun = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    if (isRun && !event.defaultPrevented) onRun();
  });
  return run;
}

function bindSplitters(): void {
  const panel = (selector: string) => {
    const found = document.querySelector<HTMLElement>(selector);
    if (found) return found;
    throw new Error(`The page has no ${selector}.`);
  };
  splitter({
    separator: byId("split-columns", HTMLElement),
    property: "--program-width",
    axis: "x",
    panel: panel(".program"),
    grow: 1,
    min: 300,
    rest: 420,
  });
  splitter({
    separator: byId("split-rows", HTMLElement),
    property: "--inspector-height",
    axis: "y",
    panel: panel(".inspector"),
    grow: -1,
    min: 80,
    rest: 340,
  });
}

/** Marks which of the two uses of the page this is. */
export function markPage(id: "link-playground" | "link-preview"): void {
  byId(id, HTMLAnchorElement).setAttribute("aria-current", "page");
}
