/** What an element may hold. */
export type Child = Node | string | undefined;

type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/** Builds an element; `true` sets an empty attribute, `false` and `undefined` set none. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/** A button whose press runs `onClick`. */
export function button(
  attributes: Attributes,
  onClick: () => void,
  ...children: readonly Child[]
): HTMLButtonElement {
  const element = el("button", { type: "button", ...attributes }, ...children);
  element.addEventListener("click", onClick);
  return element;
}

/**
 * The element that the page declares under an id.
 * @throws when the page and the code disagree, which is a bug
 */
export function byId<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.getElementById(id);
  if (element instanceof type) return element;
  throw new Error(`The page has no ${type.name} with the id ${id}.`);
}

const SVG = "http://www.w3.org/2000/svg";

const ICONS = {
  copy: "M5.5 5.5V3h7.5v7.5h-2.5M3 5.5h7.5V13H3z",
  expand: "M9.5 2.5h4v4M13.5 2.5 9 7M6.5 13.5h-4v-4M2.5 13.5 7 9",
  shrink: "M13 6.5H9.5V3M9.5 6.5l4-4M3 9.5h3.5V13M6.5 9.5l-4 4",
  chevron: "m4 6 4 4 4-4",
} as const;

/** A 16-pixel line icon, invisible to assistive technology. */
export function icon(name: keyof typeof ICONS): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** Bytes for a person: `812 B`, `12.4 kB`, `3.9 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(bytes < 100_000 ? 1 : 0)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Milliseconds for a person: `4.2 ms`, `340 ms`, `2.41 s`. */
export function formatMs(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${(ms / 1000).toFixed(2)} s`;
}
