/** What a case can learn of the calls that carried its key. */
export interface Seen {
  started: number;
  aborted: number;
}

/** What one deployment remembers; plain numbers, because promises of one request end with it. */
export class State {
  readonly #calls = new Map<string, Seen>();
  readonly written: unknown[] = [];
  /** How often the tool list of the connector `shy` was asked for. */
  loads = 0;
  /** Runs whose executor reported an `error` beside the result. */
  executorErrors = 0;

  /** The calls that carried a key. */
  of(key: string): Seen {
    const known = this.#calls.get(key) ?? { started: 0, aborted: 0 };
    this.#calls.set(key, known);
    return known;
  }
}

const STEP_MS = 2;

/** Resolves when a condition holds, which another request may bring about; rejects on abort. */
export async function until(condition: () => boolean, signal: AbortSignal): Promise<void> {
  while (!condition()) {
    if (signal.aborted) throw new Error("aborted");
    await new Promise<void>((resolve) => setTimeout(resolve, STEP_MS));
  }
}

/** Rejects when the signal aborts, and resolves never. */
export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(new Error("aborted"));
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
