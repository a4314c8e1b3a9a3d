import css from "./shell.css?raw";
import type { Insets } from "./room.ts";
import { DEFAULT_STYLES } from "./variables.ts";
import { clamp } from "./words.ts";

/** Pixels of the row that holds the fullscreen button; `shell.css` sets the same. */
export const BAR_HEIGHT = 28;

/** Far more than the few lines that are shown; a host may send a hundred megabytes. */
const LINE_CHARS = 2_000;
const CODE_CHARS = 64;

/** All that the shell itself draws. Every text goes through `textContent`. */
export class Stage {
  readonly root: HTMLElement;
  readonly #bar: HTMLElement;
  readonly #toggle: HTMLButtonElement;
  #frame: HTMLIFrameElement | undefined;

  /** @param page the document to draw in; it may hold other things, which stay untouched */
  constructor(page: Document) {
    const style = page.createElement("style");
    style.textContent = DEFAULT_STYLES.css + css;
    page.head.append(style);
    this.root = page.createElement("main");
    this.root.className = "connecta";
    this.#bar = page.createElement("div");
    this.#bar.className = "connecta-bar";
    this.#toggle = page.createElement("button");
    this.#toggle.type = "button";
    this.#toggle.append(fullscreenIcon(page));
    this.#bar.append(this.#toggle);
    page.body.append(this.root);
  }

  /** Shows one line of words, with a code before them when there is one. */
  showLine(text: string, code?: string): void {
    const page = this.root.ownerDocument;
    const line = page.createElement("p");
    line.className = "connecta-line";
    line.setAttribute("role", "status");
    if (code !== undefined) {
      const tag = page.createElement("code");
      tag.className = "connecta-code";
      tag.textContent = clamp(code, CODE_CHARS);
      line.append(tag);
    }
    line.append(page.createTextNode(clamp(text, LINE_CHARS)));
    this.root.replaceChildren(line);
  }

  /** Shows nothing at all. */
  clear(): void {
    this.root.replaceChildren();
  }

  /** Shows the view; only once, because moving a frame loads it again. */
  showFrame(frame: HTMLIFrameElement): void {
    this.#frame = frame;
    frame.className = "connecta-view";
    this.root.replaceChildren(frame);
  }

  /** Offers, relabels or withdraws the fullscreen button under the view. */
  offerFullscreen(offer: { readonly active: boolean; onToggle(): void } | undefined): void {
    if (!offer) return this.#bar.remove();
    const label = offer.active ? "Leave full screen" : "Full screen";
    this.#toggle.setAttribute("aria-label", label);
    this.#toggle.title = label;
    this.#toggle.onclick = () => offer.onToggle();
    if (!this.#bar.isConnected) this.root.append(this.#bar);
  }

  /**
   * Lays the view out.
   * @param height pixels of the inner frame, or `undefined` to fill the window
   * @param insets pixels that the device covers at each edge
   */
  layOut(height: number | undefined, insets: Insets): void {
    const { top, right, bottom, left } = insets;
    this.root.classList.toggle("connecta-full", height === undefined);
    this.root.style.padding = `${top}px ${right}px ${bottom}px ${left}px`;
    if (this.#frame) this.#frame.style.height = height === undefined ? "" : `${height}px`;
  }
}

function fullscreenIcon(page: Document): SVGElement {
  const svg = page.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("width", "14");
  svg.setAttribute("height", "14");
  svg.setAttribute("aria-hidden", "true");
  const path = page.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4");
  path.setAttribute("fill", "none");
  path.setAttribute("stroke", "currentColor");
  path.setAttribute("stroke-width", "1.5");
  svg.append(path);
  return svg;
}
