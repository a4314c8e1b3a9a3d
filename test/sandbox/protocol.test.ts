import { describe, expect, it } from "vitest";
import {
  decodeText,
  decodeTimings,
  encodeFrame,
  encodeTimings,
  FRAME,
  FrameReader,
  KIND,
  TIMING_BYTES,
  unitsOf,
} from "../../server/sandbox/protocol.ts";

function readAll(stream: Buffer, step: number): { type: number; text: string }[] {
  const frames: { type: number; text: string }[] = [];
  const reader = new FrameReader(
    ({ type, payload }) => frames.push({ type, text: payload.toString() }),
    1024,
  );
  for (let at = 0; at < stream.length; at += step) reader.push(stream.subarray(at, at + step));
  return frames;
}

describe("frames", () => {
  const stream = Buffer.concat([
    encodeFrame({ type: FRAME.idle, run: 7 }),
    encodeFrame({ type: FRAME.log, payload: "naïve — 😀" }),
    encodeFrame({ type: FRAME.reply, payload: new Uint8Array([65, 66]) }),
  ]);

  it.each([1, 2, 15, 16, 17, 1000])(
    "come out whole when the stream is cut every %i bytes",
    (step) => {
      expect(readAll(stream, step)).toEqual([
        { type: 19, text: "" },
        { type: 18, text: "naïve — 😀" },
        { type: 5, text: "AB" },
      ]);
    },
  );

  it("carry every field of their header", () => {
    const seen: unknown[] = [];
    const reader = new FrameReader(
      ({ payload, ...header }) => seen.push(header, payload.length),
      9,
    );
    reader.push(
      encodeFrame({ type: 17, kind: KIND.text, index: 65_535, run: 4_294_967_295, call: 12 }),
    );
    expect(seen).toEqual([{ type: 17, kind: 2, index: 65_535, run: 4_294_967_295, call: 12 }, 0]);
  });

  it("stop the reader when one announces more than it may hold", () => {
    const reader = new FrameReader(() => {}, 10);
    expect(reader.push(encodeFrame({ type: FRAME.log, payload: "0123456789" }))).toBe(true);
    expect(reader.push(encodeFrame({ type: FRAME.log, payload: "0123456789a" }))).toBe(false);
  });

  it("carry timings in front of a result", () => {
    const frame = encodeFrame({ type: FRAME.done, prefix: encodeTimings(1.5, 2.25), payload: "x" });
    const payload = frame.subarray(16);
    expect(decodeTimings(payload)).toEqual({ setupMs: 1.5, cpuMs: 2.25 });
    expect(payload.subarray(TIMING_BYTES).toString()).toBe("x");
  });
});

describe("text", () => {
  const texts = ["", "plain", "naïve", "€", "😀 and 𝒳", "\u0000 in it"];

  it.each(texts)("%j is read back, short or long", (text) => {
    const long = text.repeat(20_000);
    expect(decodeText(Buffer.from(text))).toBe(text);
    expect(decodeText(Buffer.from(long))).toBe(long);
    expect(unitsOf(Buffer.from(text))).toBe(text.length);
  });

  it("that is not UTF-8 has no length and is read with replacement characters", () => {
    const broken = Buffer.alloc(20_000, 0xed);
    expect(unitsOf(broken)).toBe(-1);
    expect(decodeText(broken)).toBe("\ufffd".repeat(20_000));
  });
});
