import { keep, recall } from "./stored.ts";

/** Edited programs by their id: as long as the page in memory, over a reload where it may. */
export class Drafts {
  readonly #edited = new Map<string, string>();

  /** @returns the edited text, if there is one */
  of(id: string): string | undefined {
    return this.#edited.get(id) ?? recall("sessionStorage", nameOf(id));
  }

  /** Keeps an edited text; a program that is as it came has none. */
  set(id: string, code: string | undefined): void {
    if (code === undefined) this.#edited.delete(id);
    else this.#edited.set(id, code);
    keep("sessionStorage", nameOf(id), code);
  }
}

function nameOf(id: string): string {
  return `connecta-draft:${id}`;
}
