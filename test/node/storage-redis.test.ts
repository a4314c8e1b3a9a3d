import { createClient } from "@redis/client";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { redisStorage } from "../../server/node/storage-redis.ts";
import { failureOf, valueOf } from "../support/catalog.ts";
import { HAS_REDIS, REDIS_NOTE, startRedis, type RedisServer } from "../support/redis.ts";

describe.skipIf(!HAS_REDIS)(`a store in Redis${REDIS_NOTE}`, () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.remove());

  test("says that its server is away while it is, and goes on with what it holds", async () => {
    const store = redisStorage({ url: server.url, prefix: "killed" });
    valueOf(await store.set("key", "value"));
    await server.kill();
    const failure = failureOf(await store.get("key"));
    expect(failure.code).toBe("unavailable");
    expect(failureOf(await store.set("key", "lost")).message).toBe(
      `The store redis://127.0.0.1:${server.port} failed: ECONNREFUSED.`,
    );
    await server.start();
    expect(valueOf(await store.get("key"))).toBe("value");
    expect(valueOf(await store.list(""))).toEqual(["key"]);
    await store.close?.();
  });

  test("gives up on a server that falls silent, and is there once it speaks again", async () => {
    const store = redisStorage({ url: server.url, prefix: "silent" });
    valueOf(await store.set("key", "value"));
    server.freeze();
    const [read, written] = await Promise.all([store.get("key"), store.set("other", "value")]);
    expect(failureOf(read).message).toMatch(/did not answer within 2000 ms\.$/);
    expect(failureOf(written).code).toBe("unavailable");
    // This one connects anew, to a server that takes the connection and no more.
    expect(failureOf(await store.get("key")).message).toMatch(/did not answer within 2000 ms\.$/);
    server.thaw();
    expect(valueOf(await store.get("key"))).toBe("value");
    await store.close?.();
  }, 20_000);

  test("forgets by the server's clock, which is the same for all", async () => {
    const one = redisStorage({ url: server.url, prefix: "clock" });
    const other = redisStorage({ url: server.url, prefix: "clock" });
    valueOf(await one.set("short", "value", { ttlMs: 1 }));
    valueOf(await one.set("long", "value", { ttlMs: 3_600_000 }));
    await vi.waitFor(async () => expect(valueOf(await other.list(""))).toEqual(["long"]));
    expect(valueOf(await other.get("short"))).toBeUndefined();
    await Promise.all([one.close?.(), other.close?.()]);
  });

  test("takes from the server what is over, index included", async () => {
    const clock = { time: 1_000 };
    const store = redisStorage({ url: server.url, prefix: "swept", now: () => clock.time });
    for (let at = 0; at < 20; at++) valueOf(await store.set(`k${at}`, "value", { ttlMs: 10 }));
    clock.time += 10;
    valueOf(await store.set("new", "value"));
    const client = await createClient({ url: server.url }).connect();
    expect((await client.keys("{swept}*")).toSorted()).toEqual([
      "{swept}:keys",
      "{swept}:value:new",
    ]);
    client.destroy();
    await store.close?.();
  });

  test("takes a value that the server evicted for none", async () => {
    const store = redisStorage({ url: server.url, prefix: "evicted" });
    for (const key of ["a", "b", "c"]) valueOf(await store.set(key, "value"));
    const client = await createClient({ url: server.url }).connect();
    await client.del("{evicted}:value:b");
    client.destroy();
    expect(valueOf(await store.list("", { limit: 2 }))).toEqual(["a", "c"]);
    expect(valueOf(await store.compareAndSet("b", "value", "never"))).toBe(false);
    expect(valueOf(await store.compareAndSet("b", undefined, "again"))).toBe(true);
    expect(valueOf(await store.list(""))).toEqual(["a", "b", "c"]);
    await store.close?.();
  });

  test("keeps a value for the longest time that there is", async () => {
    const store = redisStorage({ url: server.url, prefix: "long" });
    valueOf(await store.set("key", "value", { ttlMs: Number.MAX_SAFE_INTEGER }));
    valueOf(await store.set("other", "value"));
    expect(valueOf(await store.get("key"))).toBe("value");
    expect(valueOf(await store.list(""))).toEqual(["key", "other"]);
    await store.close?.();
  });

  test("lists pages past any number of keys that are over", async () => {
    const clock = { time: 1_000 };
    const store = redisStorage({ url: server.url, prefix: "dead", now: () => clock.time });
    for (let at = 0; at < 50; at++) {
      valueOf(await store.set(`k${at}`, "value", at % 7 === 0 ? {} : { ttlMs: 10 }));
    }
    clock.time += 10;
    const first = valueOf(await store.list("k", { limit: 5 }));
    expect(first).toEqual(["k0", "k14", "k21", "k28", "k35"]);
    expect(valueOf(await store.list("k", { limit: 5, after: "k35" }))).toEqual([
      "k42",
      "k49",
      "k7",
    ]);
    await store.close?.();
  });

  test("lets one of two win over connections of their own", async () => {
    const two = [1, 2].map(() => redisStorage({ url: server.url, prefix: "race" }));
    valueOf(await two[0]!.set("key", "first"));
    const race = two.map((store, at) => store.compareAndSet("key", "first", `${at}`));
    expect((await Promise.all(race)).map(valueOf).toSorted()).toEqual([false, true]);
    await Promise.all(two.map((store) => store.close?.()));
  });

  test("keeps apart what has another prefix", async () => {
    const [one, other] = ["one", "one:b"].map((prefix) =>
      redisStorage({ url: server.url, prefix }),
    );
    valueOf(await one!.set("key", "value"));
    expect(valueOf(await other!.get("key"))).toBeUndefined();
    expect(valueOf(await other!.list(""))).toEqual([]);
    await Promise.all([one?.close?.(), other?.close?.()]);
  });

  test("without a url it says so, since a variable that is not set is the usual reason", () => {
    expect(() => redisStorage({ url: undefined } as never)).toThrow(
      "redisStorage() takes either url or client, and has neither; if url is read from a variable",
    );
  });

  test("works over a client that it was given, and leaves it open", async () => {
    const client = await createClient({ url: server.url }).connect();
    const store = redisStorage({ client, prefix: "given" });
    valueOf(await store.set("key", "value"));
    expect(valueOf(await store.list(""))).toEqual(["key"]);
    await store.close?.();
    expect(failureOf(await store.get("key")).message).toBe("The store was closed.");
    expect(await client.ping()).toBe("PONG");
    client.destroy();
  });
});

describe.skipIf(!HAS_REDIS)(`a store in Redis that wants a password${REDIS_NOTE}`, () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis("--requirepass", "right/horse");
  });
  afterAll(() => server.remove());
  const store = (login: string) =>
    redisStorage({ url: server.url.replace("//", `//${login}`), prefix: "secret" });

  test.each([
    ["a wrong one", ":wrong-horse@", "WRONGPASS"],
    ["none", "", "NOAUTH"],
  ])("is unavailable with %s, without a word of it", async (_, login, code) => {
    const one = store(login);
    const failure = failureOf(await one.get("key"));
    expect(failure.code).toBe("unavailable");
    expect(failure.message).toMatch(new RegExp(`127\\.0\\.0\\.1:\\d+ failed: ${code}\\.$`));
    expect(JSON.stringify(failure)).not.toContain("horse");
    await one.close?.();
  });

  test("opens with the right one", async () => {
    const one = store(":right%2Fhorse@");
    valueOf(await one.set("key", "value"));
    expect(valueOf(await one.get("key"))).toBe("value");
    await one.close?.();
  });
});

describe("options of redisStorage()", () => {
  test.each([
    "redis://:half/horse@127.0.0.1:1",
    "redis://half#horse@127.0.0.1:1",
    "redis://half?horse@127.0.0.1:1",
    "http://half:horse@127.0.0.1:1",
    "half:horse",
    "redis://",
  ])("refuse the URL %s without repeating it", (url) => {
    const refused = (() => {
      try {
        return redisStorage({ url });
      } catch (error) {
        return error;
      }
    })();
    expect(refused).toBeInstanceOf(TypeError);
    expect(String(refused)).toMatch(/takes a url like/);
    expect(String(refused)).not.toMatch(/half|horse/);
  });

  test("refuse neither and both of url and client, and a prefix with braces", () => {
    const client = { sendCommand: async () => null };
    const url = "redis://127.0.0.1:1";
    expect(() => redisStorage({})).toThrow(/either url or client/);
    expect(() => redisStorage({ url, client })).toThrow(/either url or client/);
    expect(() => redisStorage({ url, prefix: "{a}" })).toThrow(/a prefix of 1 to 100/);
  });

  test("need the package only when the store is used, and name it then", async () => {
    vi.resetModules();
    vi.doMock("@redis/client", () => {
      throw new Error("not installed");
    });
    const alone = await import("../../server/node/storage-redis.ts");
    const store = alone.redisStorage({ url: "redis://127.0.0.1:1" });
    const failure = failureOf(await store.get("key"));
    expect(failure).toMatchObject({ code: "unavailable" });
    expect(failure.message).toContain("npm install @redis/client");
    vi.doUnmock("@redis/client");
  });
});
