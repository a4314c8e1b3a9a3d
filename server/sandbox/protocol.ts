import { isAscii, isUtf8, transcode } from "node:buffer";

/**
 * Frames between the server and a sandbox process, over one socket that carries nothing else.
 *
 *     u32 payload length | u8 type | u8 kind | u16 index | u32 run | u32 call | payload
 *
 * Numbers are little-endian. A string travels as its own UTF-8 (kind `text`), everything else as
 * JSON, so that a large text is never escaped a second time. Guest code has no function that
 * takes a frame: it names a call, a line or a result, and the process frames it.
 */

/** Frame types: below 16 towards the sandbox process, from 16 on towards the server. */
export const FRAME = {
  /** The WebAssembly binary, once, as the first frame. */
  engine: 1,
  /** Providers, preludes and limits of many runs; `call` is its id. Answered by `idle`, run 0. */
  setup: 2,
  /** A setup that no later run names. */
  forget: 3,
  /** One program; `call` is the id of its setup. Answered by `idle` or `done`. */
  run: 4,
  /** What a host function returned. Answered by `idle` or `done`. */
  reply: 5,
  /** Drops a run. Answered by `idle`. */
  cancel: 6,
  /** A run waits for its interpreter and holds up nobody; answers its `run` frame. */
  parked: 22,
  /** That run has its interpreter, and the process is at it. To be answered as its frame was. */
  unparked: 23,
  /** The process takes runs. */
  ready: 16,
  /** The process runs them at full speed. */
  warm: 21,
  /** A host function is called; `index` is its place in the setup. */
  call: 17,
  /** One console line. */
  log: 18,
  /** The run waits for replies; answers the frame that woke it. */
  idle: 19,
  /** The run has ended; answers the frame that woke it. The payload starts with its timings. */
  done: 20,
} as const;

/** How a payload is to be read. */
export const KIND = { nothing: 0, json: 1, text: 2, error: 3, failure: 4 } as const;

/** Bytes of {@link encodeTimings} before the payload of a `done` frame. */
export const TIMING_BYTES = 16;

const HEADER_BYTES = 16;

/** One frame as it was read; `payload` may be a view that is valid only during the callback. */
export interface Frame {
  readonly type: number;
  readonly kind: number;
  readonly index: number;
  readonly run: number;
  readonly call: number;
  readonly payload: Buffer;
}

/** What a frame is made of; fields that its type does not use are left out. */
export interface FrameParts {
  readonly type: number;
  readonly kind?: number;
  readonly index?: number;
  readonly run?: number;
  readonly call?: number;
  readonly prefix?: Uint8Array;
  readonly payload?: string | Uint8Array;
}

/** The bytes of one frame. */
export function encodeFrame(parts: FrameParts): Buffer {
  const { payload = "", prefix } = parts;
  const before = prefix?.length ?? 0;
  const length =
    before + (typeof payload === "string" ? Buffer.byteLength(payload) : payload.length);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + length);
  frame.writeUInt32LE(length, 0);
  frame[4] = parts.type;
  frame[5] = parts.kind ?? KIND.nothing;
  frame.writeUInt16LE(parts.index ?? 0, 6);
  frame.writeUInt32LE(parts.run ?? 0, 8);
  frame.writeUInt32LE(parts.call ?? 0, 12);
  if (prefix) frame.set(prefix, HEADER_BYTES);
  if (typeof payload === "string") frame.write(payload, HEADER_BYTES + before);
  else frame.set(payload, HEADER_BYTES + before);
  return frame;
}

/** Below this the general decoder is as fast as any. */
const LARGE_BYTES = 16 * 1024;

/** The string of UTF-8 bytes; several times faster than the general decoder on large texts. */
export function decodeText(bytes: Buffer): string {
  if (bytes.length < LARGE_BYTES) return bytes.toString();
  if (isAscii(bytes)) return bytes.toString("latin1");
  return isUtf8(bytes) ? transcode(bytes, "utf8", "utf16le").toString("utf16le") : bytes.toString();
}

/** UTF-16 units of UTF-8 bytes; -1 for bytes that are not UTF-8. */
export function unitsOf(bytes: Uint8Array): number {
  if (isAscii(bytes)) return bytes.length;
  return isUtf8(bytes) ? transcode(bytes, "utf8", "utf16le").length / 2 : -1;
}

/** The fixed start of a `done` payload: milliseconds of set-up and of guest CPU. */
export function encodeTimings(setupMs: number, cpuMs: number): Uint8Array {
  return new Uint8Array(new Float64Array([setupMs, cpuMs]).buffer);
}

/** Reads {@link encodeTimings} back; the payload must hold {@link TIMING_BYTES}. */
export function decodeTimings(payload: Buffer): { setupMs: number; cpuMs: number } {
  return { setupMs: payload.readDoubleLE(0), cpuMs: payload.readDoubleLE(8) };
}

/** Cuts a stream of bytes into frames; every byte of a large payload is copied once. */
export class FrameReader {
  readonly #onFrame: (frame: Frame) => void;
  readonly #maxPayloadBytes: number;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #payload: Buffer | undefined;
  #payloadBytes = 0;

  /** @param maxPayloadBytes a longer announced payload makes {@link push} report failure */
  constructor(onFrame: (frame: Frame) => void, maxPayloadBytes: number) {
    this.#onFrame = onFrame;
    this.#maxPayloadBytes = maxPayloadBytes;
  }

  /** Takes the next bytes; false when the stream is no frame stream and must be given up. */
  push(chunk: Buffer): boolean {
    let at = 0;
    while (at < chunk.length) {
      if (this.#headerBytes < HEADER_BYTES) {
        const part = chunk.subarray(at, at + HEADER_BYTES - this.#headerBytes);
        this.#header.set(part, this.#headerBytes);
        this.#headerBytes += part.length;
        at += part.length;
        if (this.#headerBytes < HEADER_BYTES) return true;
        if (this.#header.readUInt32LE(0) > this.#maxPayloadBytes) return false;
      }
      at = this.#takePayload(chunk, at);
    }
    return true;
  }

  #takePayload(chunk: Buffer, at: number): number {
    const length = this.#header.readUInt32LE(0);
    if (this.#payload === undefined && chunk.length - at >= length) {
      this.#emit(chunk.subarray(at, at + length));
      return at + length;
    }
    this.#payload ??= Buffer.allocUnsafe(length);
    const part = chunk.subarray(at, at + length - this.#payloadBytes);
    this.#payload.set(part, this.#payloadBytes);
    this.#payloadBytes += part.length;
    if (this.#payloadBytes === length) this.#emit(this.#payload);
    return at + part.length;
  }

  #emit(payload: Buffer): void {
    const header = this.#header;
    this.#headerBytes = 0;
    this.#payload = undefined;
    this.#payloadBytes = 0;
    this.#onFrame({
      type: header[4] ?? 0,
      kind: header[5] ?? 0,
      index: header.readUInt16LE(6),
      run: header.readUInt32LE(8),
      call: header.readUInt32LE(12),
      payload,
    });
  }
}
