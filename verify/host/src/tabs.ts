/** Tabs by the ARIA pattern: arrow keys move, the chosen panel alone can be reached. */
export class Tabs {
  readonly #tabs: readonly HTMLElement[];

  /** @param list the element with role `tablist`; each tab names its panel by `aria-controls` */
  constructor(list: HTMLElement) {
    this.#tabs = [...list.querySelectorAll<HTMLElement>('[role="tab"]')];
    for (const tab of this.#tabs) tab.addEventListener("click", () => this.select(tab.id));
    list.addEventListener("keydown", (event) => this.#onKey(event));
  }

  /** Shows the panel of the tab with this id. */
  select(id: string): void {
    for (const tab of this.#tabs) {
      const isChosen = tab.id === id;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      const panel = document.getElementById(tab.getAttribute("aria-controls") ?? "");
      // Not `hidden`: a view without a box would measure itself as empty.
      panel?.classList.toggle("shown", isChosen);
    }
  }

  /** Puts a small count beside a tab's name; zero shows none. */
  count(id: string, count: number): void {
    const badge = this.#tabs.find((tab) => tab.id === id)?.querySelector(".badge");
    if (badge) badge.textContent = count === 0 ? "" : String(count);
  }

  #onKey(event: KeyboardEvent): void {
    const at = this.#tabs.findIndex((tab) => tab === event.target);
    const { length } = this.#tabs;
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + length, Home: 0, End: length - 1 }[
      event.key
    ];
    const next = to === undefined ? undefined : this.#tabs[to % length];
    if (at === -1 || next === undefined) return;
    event.preventDefault();
    this.select(next.id);
    next.focus();
  }
}
