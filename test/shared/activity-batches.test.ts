import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Batches, type WriteEvents } from "../../server/shared/activity-batches.ts";
import { fail, ok } from "../../server/shared/failure.ts";
import { activityEvent } from "../support/activity.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const writer = () => vi.fn<WriteEvents>().mockResolvedValue(ok(undefined));
const sizes = (write: ReturnType<typeof writer>) => write.mock.calls.map(([{ length }]) => length);

test("what comes within the delay is written together, in order", async () => {
  const write = writer();
  const batches = new Batches(write, 50);
  const events = [1, 2, 3].map((attempts) => activityEvent({ attempts }));
  const outcomes = events.map((event) => batches.add(event));
  await vi.advanceTimersByTimeAsync(49);
  expect(write).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(write.mock.calls).toEqual([[events]]);
  expect(await Promise.all(outcomes)).toEqual([ok(undefined), ok(undefined), ok(undefined)]);
});

test("no batch is written before the one ahead of it is", async () => {
  let end: () => void = () => undefined;
  const write = writer().mockImplementationOnce(
    () => new Promise((resolve) => (end = () => resolve(ok(undefined)))),
  );
  const batches = new Batches(write, 10);
  void batches.add(activityEvent());
  await vi.advanceTimersByTimeAsync(10);
  void batches.add(activityEvent());
  await vi.advanceTimersByTimeAsync(100);
  void batches.add(activityEvent());
  expect(sizes(write)).toEqual([1]);
  end();
  await vi.advanceTimersByTimeAsync(10);
  expect(sizes(write)).toEqual([1, 2]);
});

test("settling writes what waits at once", async () => {
  const write = writer();
  const batches = new Batches(write, 60_000);
  void batches.add(activityEvent());
  await batches.settled();
  expect(sizes(write)).toEqual([1]);
  expect(vi.getTimerCount()).toBe(0);
});

test("a write that fails or throws is the failure of its batch alone", async () => {
  const full = fail("unavailable", "The disk is full.");
  const write = writer().mockResolvedValueOnce(full).mockRejectedValueOnce(new Error("secret"));
  const batches = new Batches(write, 1);
  const outcomes = [];
  for (let at = 0; at < 3; at++) {
    const added = batches.add(activityEvent());
    await vi.advanceTimersByTimeAsync(1);
    outcomes.push(await added);
  }
  expect(outcomes).toMatchObject([full, { failure: { code: "unavailable" } }, { ok: true }]);
  expect(JSON.stringify(outcomes)).not.toContain("secret");
});

test("a write that hangs is given up, and no other is begun beside it until it ends", async () => {
  let end: () => void = () => undefined;
  const write = writer().mockImplementationOnce(
    () => new Promise((resolve) => (end = () => resolve(ok(undefined)))),
  );
  const batches = new Batches(write, 1);
  const first = batches.add(activityEvent());
  await vi.advanceTimersByTimeAsync(2_001);
  expect(await first).toMatchObject({ failure: { message: "A write takes over 2000 ms." } });
  const second = batches.add(activityEvent());
  await vi.advanceTimersByTimeAsync(1);
  expect(await second).toMatchObject({ failure: { code: "unavailable" } });
  expect(sizes(write)).toEqual([1]);
  end();
  const third = batches.add(activityEvent());
  await vi.advanceTimersByTimeAsync(1);
  expect(await third).toEqual(ok(undefined));
  expect(sizes(write)).toEqual([1, 1]);
});

test("a write that ended without a word is not waited for in the end", async () => {
  const write = writer().mockImplementationOnce(() => new Promise(() => {}));
  const batches = new Batches(write, 1);
  void batches.add(activityEvent());
  await vi.advanceTimersByTimeAsync(2_001);
  await vi.advanceTimersByTimeAsync(59_998);
  const before = batches.add(activityEvent());
  await vi.advanceTimersByTimeAsync(1);
  expect(await before).toMatchObject({ failure: { code: "unavailable" } });
  const after = batches.add(activityEvent());
  await vi.advanceTimersByTimeAsync(1);
  expect(await after).toEqual(ok(undefined));
  expect(sizes(write)).toEqual([1, 1]);
});

test("who comes after one that is gone begins a batch, and what that one left is written", async () => {
  const write = writer();
  const batches = new Batches(write, 10);
  // The runtime forgot the timer together with the request that had set it.
  vi.spyOn(globalThis, "setTimeout").mockReturnValueOnce(0 as never);
  void batches.add(activityEvent());
  await vi.advanceTimersByTimeAsync(4_010);
  void batches.add(activityEvent());
  await vi.advanceTimersByTimeAsync(0);
  expect(sizes(write)).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  const outcome = batches.add(activityEvent());
  await vi.advanceTimersByTimeAsync(4_010);
  expect(await outcome).toEqual(ok(undefined));
  expect(sizes(write)).toEqual([3]);
});

test("what waits is bounded", async () => {
  const batches = new Batches(writer(), 60_000);
  for (let at = 0; at < 10_000; at++) void batches.add(activityEvent());
  expect(await batches.add(activityEvent())).toMatchObject({ failure: { code: "unavailable" } });
});
