import { byId, el, formatBytes, formatMs } from "./dom.ts";
import { jsonTree } from "./json.ts";
import type { Entry, LogEvent, MessageLog } from "./messages.ts";

const ROLE_SIGNS = { request: "", result: "result of ", error: "error of ", notification: "" };

/** The long common prefix is kept but steps back, so that the eye finds the name. */
function name(method: string): (Node | string)[] {
  const prefix = "ui/notifications/";
  if (!method.startsWith(prefix)) return [method];
  return [el("span", { class: "prefix" }, prefix), method.slice(prefix.length)];
}

/** The list of every message between view and host, with the chosen one beside it. */
export class Inspector {
  readonly #log: MessageLog;
  readonly #rows = byId("messages", HTMLTableSectionElement);
  readonly #scroller = byId("message-list", HTMLElement);
  readonly #detail = byId("message-detail", HTMLElement);
  readonly #filter = byId("filter", HTMLInputElement);
  readonly #only = byId("only", HTMLSelectElement);
  readonly #counts = byId("counts", HTMLElement);
  readonly #none = byId("no-messages", HTMLElement);
  readonly #byEntry = new Map<Entry, HTMLTableRowElement>();
  #chosen: Entry | undefined;

  constructor(log: MessageLog) {
    this.#log = log;
    log.subscribe((event) => this.#onLog(event));
    this.#filter.addEventListener("input", () => this.#applyFilter());
    this.#only.addEventListener("change", () => this.#applyFilter());
    byId("clear", HTMLButtonElement).addEventListener("click", () => log.clear());
    this.#rows.addEventListener("click", ({ target }) => {
      const row = target instanceof Element ? target.closest("tr") : null;
      if (row) this.#choose(row);
    });
    this.#rows.addEventListener("keydown", (event) => this.#onKey(event));
    for (const part of [this.#scroller, this.#detail]) {
      part.addEventListener("keydown", ({ key }) => key === "Escape" && this.#close());
    }
    new ResizeObserver(() => this.#align()).observe(this.#scroller);
    this.#showCounts();
  }

  #onLog(event: LogEvent): void {
    if (event.kind === "cleared") {
      this.#byEntry.clear();
      this.#rows.replaceChildren();
      this.#show(undefined);
    } else if (event.kind === "changed") {
      const row = this.#byEntry.get(event.entry);
      if (row) this.#fill(row, event.entry);
    } else this.#append(event.entry);
    this.#showCounts();
  }

  #append(entry: Entry): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
    const follows = scrollTop + clientHeight >= scrollHeight - 4;
    const row = el("tr", {
      tabindex: this.#byEntry.size === 0 ? "0" : "-1",
      "aria-selected": "false",
    });
    this.#fill(row, entry);
    row.hidden = !this.#matches(entry);
    this.#byEntry.set(entry, row);
    this.#rows.append(row);
    this.#dropOldest();
    if (!follows) return;
    this.#align();
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
  }

  /** Leaves so much room below the last row that at the end of the list the first one is whole. */
  #align(): void {
    const table = this.#rows.parentElement;
    const height = [...this.#byEntry.values()].find((row) => !row.hidden)?.offsetHeight ?? 0;
    if (table === null) return;
    if (height === 0) return void (table.style.marginBottom = "");
    const room = this.#scroller.clientHeight - (table.querySelector("thead")?.offsetHeight ?? 0);
    table.style.marginBottom = `${Math.max(0, room) % height}px`;
  }

  #dropOldest(): void {
    if (this.#byEntry.size <= this.#log.entries.length) return;
    const [oldest] = this.#byEntry;
    if (oldest === undefined) return;
    oldest[1].remove();
    this.#byEntry.delete(oldest[0]);
  }

  #fill(row: HTMLTableRowElement, entry: Entry): void {
    const { number, at, direction, role, method, detail, bytes, durationMs, mark } = entry;
    row.className = mark ?? "";
    if (role === "error") row.classList.add("failed");
    row.dataset["direction"] = direction === "view → host" ? "in" : "out";
    const about = el("td", { class: "about-cell" });
    if (mark !== undefined) about.append(el("span", { class: `chip ${mark}` }, mark), " ");
    about.append(detail);
    row.replaceChildren(
      el("td", { class: "num" }, String(number)),
      el("td", { class: "num" }, `+${formatMs(at)}`),
      el("td", { class: "direction" }, direction),
      el(
        "td",
        { class: "method" },
        el("span", { class: "role" }, ROLE_SIGNS[role]),
        ...name(method),
      ),
      about,
      el("td", { class: "num" }, formatBytes(bytes)),
      el("td", { class: "num" }, durationMs === undefined ? "" : formatMs(durationMs)),
    );
  }

  #matches(entry: Entry): boolean {
    const only = this.#only.value;
    if (only === "requests" && entry.role === "notification") return false;
    if ((only === "read" || only === "refused") && entry.mark !== only) {
      if (!(only === "refused" && entry.mark === "ignored")) return false;
    }
    const text = this.#filter.value.trim().toLowerCase();
    if (text === "") return true;
    return `${entry.direction} ${entry.method} ${entry.detail}`.toLowerCase().includes(text);
  }

  #applyFilter(): void {
    for (const [entry, row] of this.#byEntry) row.hidden = !this.#matches(entry);
    this.#align();
    this.#showNone();
  }

  #showNone(): void {
    const { entries } = this.#log;
    const isEmpty = entries.length === 0;
    this.#none.hidden = !isEmpty && [...this.#byEntry.values()].some((row) => !row.hidden);
    this.#none.textContent = isEmpty
      ? "Every message between a view and this page is listed here."
      : `None of the ${entries.length} messages matches.`;
  }

  #showCounts(): void {
    const { entries } = this.#log;
    const count = (mark: string) =>
      entries.filter((entry) => entry.mark === mark && entry.role === "request").length;
    const reads = count("read");
    const refused = count("refused") + entries.filter((entry) => entry.mark === "ignored").length;
    const parts = [`${entries.length} ${entries.length === 1 ? "message" : "messages"}`];
    if (reads > 0) parts.push(`${reads} ${reads === 1 ? "read" : "reads"}`);
    if (refused > 0) parts.push(`${refused} refused`);
    this.#counts.textContent = parts.join(" · ");
    this.#showNone();
  }

  #choose(row: HTMLTableRowElement): void {
    const entry = [...this.#byEntry].find(([, candidate]) => candidate === row)?.[0];
    for (const other of this.#rows.rows) {
      other.setAttribute("aria-selected", String(other === row));
      other.tabIndex = other === row ? 0 : -1;
    }
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
    this.#show(entry === this.#chosen ? undefined : entry);
    if (this.#chosen === undefined) row.setAttribute("aria-selected", "false");
  }

  #show(entry: Entry | undefined): void {
    this.#chosen = entry;
    this.#detail.hidden = entry === undefined;
    if (entry === undefined) return this.#detail.replaceChildren();
    const title = el("h3", {}, `${entry.number} · ${ROLE_SIGNS[entry.role]}${entry.method}`);
    this.#detail.replaceChildren(title, jsonTree(entry.message, 3));
    this.#detail.scrollTop = 0;
  }

  #close(): void {
    if (this.#chosen === undefined) return;
    const row = this.#byEntry.get(this.#chosen);
    row?.setAttribute("aria-selected", "false");
    this.#show(undefined);
    row?.focus({ preventScroll: true });
  }

  #onKey(event: KeyboardEvent): void {
    const row = event.target instanceof Element ? event.target.closest("tr") : null;
    if (row === null) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      const visible = [...this.#rows.rows].filter((other) => !other.hidden);
      const next = visible[visible.indexOf(row) + step];
      if (next) this.#choose(next);
    } else if (event.key === "Enter" || event.key === " ") this.#choose(row);
    else return;
    event.preventDefault();
  }
}
