import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { endedWithin } from "../../server/shared/joining.ts";

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
