import { byId, el } from "./dom.ts";
import type { Drafts } from "./drafts.ts";
import type { Editor } from "./editor.ts";

/** One entry of the picker: an example program or a fixture. */
export interface Item {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** What the editor shows. */
  readonly code: string;
}

/** What a picker chooses from. */
export interface PickerOptions<T extends Item> {
  readonly items: readonly T[];
  readonly chosen: T | undefined;
  /** Where edits are kept; without it nothing can be edited. */
  readonly drafts?: Drafts;
  readonly onChoose: (item: T) => void;
}

/** The choice of what the editor shows, with what the person made of it. */
export class Picker<T extends Item> {
  readonly #options: PickerOptions<T>;
  readonly #editor: Editor;
  readonly #select = byId("picker", HTMLSelectElement);
  readonly #edited = byId("edited", HTMLElement);
  #chosen: T | undefined;

  constructor(options: PickerOptions<T>, editor: Editor) {
    this.#options = options;
    this.#editor = editor;
    const entries = options.items.map(({ id, title }) => el("option", { value: id }, title));
    this.#select.replaceChildren(...entries);
    this.#select.addEventListener("change", () => {
      const item = options.items.find(({ id }) => id === this.#select.value);
      if (item === undefined) return;
      this.#show(item);
      options.onChoose(item);
    });
    editor.onEdit = () => this.#keep();
    byId("reset", HTMLButtonElement).addEventListener("click", () => {
      editor.replace(this.#chosen?.code ?? "");
      editor.focus();
    });
    this.#show(options.chosen);
  }

  #show(item: T | undefined): void {
    this.#chosen = item;
    this.#select.value = item?.id ?? "";
    byId("about", HTMLElement).textContent = item?.description ?? "";
    const draft = item && this.#options.drafts?.of(item.id);
    this.#editor.open(draft ?? item?.code ?? "");
    this.#edited.hidden = draft === undefined || draft === item?.code;
  }

  #keep(): void {
    const item = this.#chosen;
    if (item === undefined) return;
    const { code } = this.#editor;
    const isEdited = code !== item.code;
    this.#options.drafts?.set(item.id, isEdited ? code : undefined);
    this.#edited.hidden = !isEdited;
  }
}
