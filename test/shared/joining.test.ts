import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { endedWithin, Flight } from "../../server/shared/joining.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("work that ends in time has ended, whether it worked or not", async () => {
  expect(await endedWithin(Promise.resolve(1), 10)).toBe(true);
  expect(await endedWithin(Promise.reject(new Error("no")), 10)).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test("work that never ends is waited for as long as was said", async () => {
  const waiting = endedWithin(new Promise(() => {}), 10);
  await vi.advanceTimersByTimeAsync(10);
  expect(await waiting).toBe(false);
});

test("whoever comes while work is under way shares it, whoever comes later begins anew", async () => {
  const flight = new Flight<number>(10);
  let begun = 0;
  const work = () => Promise.resolve(++begun);
  expect(await Promise.all([flight.join(work), flight.join(work)])).toEqual([1, 1]);
  expect(await flight.join(work)).toBe(2);
});

test("work that takes longer than it can is begun anew, and its end ends nothing else", async () => {
  const flight = new Flight<string>(10);
  let endFirst = () => {};
  const first = flight.join(() => new Promise((resolve) => (endFirst = () => resolve("first"))));
  vi.advanceTimersByTime(10);
  expect(flight.join(() => Promise.resolve("early"))).toBe(first);
  vi.advanceTimersByTime(1);
  let endSecond = () => {};
  const second = flight.join(() => new Promise((resolve) => (endSecond = () => resolve("second"))));
  endFirst();
  expect(await first).toBe("first");
  expect(flight.join(() => Promise.resolve("third"))).toBe(second);
  endSecond();
  expect(await second).toBe("second");
});
