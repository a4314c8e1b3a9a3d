import { describe, expect, test } from "vitest";
import {
  memoryActivity,
  memoryStorage,
  storageActivity,
  type Storage,
} from "../../server/index.ts";
import { fail } from "../../server/shared/failure.ts";
import { activityEvent, activityEvents, readIds } from "../support/activity.ts";
import { valueOf } from "../support/catalog.ts";

const HOUR = 3_600_000;

describe("recorded calls in memory", () => {
  test("are bounded by number: the newest stay, and a cursor of what went leads to the oldest", async () => {
    const store = memoryActivity({ events: 10 });
    const { cursor } = await readIds(store);
    for (const event of activityEvents(25)) store.record(event);
    const newest = Array.from({ length: 10 }, (_, at) => String(24 - at));
    expect((await readIds(store, { limit: 1_000 })).ids).toEqual(newest);
    expect((await readIds(store, { after: cursor })).ids).toEqual(newest.toReversed());
  });

  test("are a thousand unless more are asked for", async () => {
    const store = memoryActivity();
    for (const event of activityEvents(1_500)) store.record(event);
    expect((await readIds(store, { limit: 1_000 })).ids.at(-1)).toBe("500");
  });

  test.each(["x", "-1", "1.5", "99"])(
    "a cursor %j that it never gave is refused",
    async (after) => {
      expect(await memoryActivity().read({ after })).toMatchObject({
        failure: { code: "invalid_args" },
      });
    },
  );

  test.each([0, -1, 1.5, 1_000_001, "5"])("refuse %j as their number", (events) => {
    expect(() => memoryActivity({ events: events as number })).toThrow("events is a whole number");
  });
});

describe("recorded calls in a store of keys", () => {
  const clocked = () => {
    const clock = { time: 1_800_000_000_000 };
    const storage = memoryStorage({ now: () => clock.time });
    const gets: string[] = [];
    const counting: Storage = {
      ...storage,
      get: (key) => {
        gets.push(key);
        return storage.get(key);
      },
    };
    const store = storageActivity({ storage: counting, now: () => clock.time, ttlMs: 24 * HOUR });
    return { clock, storage, store, gets };
  };
  const keysOf = async (storage: Storage) => valueOf(await storage.list(""));

  test("share a key when they come together, and the keys are in the order of time", async () => {
    const { clock, storage, store } = clocked();
    for (const event of activityEvents(30)) void store.record(event);
    await store.read();
    expect(await keysOf(storage)).toHaveLength(1);
    for (const ms of [1, HOUR, -2 * HOUR]) {
      clock.time += ms;
      void store.record(activityEvent({ requestId: `after ${ms}` }));
      await store.read();
    }
    expect(await keysOf(storage)).toHaveLength(4);
    expect((await readIds(store, { limit: 4 })).ids).toEqual([
      `after ${-2 * HOUR}`,
      `after ${HOUR}`,
      "after 1",
      "29",
    ]);
  });

  test("end when their time is over", async () => {
    const { clock, store } = clocked();
    void store.record(activityEvent({ requestId: "old" }));
    const { cursor } = await readIds(store);
    clock.time += 12 * HOUR;
    void store.record(activityEvent({ requestId: "young" }));
    expect((await readIds(store)).ids).toEqual(["young", "old"]);
    clock.time += 12 * HOUR;
    expect((await readIds(store)).ids).toEqual(["young"]);
    expect((await readIds(store, { after: cursor })).ids).toEqual(["young"]);
    clock.time += 12 * HOUR;
    expect((await readIds(store)).ids).toEqual([]);
  });

  test("are found without reading what is older, however far back they lie", async () => {
    const { clock, store, gets } = clocked();
    for (let at = 0; at < 200; at++) {
      void store.record(activityEvent({ requestId: String(at) }));
      await store.read({ limit: 1 });
      clock.time += 60_000;
    }
    gets.length = 0;
    expect((await readIds(store, { limit: 3 })).ids).toEqual(["199", "198", "197"]);
    expect(gets).toHaveLength(3);
    clock.time += 10 * HOUR;
    expect((await readIds(store, { limit: 2 })).ids).toEqual(["199", "198"]);
    expect((await readIds(store, { limit: 1_000 })).ids).toHaveLength(200);
  });

  test("pass over what somebody else wrote among them", async () => {
    const { storage, store } = clocked();
    void store.record(activityEvent({ requestId: "ours" }));
    await store.read();
    const [key = ""] = await keysOf(storage);
    const mine = valueOf(await storage.get(key)) ?? "";
    await storage.set(key, `not json\n{"id":"x"}\n${mine}[]\n{"id":"x","sou`);
    await storage.set("catalog/1/crm", "not activity");
    expect((await readIds(store)).ids).toEqual(["ours"]);
  });

  test("of a store that fails: the outcome and the reader are told", async () => {
    const broken = fail("unavailable", "The store is gone.");
    const storage: Storage = {
      ...memoryStorage(),
      set: () => Promise.resolve(broken),
      list: () => Promise.resolve(broken),
    };
    const store = storageActivity({ storage, flushMs: 0 });
    expect(await store.record(activityEvent())).toEqual(broken);
    expect(await store.read()).toEqual(broken);
    expect(await store.read({ after: "" })).toEqual(broken);
  });

  test("close their store", async () => {
    const storage = memoryStorage();
    const store = storageActivity({ storage });
    void store.record(activityEvent());
    await store.close?.();
    expect(await storage.get("key")).toMatchObject({ failure: { code: "unavailable" } });
  });

  test.each(["x", "a b c", "../x 1", "abc", "abc -1"])("a cursor %j is refused", async (after) => {
    expect(await clocked().store.read({ after })).toMatchObject({
      failure: { code: "invalid_args" },
    });
  });

  test.each([
    [{}, "storageActivity({ storage })"],
    [{ storage: "connecta.db" }, "storageActivity({ storage })"],
    [{ storage: memoryStorage(), ttlMs: 0 }, "ttlMs is a whole number"],
    [{ storage: memoryStorage(), flushMs: -1 }, "flushMs is a whole number"],
  ])("refuse %j, naming the fix", (options, message) => {
    expect(() => storageActivity(options as never)).toThrow(message);
  });
});
