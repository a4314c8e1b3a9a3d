/** Who wants to hear of a change. */
export class Listeners {
  readonly #all = new Set<() => void>();

  add(listener: () => void): void {
    this.#all.add(listener);
  }

  /** Tells everyone. */
  call(): void {
    for (const listener of this.#all) listener();
  }
}
