import type { CDPSession, Frame } from "playwright";

/** Bytes that the process of a frame holds once everything that nobody needs is gone. */
export class Heap {
  readonly #session: CDPSession;
  readonly #measured: number[] = [];

  private constructor(session: CDPSession) {
    this.#session = session;
  }

  /** @throws when the frame has no process of its own, as its heap is then another's too */
  static async of(frame: Frame): Promise<Heap> {
    return new Heap(await frame.page().context().newCDPSession(frame));
  }

  /** Measures once more; the second measure counts as the middle, the last as the end. */
  async measure(): Promise<void> {
    for (let round = 0; round < 2; round++) await this.#session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await this.#session.send("Runtime.getHeapUsage");
    this.#measured.push(usedSize);
  }

  /** Bytes more at the end: than at the cold start, and than in the middle, where a leak goes on. */
  growth(): { readonly sinceStart: number; readonly sinceMiddle: number } {
    const [start = 0, middle = 0] = this.#measured;
    const end = this.#measured.at(-1) ?? 0;
    return { sinceStart: end - start, sinceMiddle: end - middle };
  }
}
