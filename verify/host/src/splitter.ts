import { keep, recall } from "./stored.ts";

const STEP = 24;

/** One separator that a person drags, or moves with the arrow keys. */
export interface SplitterOptions {
  readonly separator: HTMLElement;
  /** Custom property of the layout that holds the size, in pixels. */
  readonly property: `--${string}`;
  readonly axis: "x" | "y";
  /** The panel whose size changes; `grow` says whether it grows with the pointer's coordinate. */
  readonly panel: HTMLElement;
  readonly grow: 1 | -1;
  readonly min: number;
  /** Room that the other side keeps, in pixels. */
  readonly rest: number;
}

/** Makes a separator work, and remembers where it was left. */
export function splitter(options: SplitterOptions): void {
  const { separator, property, axis, panel, grow, min, rest } = options;
  const root = document.documentElement;
  const key = `connecta${property}`;
  const size = () => (axis === "x" ? panel.offsetWidth : panel.offsetHeight);
  const room = () => (axis === "x" ? window.innerWidth : window.innerHeight);
  const set = (pixels: number) => {
    const kept = Math.round(Math.max(min, Math.min(pixels, room() - rest)));
    root.style.setProperty(property, `${kept}px`);
    separator.setAttribute("aria-valuenow", String(kept));
    separator.setAttribute("aria-valuemin", String(min));
    separator.setAttribute("aria-valuemax", String(Math.max(min, room() - rest)));
    keep("localStorage", key, String(kept));
  };
  separator.addEventListener("pointerdown", (down) => {
    const from = axis === "x" ? down.clientX : down.clientY;
    const before = size();
    const stop = new AbortController();
    separator.setPointerCapture(down.pointerId);
    root.classList.add("dragging");
    const move = (event: PointerEvent) => {
      set(before + grow * ((axis === "x" ? event.clientX : event.clientY) - from));
    };
    const end = () => {
      root.classList.remove("dragging");
      stop.abort();
    };
    separator.addEventListener("pointermove", move, { signal: stop.signal });
    separator.addEventListener("lostpointercapture", end, { signal: stop.signal });
  });
  separator.addEventListener("keydown", (event) => {
    const towards = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (towards === undefined) return;
    event.preventDefault();
    set(size() + grow * towards * STEP);
  });
  const stored = Number(recall("localStorage", key));
  if (stored > 0) set(stored);
}
