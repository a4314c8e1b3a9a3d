import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Rests } from "../../server/programs/rests.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("turns come in the order in which they were asked for", async () => {
  const rests = new Rests();
  const order: number[] = [];
  for (const one of [1, 2, 3]) void rests.next().then(() => order.push(one));
  expect(order).toEqual([]);
  await vi.advanceTimersByTimeAsync(10);
  expect(order).toEqual([1, 2, 3]);
});

test("a turn whose owner is gone is passed over after a second", async () => {
  const rests = new Rests();
  const set = globalThis.setTimeout;
  // The runtime forgot the timer of the turn together with the request that had set it.
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((work: () => void, ms: number) =>
    ms === 0 ? 0 : set(work, ms)) as never);
  let gone = true;
  void rests.next().then(() => (gone = false));
  await vi.advanceTimersByTimeAsync(0);
  vi.mocked(globalThis.setTimeout).mockRestore();
  let came = false;
  void rests.next().then(() => (came = true));
  await vi.advanceTimersByTimeAsync(999);
  expect([gone, came]).toEqual([true, false]);
  await vi.advanceTimersByTimeAsync(2);
  expect([gone, came]).toEqual([true, true]);
});
