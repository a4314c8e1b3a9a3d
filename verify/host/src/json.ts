import { button, el, type Child } from "./dom.ts";

const SHOWN_CHARS = 2_000;
const SHOWN_ITEMS = 200;

/**
 * A JSON value as a tree that opens and closes; branches are built when first opened.
 * @param depth levels that start open
 */
export function jsonTree(value: unknown, depth = 2): HTMLElement {
  return el("div", { class: "json" }, node(undefined, value, depth));
}

function node(name: string | undefined, value: unknown, depth: number): HTMLElement {
  if (typeof value !== "object" || value === null) {
    return el("div", { class: "json-row" }, ...label(name), scalar(value));
  }
  const entries = Object.entries(value);
  const isList = Array.isArray(value);
  if (entries.length === 0) {
    return el("div", { class: "json-row" }, ...label(name), isList ? "[ ]" : "{ }");
  }
  const count = isList ? `[ ${entries.length} ]` : `{ ${entries.length} }`;
  const hint = el("span", { class: "json-hint" }, count);
  const details = el("details", {}, el("summary", {}, ...label(name), hint));
  let built = false;
  const build = () => {
    if (built) return;
    built = true;
    details.append(branch(entries, 0, depth - 1));
  };
  details.addEventListener("toggle", () => details.open && build());
  if (depth > 0) {
    build();
    details.open = true;
  }
  return details;
}

function branch(entries: [string, unknown][], from: number, depth: number): HTMLElement {
  const list = el("div", { class: "json-branch" });
  const shown = entries.slice(from, from + SHOWN_ITEMS);
  list.append(...shown.map(([name, value]) => node(name, value, depth)));
  const rest = entries.length - from - shown.length;
  if (rest > 0) {
    const more = button(
      { class: "link" },
      () => {
        more.replaceWith(branch(entries, from + SHOWN_ITEMS, depth));
      },
      `${rest} more`,
    );
    list.append(more);
  }
  return list;
}

function label(name: string | undefined): Child[] {
  return name === undefined ? [] : [el("span", { class: "json-key" }, name), ": "];
}

function scalar(value: unknown): HTMLElement {
  if (typeof value !== "string") {
    return el("span", { class: `json-${value === null ? "null" : typeof value}` }, String(value));
  }
  const text = el("span", { class: "json-string" });
  const quoted = JSON.stringify(value);
  text.textContent = quoted.slice(0, SHOWN_CHARS);
  const rest = quoted.length - SHOWN_CHARS;
  if (rest > 0) {
    const more = button(
      { class: "link" },
      () => {
        text.textContent = quoted;
      },
      `… ${rest.toLocaleString("en")} more characters`,
    );
    text.append(" ", more);
  }
  return text;
}
