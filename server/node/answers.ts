import { LIMITS } from "../shared/limits.ts";

/** An answer on its way to a client, as Node has it. */
export interface Outgoing {
  /** Bytes that the client has not taken. */
  readonly writableLength: number;
  readonly closed: boolean;
  once(event: "close", listener: () => void): unknown;
  destroy(): unknown;
}

interface Way {
  left: number;
  since: number;
}

const LOOK_MS = 5_000;

/** The answers of a server that have not ended, and which request each belongs to. */
export class Answers {
  readonly #ofRequest = new WeakMap<Request, Outgoing>();
  readonly #open = new Map<Outgoing, Way>();
  readonly #look: NodeJS.Timeout;

  constructor() {
    this.#look = setInterval(() => this.#endStalled(performance.now()), LOOK_MS).unref();
  }

  /** Follows the answer to a request until it has ended. */
  follow(request: Request, outgoing: Outgoing): void {
    this.#ofRequest.set(request, outgoing);
    this.#open.set(outgoing, { left: 0, since: 0 });
    outgoing.once("close", () => this.#open.delete(outgoing));
  }

  /**
   * Calls back once the answer to a request has been sent or its client is gone.
   * @returns false when nothing is known of that answer
   */
  onEnd(request: Request, callback: () => void): boolean {
    const outgoing = this.#ofRequest.get(request);
    if (outgoing === undefined) return false;
    if (outgoing.closed) callback();
    else outgoing.once("close", callback);
    return true;
  }

  close(): void {
    clearInterval(this.#look);
  }

  /** A client that takes nothing of its answer would keep its place for ever. */
  #endStalled(now: number): void {
    for (const [outgoing, way] of this.#open) {
      const left = outgoing.writableLength;
      const moves = left === 0 || left !== way.left;
      if (moves) Object.assign(way, { left, since: now });
      else if (now - way.since >= LIMITS.answerStallMs.value) outgoing.destroy();
    }
  }
}
