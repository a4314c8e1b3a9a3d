/** Ends what goes on when a deployment closes. It outlives requests, which a signal cannot everywhere. */
export class Closing {
  readonly #callbacks = new Set<() => void>();
  #isClosed = false;

  /**
   * Calls back once on closing, at once when that was before.
   * @returns what ends the waiting
   */
  onClose(callback: () => void): () => void {
    if (this.#isClosed) {
      callback();
      return () => {};
    }
    // Two waiters may pass the same function.
    const own = () => callback();
    this.#callbacks.add(own);
    return () => this.#callbacks.delete(own);
  }

  close(): void {
    this.#isClosed = true;
    for (const callback of this.#callbacks) callback();
    this.#callbacks.clear();
  }
}
