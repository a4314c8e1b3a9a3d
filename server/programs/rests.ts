import { pause } from "../catalog/pause.ts";
import { endedWithin } from "../shared/joining.ts";

/** A step takes milliseconds: after this time whoever had the turn is gone. */
const TURN_MS = 1_000;

/**
 * Turns of everyone who works on something large in steps: one step runs, then whatever else waits,
 * then the next step. Without it many steps would run in a row.
 */
export class Rests {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when everything else had its turn, and every step that was asked for before. */
  next(): Promise<void> {
    this.#last = endedWithin(this.#last, TURN_MS).then(pause);
    return this.#last;
  }
}
