import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { InFlight, type Room } from "../../server/programs/in-flight.ts";
import type { Outcome } from "../../server/shared/failure.ts";
import { settle } from "../support/timers.ts";

const MIB = 1024 * 1024;
const LIMITS = { maxResultBytes: 8 * MIB, maxArgumentBytes: 4 * MIB };
const { signal } = new AbortController();

/** Calls that ask for room, and those of them that have it so far. */
function callers(inFlight: InFlight, count: number, waitMs = 1_000) {
  const started: Room[] = [];
  const ended = Array.from({ length: count }, async () => {
    const room = await inFlight.room(1, waitMs, signal);
    if (room.ok) started.push(room.value);
    return room;
  });
  return { started, ended };
}

async function roomFor(inFlight: InFlight, calls = 1): Promise<Room> {
  const room = await inFlight.room(calls, 1_000, signal);
  if (!room.ok) throw new Error(room.failure.message);
  return room.value;
}

const codeOf = (outcome: Outcome<unknown>) => (outcome.ok ? "ok" : outcome.failure.code);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("answers in flight", () => {
  test("no more calls start at once than have room for the largest answer", async () => {
    const { started } = callers(new InFlight(LIMITS), 20);
    await settle();
    expect(started).toHaveLength(8);
  });

  test("a call that is not answered at once lets others start: any number waits", async () => {
    const inFlight = new InFlight(LIMITS);
    const { started } = callers(inFlight, 1_280);
    await vi.advanceTimersByTimeAsync(500);
    expect(started).toHaveLength(1_280);
    expect(inFlight.load).toEqual({ bytes: 1_280 * 4_096, waiting: 0 });
  });

  test("room of whoever is gone without a word is given to others after its time", async () => {
    const inFlight = new InFlight(LIMITS, 30_000);
    const lost = await Promise.all(Array.from({ length: 8 }, () => roomFor(inFlight)));
    for (const room of lost) room.hold(8_000_000);
    await vi.advanceTimersByTimeAsync(29_999);
    const waiting = callers(inFlight, 1, 5_000);
    await settle();
    expect(waiting.started).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(2);
    expect(await Promise.all([roomFor(inFlight), ...waiting.ended])).toHaveLength(2);
    expect(waiting.started).toHaveLength(1);
  });

  test("calls that were answered at once keep the others waiting until they are through", async () => {
    const inFlight = new InFlight(LIMITS);
    const { started } = callers(inFlight, 9);
    await settle();
    for (const room of started) expect(room.hold(8_000_000)).toBeUndefined();
    await vi.advanceTimersByTimeAsync(100);
    expect(started).toHaveLength(8);
    started[0]?.release();
    await settle();
    expect(started).toHaveLength(9);
  });

  test("a small answer takes its own size", async () => {
    const inFlight = new InFlight(LIMITS);
    const room = await roomFor(inFlight);
    room.hold(100_000);
    await vi.advanceTimersByTimeAsync(10);
    expect(inFlight.load.bytes).toBe(100_000);
    room.release();
    room.release();
    expect(inFlight.load.bytes).toBe(0);
  });

  test("of late answers those without room are refused, and told when to try again", async () => {
    const inFlight = new InFlight(LIMITS);
    const { started } = callers(inFlight, 20);
    await vi.advanceTimersByTimeAsync(100);
    const refused = started.map((room) => room.hold(8_000_000));
    expect(refused.filter((failure) => failure === undefined)).toHaveLength(8);
    expect(refused.at(-1)).toMatchObject({
      code: "executor_overloaded",
      retryable: true,
      retryAfterMs: 1_000,
      limit: "answersInFlightBytes",
    });
    // Refused ones are as small as before: nothing of them is kept.
    expect(inFlight.load.bytes).toBe(8 * 8_000_000 + 12 * 4_096);
  });

  test("what turned out larger than it looked keeps others out until it is gone", async () => {
    const inFlight = new InFlight(LIMITS);
    const rooms = await Promise.all(Array.from({ length: 8 }, () => roomFor(inFlight)));
    for (const room of rooms) room.hold(7 * MIB);
    await vi.advanceTimersByTimeAsync(10);
    for (const room of rooms) room.correct(9 * MIB);
    expect(inFlight.load.bytes).toBe(72 * MIB);
    const { started } = callers(inFlight, 1);
    rooms[0]?.release();
    await settle();
    expect(started).toHaveLength(0);
    rooms[1]?.release();
    await settle();
    expect(started).toHaveLength(1);
  });

  test("whoever waits too long is refused, whoever goes away leaves", async () => {
    const inFlight = new InFlight(LIMITS);
    const rooms = await Promise.all(Array.from({ length: 8 }, () => roomFor(inFlight)));
    for (const room of rooms) room.hold(8_000_000);
    const leaving = new AbortController();
    const gone = inFlight.room(1, 1_000, leaving.signal);
    const [late] = callers(inFlight, 1, 300).ended;
    leaving.abort();
    expect(codeOf(await gone)).toBe("cancelled");
    await vi.advanceTimersByTimeAsync(300);
    expect(late && codeOf(await late)).toBe("executor_overloaded");
    expect(inFlight.load.waiting).toBe(0);
  });

  test("the calls of a batch get their room together, and never more than there is", async () => {
    const inFlight = new InFlight(LIMITS);
    const first = await roomFor(inFlight, 10);
    const { started } = callers(inFlight, 1);
    await settle();
    expect(started).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(10);
    expect(started).toHaveLength(1);
    first.release();
    expect(inFlight.load.bytes).toBe(4_096);
  });

  test("a deployment whose answers may be larger than the bound still gets one", async () => {
    const inFlight = new InFlight({ ...LIMITS, maxResultBytes: 500 * MIB });
    const room = await roomFor(inFlight);
    expect(room.hold(500 * MIB)).toBeUndefined();
  });
});

describe("arguments in flight", () => {
  test("what has no room is refused at once, and has room again when a call ends", () => {
    const inFlight = new InFlight(LIMITS);
    const held = Array.from({ length: 8 }, () => inFlight.holdArguments(4 * MIB));
    expect(held.map(codeOf)).toEqual(Array.from({ length: 8 }, () => "ok"));
    const refused = inFlight.holdArguments(1);
    expect(refused).toMatchObject({
      failure: { code: "executor_overloaded", limit: "argumentsInFlightBytes" },
    });
    const [first] = held;
    if (first?.ok) first.value.release();
    expect(codeOf(inFlight.holdArguments(1))).toBe("ok");
  });
});
