/** Reports the height that the shell takes, in whole pixels, when it changes and only then. */
export class SizeReporter {
  readonly #element: HTMLElement;
  readonly #send: (height: number) => void;
  #reported: number | undefined;
  #active = false;

  /**
   * @param element what is measured
   * @param send takes a height in pixels, never less than 1
   */
  constructor(element: HTMLElement, send: (height: number) => void) {
    this.#element = element;
    this.#send = send;
    if (typeof ResizeObserver === "function") {
      new ResizeObserver(() => this.measure()).observe(element);
    }
  }

  /** Reports from now on, or stays silent: while nothing is drawn, and while the host sets the size. */
  setActive(active: boolean): void {
    this.#active = active;
    this.measure();
  }

  /** Reports the present height if it differs from the last. */
  measure(): void {
    if (!this.#active) return;
    const height = Math.max(1, Math.ceil(this.#element.getBoundingClientRect().height));
    if (!Number.isFinite(height) || height === this.#reported) return;
    this.#reported = height;
    this.#send(height);
  }
}
