import type { SetAside } from "../../shared/contracts.ts";
import { LIMITS } from "../../shared/limits.ts";
import { clampChars } from "../../shared/text.ts";

/** What a connector has to say besides its answers: to the catalog, and to the operator. */
export class Notices {
  readonly #listeners = new Set<() => void>();
  #aside: readonly SetAside[] = [];
  #title: string | undefined;

  onToolsChanged(listener: () => void): void {
    this.#listeners.add(listener);
  }

  toolsChanged(): void {
    for (const listener of this.#listeners) listener();
  }

  /** The tools that the last reading left out. */
  setAside(): readonly SetAside[] {
    return this.#aside;
  }

  /** What the server calls itself, once it was reached. */
  ownTitle(): string | undefined {
    return this.#title;
  }

  /** Takes in how the server introduced itself. */
  met(server: { readonly name?: unknown; readonly title?: unknown } | undefined): void {
    const named = server?.title ?? server?.name;
    if (typeof named === "string") this.#title = clampChars(named, LIMITS.nameBytes.value);
  }

  /** Takes in what a reading left out. */
  left(aside: readonly SetAside[]): void {
    this.#aside = aside;
  }
}
