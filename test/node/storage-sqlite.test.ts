import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { sqliteStorage } from "../../server/node/storage-sqlite.ts";
import { failureOf, valueOf } from "../support/catalog.ts";

const folder = mkdtempSync(join(tmpdir(), "connecta-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const place = (name: string) => join(folder, name);

describe("a store in a file", () => {
  test("is there again when it is opened again, times of values included", async () => {
    const clock = { time: 1_800_000_000_000 };
    const open = () => sqliteStorage({ file: place("again.db"), now: () => clock.time });
    const first = open();
    valueOf(await first.set("short", "value", { ttlMs: 1_000 }));
    valueOf(await first.set("long", "value"));
    await first.close?.();
    const second = open();
    expect(valueOf(await second.list(""))).toEqual(["long", "short"]);
    clock.time += 1_000;
    expect(valueOf(await second.list(""))).toEqual(["long"]);
    await second.close?.();
  });

  test("is shared by two that have it open: each sees what the other wrote", async () => {
    const file = place("shared.db");
    const [one, other] = [sqliteStorage({ file }), sqliteStorage({ file })];
    valueOf(await one.set("key", "first"));
    expect(valueOf(await other.get("key"))).toBe("first");
    const race = [one, other].map((store, at) => store.compareAndSet("key", "first", `${at}`));
    expect((await Promise.all(race)).map(valueOf).toSorted()).toEqual([false, true]);
    await Promise.all([one.close?.(), other.close?.()]);
  });

  test("is made with its folder, for its owner's eyes alone", async () => {
    const store = sqliteStorage({ file: place("a/b/deep.db") });
    valueOf(await store.set("key", "value"));
    const names = readdirSync(place("a/b"));
    expect(names).toContain("deep.db-wal");
    const modes = names.map((name) => statSync(place(`a/b/${name}`)).mode & 0o777);
    expect(modes).toEqual(names.map(() => 0o600));
    await store.close?.();
  });

  test("touches nothing before it is used", async () => {
    const store = sqliteStorage({ file: place("unused.db") });
    await store.close?.();
    expect(readdirSync(folder)).not.toContain("unused.db");
  });

  test("that is something else is unavailable, and left as it is", async () => {
    const file = place("letter.txt");
    writeFileSync(file, "Dear Sir or Madam, ".repeat(300));
    const store = sqliteStorage({ file });
    const failure = failureOf(await store.get("key"));
    expect(failure.code).toBe("unavailable");
    expect(failure.message).toContain("letter.txt failed: it is no database");
    expect(statSync(file).size).toBe(5_700);
    await store.close?.();
  });

  test("that cannot be opened is tried again by the next who needs it", async () => {
    const file = place("late.db");
    mkdirSync(file);
    const store = sqliteStorage({ file });
    expect(failureOf(await store.set("key", "value")).code).toBe("unavailable");
    rmSync(file, { recursive: true });
    valueOf(await store.set("key", "value"));
    expect(valueOf(await store.get("key"))).toBe("value");
    await store.close?.();
  });

  test("without a name is refused at once", () => {
    expect(() => sqliteStorage({ file: "" })).toThrow(/^sqliteStorage\(\) needs a file/);
  });
});
