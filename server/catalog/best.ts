/** Keeps the best few of many scored items: a bounded heap with the worst of the kept on top. */
export class Best {
  readonly #items: number[] = [];
  readonly #scores: number[] = [];
  readonly #room: number;

  /** @param room how many items to keep, at least one */
  constructor(room: number) {
    this.#room = room;
  }

  /** Offers an item; of equal scores the smaller item is better. */
  offer(item: number, score: number): void {
    const size = this.#items.length;
    if (size < this.#room) {
      this.#items.push(item);
      this.#scores.push(score);
      this.#rise(size);
    } else if (this.#worse(0, item, score)) {
      this.#items[0] = item;
      this.#scores[0] = score;
      this.#sink();
    }
  }

  /** What was kept, best first. */
  sorted(): { item: number; score: number }[] {
    return this.#items
      .map((item, i) => ({ item, score: this.#scores[i]! }))
      .sort((a, b) => b.score - a.score || a.item - b.item);
  }

  /** Whether the item kept at `at` is worse than another. */
  #worse(at: number, item: number, score: number): boolean {
    const kept = this.#scores[at]!;
    return kept < score || (kept === score && this.#items[at]! > item);
  }

  #swap(a: number, b: number): void {
    [this.#items[a], this.#items[b]] = [this.#items[b]!, this.#items[a]!];
    [this.#scores[a], this.#scores[b]] = [this.#scores[b]!, this.#scores[a]!];
  }

  #rise(from: number): void {
    for (let at = from; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!this.#worse(at, this.#items[parent]!, this.#scores[parent]!)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(): void {
    const size = this.#items.length;
    for (let at = 0; ;) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < size && this.#worse(child, this.#items[worst]!, this.#scores[worst]!)) {
          worst = child;
        }
      }
      if (worst === at) return;
      this.#swap(at, worst);
      at = worst;
    }
  }
}
