/**
 * Waits for work that another request may have begun, and no longer than some time. Where requests
 * have a context each, work ends without a word with the request that began it, and whoever goes on
 * behind it directly would go on in a stranger's place: so everyone waits in a promise of their own.
 * @param ms milliseconds
 * @returns whether the work ended in time, however it ended
 */
export async function endedWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ended = await new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
    work.then(
      () => resolve(true),
      () => resolve(true),
    );
  });
  clearTimeout(timer);
  return ended;
}

/**
 * Work that is shared by whoever comes meanwhile, and begun anew once it takes so long that whoever
 * began it must be gone.
 */
export class Flight<Result> {
  readonly #longestMs: number;
  #work: Promise<Result> | undefined;
  #begunAt = 0;

  /** @param longestMs milliseconds that the work can take */
  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** The work under way; wait for it in a promise of your own. */
  join(begin: () => Promise<Result>): Promise<Result> {
    const now = performance.now();
    if (this.#work !== undefined && now - this.#begunAt <= this.#longestMs) return this.#work;
    const work = begin().finally(() => {
      if (this.#work === work) this.#work = undefined;
    });
    this.#work = work;
    this.#begunAt = now;
    return work;
  }
}
