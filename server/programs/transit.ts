import { ok, type Outcome } from "../shared/failure.ts";
import type { InFlight, Room } from "./in-flight.ts";

/** What a deployment lends to count host calls by. */
export interface TransitHost {
  readonly inFlight: InFlight;
  /** Whether {@link Transit.sent} is called for each answer that left. */
  readonly tellsAnswersSent: boolean;
}

/** What the host calls of one run take of the memory of all, from arguments to answers that left. */
export class Transit {
  readonly #host: TransitHost;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal;
  readonly #leaving: (Room | undefined)[] = [];
  #closed = false;

  /** @param timeoutMs milliseconds that a call may wait for room */
  constructor(host: TransitHost, timeoutMs: number, signal: AbortSignal) {
    this.#host = host;
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
  }

  /** Works on arguments that have arrived; they are counted as long as that takes. */
  async holding<T>(bytes: number, work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const held = this.#host.inFlight.holdArguments(bytes);
    if (!held.ok) return held;
    try {
      return await work();
    } finally {
      held.value.release();
    }
  }

  /** Works with room for the answers of some calls; it goes with them, until they have left. */
  async within<T extends object>(
    calls: number,
    work: (room: Room) => Promise<Outcome<T>>,
  ): Promise<Outcome<T & { readonly room: Room }>> {
    const found = await this.#host.inFlight.room(calls, this.#timeoutMs, this.#signal);
    if (!found.ok) return found;
    const room = found.value;
    let goesWith = false;
    try {
      const done = await work(room);
      goesWith = done.ok;
      return done.ok ? ok({ ...done.value, room }) : done;
    } finally {
      if (!goesWith) room.release();
    }
  }

  /** A function answers now; whoever called it may learn later that the answer left. */
  leave(room: Room | undefined): void {
    if (this.#closed || !this.#host.tellsAnswersSent) room?.release();
    else this.#leaving.push(room);
  }

  /** An answer left the process; they leave in the order in which they were given. */
  sent(): void {
    this.#leaving.shift()?.release();
  }

  /** The run is over, and with it whatever was on its way. */
  close(): void {
    this.#closed = true;
    for (const room of this.#leaving.splice(0)) room?.release();
  }
}
