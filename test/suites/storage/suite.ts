import { afterEach, describe, expect, test } from "vitest";
import type { Storage } from "../../../server/shared/storage.ts";
import { failureOf, valueOf } from "../../support/catalog.ts";

/** Opens an empty store whose clock the suite holds. */
export type OpenStore = (now: () => number) => Promise<Storage> | Storage;

const KEYS = {
  "one letter": "a",
  "the prototype of everything": "__proto__",
  "a constructor": "constructor",
  "what queries are made of": "a' OR 1=1; DROP TABLE entries; --",
  wildcards: "%_*?[a]\\",
  "white space": " \t\n ",
  "a zero character": "a\0b",
  "the greatest character": "\u{10FFFF}",
  "other scripts": "名前/ключ/🦊",
  "an accent that is written apart": "e\u0301",
  "1,024 bytes": "é".repeat(512),
};

const VALUES = {
  nothing: "",
  "a zero character": "before\0after",
  "a byte order mark": "\uFEFFtext",
  JSON: '{"__proto__":{"a":"\\u0000"}}',
  "line ends": "a\r\nb\rc\n",
  "a megabyte of other scripts": "🦊é".repeat(175_000),
};

/**
 * Registers what every store must do.
 * @param name the driver's
 */
export function storageSuite(name: string, open: OpenStore): void {
  const opened: Storage[] = [];
  const clock = { time: 1_800_000_000_000 };
  const store = async (): Promise<Storage> => {
    const one = await open(() => clock.time);
    opened.push(one);
    return one;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close?.()));
  });

  describe(`a store in ${name}`, () => {
    readsAndWrites(store);
    forgets(store, clock);
    lists(store);
    comparesAndSets(store, clock);
    refuses(store);
  });
}

type Make = () => Promise<Storage>;

function readsAndWrites(store: Make): void {
  test.each(Object.entries(KEYS))(
    "keeps a value under %s, and under no other key",
    async (_, key) => {
      const one = await store();
      valueOf(await one.set(key, "here"));
      for (const other of Object.values(KEYS)) {
        expect(valueOf(await one.get(other))).toBe(other === key ? "here" : undefined);
      }
      expect(valueOf(await one.list(""))).toEqual([key]);
    },
  );

  test.each(Object.entries(VALUES))("gives back %s as it was written", async (_, value) => {
    const one = await store();
    valueOf(await one.set("key", value));
    expect(valueOf(await one.get("key"))).toBe(value);
  });

  test("replaces a value", async () => {
    const one = await store();
    valueOf(await one.set("key", "first"));
    valueOf(await one.set("key", "second"));
    expect(valueOf(await one.get("key"))).toBe("second");
  });

  test("removes a value, and what is not there without a word", async () => {
    const one = await store();
    valueOf(await one.set("key", "value"));
    valueOf(await one.set("key2", "stays"));
    valueOf(await one.delete("key"));
    valueOf(await one.delete("key"));
    expect(valueOf(await one.get("key"))).toBeUndefined();
    expect(valueOf(await one.get("key2"))).toBe("stays");
  });
}

function forgets(store: Make, clock: { time: number }): void {
  test("keeps a value for its time by the clock that it was given, and no longer", async () => {
    const one = await store();
    valueOf(await one.set("key", "value", { ttlMs: 1_000 }));
    clock.time += 999;
    expect(valueOf(await one.get("key"))).toBe("value");
    expect(valueOf(await one.list(""))).toEqual(["key"]);
    clock.time += 1;
    expect(valueOf(await one.get("key"))).toBeUndefined();
    expect(valueOf(await one.list(""))).toEqual([]);
  });

  test("gives a value that is written again its new time, or all time", async () => {
    const one = await store();
    valueOf(await one.set("longer", "value", { ttlMs: 1_000 }));
    valueOf(await one.set("for ever", "value", { ttlMs: 1_000 }));
    valueOf(await one.set("longer", "value", { ttlMs: 3_000 }));
    valueOf(await one.set("for ever", "value"));
    clock.time += 2_000;
    expect(valueOf(await one.list(""))).toEqual(["for ever", "longer"]);
    clock.time += 1_000;
    expect(valueOf(await one.list(""))).toEqual(["for ever"]);
  });

  test("keeps what is still good when it clears away what is over", async () => {
    const one = await store();
    valueOf(await one.set("short", "value", { ttlMs: 1 }));
    valueOf(await one.set("long", "value", { ttlMs: 10_000_000 }));
    valueOf(await one.set("for ever", "value"));
    clock.time += 5_000_000;
    valueOf(await one.set("new", "value"));
    expect(valueOf(await one.list(""))).toEqual(["for ever", "long", "new"]);
  });
}

function lists(store: Make): void {
  test("lists keys by their beginning, letter by letter: no character stands for another", async () => {
    const one = await store();
    const keys = ["a%b", "a_b", "aXb", "A%b", "a", "ab", "a*", "a\0b", "b"];
    for (const key of keys) valueOf(await one.set(key, key));
    expect(valueOf(await one.list("a%"))).toEqual(["a%b"]);
    expect(valueOf(await one.list("a_"))).toEqual(["a_b"]);
    expect(valueOf(await one.list("a*"))).toEqual(["a*"]);
    expect(valueOf(await one.list("a\0"))).toEqual(["a\0b"]);
    expect(valueOf(await one.list("a"))).toEqual(["a", "a\0b", "a%b", "a*", "aXb", "a_b", "ab"]);
    expect(valueOf(await one.list("c"))).toEqual([]);
  });

  test("lists keys in the order of their code points", async () => {
    const one = await store();
    const ordered = ["A", "Z", "a", "a\0", "aa", "é", "名", "\uFFFD", "\u{10000}", "\u{10FFFF}"];
    for (const key of ordered.toReversed()) valueOf(await one.set(key, ""));
    expect(valueOf(await one.list(""))).toEqual(ordered);
  });

  test("lists in pages that together hold every key once", async () => {
    const one = await store();
    const keys = Array.from({ length: 25 }, (_, at) => `k/${String(at).padStart(2, "0")}`);
    for (const key of [...keys, "j", "l"]) valueOf(await one.set(key, ""));
    const seen: string[] = [];
    for (let after: string | undefined = ""; after !== undefined;) {
      const page: readonly string[] = valueOf(await one.list("k/", { after, limit: 10 }));
      expect(page.length).toBeLessThanOrEqual(10);
      seen.push(...page);
      after = page.at(-1);
    }
    expect(seen).toEqual(keys);
  });

  test("lists at most a thousand keys at once", async () => {
    const one = await store();
    const keys = Array.from({ length: 1_001 }, (_, at) => `k${at}`);
    (await Promise.all(keys.map((key) => one.set(key, "")))).forEach(valueOf);
    expect(valueOf(await one.list("k"))).toHaveLength(1_000);
  });
}

function comparesAndSets(store: Make, clock: { time: number }): void {
  test("writes a value where none is, and only there", async () => {
    const one = await store();
    expect(valueOf(await one.compareAndSet("key", undefined, "first"))).toBe(true);
    expect(valueOf(await one.compareAndSet("key", undefined, "second"))).toBe(false);
    expect(valueOf(await one.get("key"))).toBe("first");
  });

  test("writes a value in the place of the expected one, and of no other", async () => {
    const one = await store();
    expect(valueOf(await one.compareAndSet("key", "", "never"))).toBe(false);
    valueOf(await one.set("key", "é"));
    expect(valueOf(await one.compareAndSet("key", "e\u0301", "never"))).toBe(false);
    expect(valueOf(await one.compareAndSet("key", "é", "next"))).toBe(true);
    expect(valueOf(await one.compareAndSet("key", "é", "never"))).toBe(false);
    expect(valueOf(await one.get("key"))).toBe("next");
  });

  test("takes a value that is over for none", async () => {
    const one = await store();
    valueOf(await one.set("key", "old", { ttlMs: 10 }));
    clock.time += 10;
    expect(valueOf(await one.compareAndSet("key", "old", "never"))).toBe(false);
    expect(valueOf(await one.compareAndSet("key", undefined, "new", { ttlMs: 10 }))).toBe(true);
    expect(valueOf(await one.get("key"))).toBe("new");
    clock.time += 10;
    expect(valueOf(await one.get("key"))).toBeUndefined();
  });

  test("lets one of many win that expect the same", async () => {
    const one = await store();
    const race = (expected: string | undefined, name: string) =>
      Promise.all(
        Array.from({ length: 20 }, (_, at) => one.compareAndSet("key", expected, `${name} ${at}`)),
      );
    expect((await race(undefined, "first")).map(valueOf).filter(Boolean)).toHaveLength(1);
    const winner = valueOf(await one.get("key"));
    expect((await race(winner, "second")).map(valueOf).filter(Boolean)).toHaveLength(1);
  });

  test("counts without losing a step when many count at once", async () => {
    const one = await store();
    const step = async (): Promise<void> => {
      const known = valueOf(await one.get("count"));
      const next = String(Number(known ?? "0") + 1);
      if (!valueOf(await one.compareAndSet("count", known, next))) await step();
    };
    await Promise.all(Array.from({ length: 30 }, step));
    expect(valueOf(await one.get("count"))).toBe("30");
  });
}

function refuses(store: Make): void {
  test.each([
    ["no key", "", "value", {}],
    ["a key of 1,025 bytes", `${"é".repeat(512)}a`, "value", {}],
    ["a key that is half a character", "a\ud83e", "value", {}],
    ["a value that is half a character", "key", "a\ud83e", {}],
    ["no time at all", "key", "value", { ttlMs: 0 }],
    ["a time that is no number", "key", "value", { ttlMs: Number.NaN }],
  ])("refuses %s and writes nothing", async (_, key, value, options) => {
    const one = await store();
    expect(failureOf(await one.set(key, value, options)).code).toBe("invalid_args");
    const swapped = await one.compareAndSet(key, undefined, value, options);
    expect(failureOf(swapped).code).toBe("invalid_args");
    expect(valueOf(await one.list(""))).toEqual([]);
  });

  test("refuses a key that it could never hold in every operation", async () => {
    const one = await store();
    const key = "k".repeat(1_025);
    const outcomes = [await one.get(key), await one.delete(key), await one.list(key)];
    expect(outcomes.map((outcome) => failureOf<unknown>(outcome).code)).toEqual(
      outcomes.map(() => "invalid_args"),
    );
  });

  test.each([0, 1_001, 1.5])("refuses a page of %d keys", async (limit) => {
    const one = await store();
    expect(failureOf(await one.list("", { limit })).code).toBe("invalid_args");
  });

  test("takes a value of 16 MiB and refuses one byte more", async () => {
    const one = await store();
    const most = "v".repeat(16_777_216);
    valueOf(await one.set("key", most));
    expect(valueOf(await one.get("key"))).toHaveLength(16_777_216);
    const failure = failureOf(await one.set("key", `${most}v`));
    expect(failure).toMatchObject({ code: "result_too_large", maxBytes: 16_777_216 });
  });

  test("is unavailable once it was closed, and closes twice", async () => {
    const one = await store();
    valueOf(await one.set("key", "value"));
    await one.close?.();
    await one.close?.();
    const outcomes = [
      await one.get("key"),
      await one.set("key", "value"),
      await one.delete("key"),
      await one.list(""),
      await one.compareAndSet("key", "value", "next"),
    ];
    expect(outcomes.map((outcome) => failureOf<unknown>(outcome).code)).toEqual(
      outcomes.map(() => "unavailable"),
    );
  });
}
