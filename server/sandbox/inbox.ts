import { readSync } from "node:fs";
import { FrameReader, type Frame } from "./protocol.ts";

/** Frames from the server are trusted; this only turns a broken stream into an end. */
const MAX_PAYLOAD_BYTES = 1024 * 1024 * 1024;

/** How often a program that computes lets the channel be looked at, in milliseconds. */
const GLANCE_MS = 5;
const GLANCE_BYTES = 64 * 1024;

/** Handles frames in the order in which they came, also those that come while one is handled. */
export class Inbox {
  readonly #handle: (frame: Frame) => void;
  readonly #channel: number;
  readonly #reader: FrameReader;
  readonly #frames: Frame[] = [];
  readonly #scratch = Buffer.allocUnsafe(GLANCE_BYTES);
  #handling = false;
  #glanced = 0;

  /**
   * @param channel descriptor of a socket that does not block
   * @param visitor `arrived` hears of a frame as soon as it is read, `handle` when its turn comes
   */
  constructor(
    channel: number,
    { arrived, handle }: Record<"arrived" | "handle", (frame: Frame) => void>,
  ) {
    this.#channel = channel;
    this.#handle = handle;
    this.#reader = new FrameReader((frame) => {
      this.#frames.push(frame);
      arrived(frame);
    }, MAX_PAYLOAD_BYTES);
  }

  /** Takes what the event loop read; false when the stream is no frame stream. */
  push(bytes: Buffer): boolean {
    const understood = this.#reader.push(bytes);
    this.#handleAll();
    return understood;
  }

  /**
   * Reads what has come while the event loop stands still, now and then.
   * False when the server is gone.
   */
  glance(): boolean {
    const now = performance.now();
    if (now - this.#glanced < GLANCE_MS) return true;
    this.#glanced = now;
    const length = readNow(this.#channel, this.#scratch);
    if (length === undefined) return true;
    const understood = this.#reader.push(Buffer.from(this.#scratch.subarray(0, length)));
    // A run may also compute outside of any frame's turn.
    if (!this.#handling) setImmediate(() => this.#handleAll());
    return understood && length > 0;
  }

  #handleAll(): void {
    if (this.#handling) return;
    this.#handling = true;
    for (let frame = this.#frames.shift(); frame; frame = this.#frames.shift()) this.#handle(frame);
    this.#handling = false;
  }
}

/** Bytes that are there, 0 at the end of the stream, `undefined` when there are none now. */
function readNow(channel: number, into: Buffer): number | undefined {
  try {
    return readSync(channel, into);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === "EAGAIN" || code === "EINTR" ? undefined : 0;
  }
}
