import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { kvStorage, type KvNamespace } from "../../server/worker/storage-kv.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A namespace whose writes take as long as is said, and never end for `undefined`. */
function namespace(writes: readonly (number | undefined)[]): KvNamespace {
  const values = new Map<string, string>();
  let at = 0;
  return {
    getWithMetadata: (name) => Promise.resolve({ value: values.get(name) ?? null, metadata: {} }),
    put: (name, value) =>
      new Promise((resolve) => {
        const ms = writes[at++];
        if (ms !== undefined) setTimeout(() => (values.set(name, value), resolve()), ms);
      }),
    delete: () => Promise.resolve(),
    list: () => Promise.resolve({ keys: [], list_complete: true }),
  };
}

/** The outcomes of two who compare and set the same key, the second some time after the first. */
async function both(writes: readonly (number | undefined)[], afterMs: number) {
  const storage = kvStorage({ namespace: namespace(writes) });
  const first = storage.compareAndSet("key", undefined, "first");
  await vi.advanceTimersByTimeAsync(afterMs);
  const second = storage.compareAndSet("key", undefined, "second");
  await vi.advanceTimersByTimeAsync(60_000);
  return { first, second: await second, value: await storage.get("key") };
}

test("however slowly the first one writes, of two in an isolate one wins", async () => {
  const { first, second, value } = await both([10_000, 1], 3_000);
  expect(await first).toEqual({ ok: true, value: true });
  expect(second).toMatchObject({ ok: false, failure: { code: "unavailable" } });
  expect(value).toEqual({ ok: true, value: "first" });
});

test("a write that ended without a word keeps nobody from a key for good", async () => {
  const { second, value } = await both([undefined, 1], 30_001);
  expect(second).toEqual({ ok: true, value: true });
  expect(value).toEqual({ ok: true, value: "second" });
});
