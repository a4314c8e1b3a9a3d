import { afterEach, describe, expect, test, vi } from "vitest";
import { SharedStash } from "../../server/invoke/shared-stash.ts";
import type { Page } from "../../server/invoke/stash.ts";
import { memoryStorage } from "../../server/shared/drivers/memory.ts";
import { fail } from "../../server/shared/failure.ts";
import type { Storage } from "../../server/shared/storage.ts";
import { failureOf, valueOf } from "../support/catalog.ts";
import { testScope } from "../support/scope.ts";

afterEach(() => void vi.useRealTimers());

/** Two instances over one store. */
function instances(storage: Storage = memoryStorage()) {
  return { storage, one: new SharedStash(storage), other: new SharedStash(storage) };
}

async function keep(stash: SharedStash, text: string, scope = testScope()): Promise<string> {
  return valueOf(await stash.keep("crm.list", text, scope)).resultId;
}

/** Reads by the offsets that pages name, from each instance in turn. */
async function follow(stashes: readonly SharedStash[], id: string, maxBytes: number) {
  const texts: string[] = [];
  let offset: number | undefined = 0;
  while (offset !== undefined) {
    const stash = stashes[texts.length % stashes.length]!;
    const page: Page = valueOf(await stash.page(id, offset, maxBytes, testScope()));
    texts.push(page.text);
    offset = page.nextOffset;
  }
  return texts;
}

const away: Storage = {
  get: async () => fail("unavailable", "gone"),
  set: async () => fail("unavailable", "gone"),
  delete: async () => fail("unavailable", "gone"),
  list: async () => fail("unavailable", "gone"),
  compareAndSet: async () => fail("unavailable", "gone"),
};

describe("I5: results that instances share", () => {
  test.each([
    ["ends of parts within characters", "a" + "漢字😀é".repeat(60_000), 50_000],
    ["exactly one part", "x".repeat(262_144), 50_000],
    ["exactly two parts", "x".repeat(524_288), 49_152],
    ["halves of pairs", "\ud800é".repeat(60_000), 49_999],
    ["pages of less than a character", "漢😀", 1],
    ["nothing", "", 10],
  ])(
    "with %s, page by page from each in turn they give the identical text",
    async (_, text, size) => {
      const { one, other } = instances();
      const id = await keep(one, text);
      const pages = await follow([other, one], id, size);
      expect(pages.join("") === text).toBe(true);
    },
  );

  test("are announced as ever", async () => {
    const { one } = instances();
    const kept = valueOf(await one.keep("crm.list", "é".repeat(30_000), testScope()));
    const { resultId: id } = kept;
    expect(kept).toMatchObject({
      truncated: true,
      totalBytes: 60_000,
      preview: "é".repeat(1_000),
      nextAction: { tool: "get_result", arguments: { id, offset: 0 } },
    });
  });

  test("do not exist for another principal, on any of them", async () => {
    const { one, other } = instances();
    const id = await keep(one, "secret", testScope({ principal: "alice" }));
    for (const stash of [one, other]) {
      const bob = await stash.page(id, 0, 10, testScope({ principal: "bob" }));
      expect(failureOf(bob).code).toBe("not_found");
      const alice = await stash.page(id, 0, 10, testScope({ principal: "alice" }));
      expect(valueOf(alice).text).toBe("secret");
    }
  });

  test("tell the store neither text nor id nor caller", async () => {
    const { storage, one } = instances();
    const id = await keep(one, "the payroll ".repeat(9), testScope({ principal: "alice" }));
    const [key = "", ...others] = valueOf(await storage.list(""));
    expect(others).toEqual([]);
    expect(key).toMatch(/^result\/[0-9a-f]{64}\/0$/);
    const value = valueOf(await storage.get(key)) ?? "";
    const seen = key + value + Buffer.from(value, "base64").toString("latin1");
    for (const secret of ["the payroll", id, "alice"]) expect(seen).not.toContain(secret);
  });

  test("that the store altered or exchanged are not there", async () => {
    const { storage, one, other } = instances();
    const id = await keep(one, "x".repeat(600_000));
    const keys = valueOf(await storage.list(""));
    expect(keys).toHaveLength(3);
    valueOf(await other.page(id, 300_000, 10, testScope()));
    valueOf(await storage.set(keys[1]!, valueOf(await storage.get(keys[0]!))!));
    expect(failureOf(await other.page(id, 300_000, 10, testScope())).code).toBe("not_found");
    valueOf(await storage.set(keys[1]!, "no base64 at all"));
    expect(failureOf(await other.page(id, 300_000, 10, testScope())).code).toBe("not_found");
    valueOf(await other.page(id, 0, 10, testScope()));
  });

  test("end after fifteen minutes, not before", async () => {
    const clock = { time: 0 };
    const { one, other } = instances(memoryStorage({ now: () => clock.time }));
    const id = await keep(one, "text");
    clock.time = 899_999;
    valueOf(await other.page(id, 0, 10, testScope()));
    clock.time = 900_000;
    expect(failureOf(await other.page(id, 0, 10, testScope())).code).toBe("not_found");
  });

  test("make room in the store when one instance keeps more than 64", async () => {
    const { storage, one, other } = instances();
    const deferred: Promise<unknown>[] = [];
    const scope = testScope({ defer: (task) => void deferred.push(task) });
    const ids: string[] = [];
    for (let at = 0; at < 66; at++) ids.push(await keep(one, `result ${at}`, scope));
    await Promise.all(deferred);
    expect(valueOf(await storage.list(""))).toHaveLength(64);
    expect(failureOf(await other.page(ids[1]!, 0, 10, scope)).code).toBe("not_found");
    valueOf(await other.page(ids[2]!, 0, 10, scope));
  });

  test("refuse an offset within a character, and beyond the end", async () => {
    const { one, other } = instances();
    const id = await keep(one, "漢".repeat(100_000));
    for (const offset of [1, 262_144, 300_001, 9_000_000, Number.MAX_SAFE_INTEGER]) {
      const page = await other.page(id, offset, 10, testScope());
      expect(failureOf(page).code).toBe("invalid_args");
    }
    expect(valueOf(await other.page(id, 300_000, 10, testScope())).text).toBe("");
  });

  test("stay with their instance while the store is away, which is said once", async () => {
    const stash = new SharedStash(away);
    const reported: unknown[] = [];
    const scope = testScope({ report: (error) => void reported.push(error) });
    const ids = [await keep(stash, "first", scope), await keep(stash, "second", scope)];
    expect(valueOf(await stash.page(ids[0]!, 0, 10, scope)).text).toBe("first");
    expect(String(reported)).toBe("Notice: Large results are not shared: gone");
  });

  test("are unavailable, not gone, while the store is away or throws", async () => {
    const throwing = { ...away, get: () => Promise.reject(new Error("at the wrong moment")) };
    for (const storage of [away, throwing]) {
      const page = await new SharedStash(storage).page("id", 0, 10, testScope());
      expect(failureOf(page)).toMatchObject({ code: "unavailable", retryable: true });
      expect(failureOf(page).message).not.toMatch(/gone|moment/);
    }
  });

  test("wait two seconds for a store that hangs", async () => {
    vi.useFakeTimers();
    const hanging = new SharedStash({ ...away, get: () => new Promise(() => {}) });
    const page = hanging.page("id", 0, 10, testScope());
    await vi.advanceTimersByTimeAsync(2_000);
    expect(failureOf(await page).code).toBe("unavailable");
  });
});
