import { describe, expect, test } from "vitest";
import { Tokens } from "../../../server/access/inbound/tokens.ts";
import { memoryStorage } from "../../../server/shared/drivers/memory.ts";
import { fail, type Outcome } from "../../../server/shared/failure.ts";
import type { Storage } from "../../../server/shared/storage.ts";

const START = Date.UTC(2030, 0, 1, 12, 30);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function valueOf<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.failure.message);
  return outcome.value;
}

/** A store that counts, with a clock that stands still until it is moved. */
function kept() {
  let now = START;
  const memory = memoryStorage({ now: () => now });
  const counts = { get: 0, written: 0 };
  const storage: Storage = {
    ...memory,
    get: (key) => (counts.get++, memory.get(key)),
    compareAndSet: (...args) => (counts.written++, memory.compareAndSet(...args)),
  };
  const clock = () => now;
  return { storage, memory, counts, clock, pass: (ms: number) => (now += ms) };
}

async function everything(storage: Storage): Promise<string> {
  const keys = valueOf(await storage.list(""));
  const values = await Promise.all(keys.map(async (key) => valueOf(await storage.get(key))));
  return [...keys, ...values].join("\n");
}

describe("tokens that an operator hands out", () => {
  test("one is shown once, in a form that scanners of secrets can look for", async () => {
    const { storage, clock } = kept();
    const tokens = new Tokens(storage, clock);
    const created = valueOf(await tokens.create({ name: "laptop", expiresInMs: DAY }));
    expect(created.token).toMatch(/^connecta_[0-9a-f]{16}_[0-9a-f]{64}$/);
    const { token, ...shown } = created;
    expect(valueOf(await tokens.list())).toEqual([shown]);
    expect(shown).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      name: "laptop",
      createdAt: START,
      expiresAt: START + DAY,
    });
    expect(JSON.stringify(valueOf(await tokens.list()))).not.toContain(token);
  });

  test("the store holds a hash, and nothing of it lets anybody in", async () => {
    const { storage, clock } = kept();
    const tokens = new Tokens(storage, clock);
    const { token, id } = valueOf(await tokens.create({ name: "laptop" }));
    const stored = await everything(storage);
    expect(stored).not.toContain(token.slice(-64));
    const [hash = ""] = /[0-9a-f]{64}/.exec(stored) ?? [];
    expect(hash).toHaveLength(64);
    expect((await tokens.check(`connecta_${id}_${hash}`)).kind).toBe("invalid");
  });

  test("each names a caller of its own", async () => {
    const { storage, clock } = kept();
    const tokens = new Tokens(storage, clock);
    const one = valueOf(await tokens.create({ name: "same" }));
    const two = valueOf(await tokens.create({ name: "same" }));
    expect(await tokens.check(one.token)).toEqual({
      kind: "admitted",
      principal: `token:${one.id}`,
    });
    expect(await tokens.check(two.token)).toEqual({
      kind: "admitted",
      principal: `token:${two.id}`,
    });
    expect(one.id).not.toBe(two.id);
  });

  test("one that was never issued costs the same look as one with a wrong secret", async () => {
    const { storage, clock, counts } = kept();
    const tokens = new Tokens(storage, clock);
    const { id, token } = valueOf(await tokens.create({ name: "laptop" }));
    const answers = [];
    for (const given of [
      `connecta_${"0".repeat(16)}_${"0".repeat(64)}`,
      `connecta_${id}_${"0".repeat(64)}`,
    ]) {
      counts.get = 0;
      answers.push([await tokens.check(given), counts.get]);
    }
    expect(answers[0]).toEqual([{ kind: "invalid", message: "The token is not valid here." }, 1]);
    expect(answers[1]).toEqual(answers[0]);
    expect((await tokens.check(token)).kind).toBe("admitted");
  });

  test.each(["", "connecta_", "correct-horse-battery", "connecta_0_0", "a.b.c"])(
    "%j is left to the other ways in, without a look",
    async (credential) => {
      const { storage, clock, counts } = kept();
      expect(await new Tokens(storage, clock).check(credential)).toEqual({ kind: "unknown" });
      expect(counts.get).toBe(0);
    },
  );

  test("one revoked by another process is refused at the next request", async () => {
    const { storage, clock } = kept();
    const tokens = new Tokens(storage, clock);
    const { token, id } = valueOf(await tokens.create({ name: "laptop" }));
    expect((await tokens.check(token)).kind).toBe("admitted");
    valueOf(await new Tokens(storage, clock).revoke(id));
    expect(await tokens.check(token)).toEqual({
      kind: "invalid",
      message: "The token is not valid here.",
    });
    expect(valueOf(await tokens.list())).toEqual([]);
  });

  test("one that is revoked while it is used does not come back", async () => {
    const { storage, memory, clock } = kept();
    const revoking = new Tokens(memory, clock);
    const slow: Storage = {
      ...storage,
      compareAndSet: async (key, ...rest) => {
        await revoking.revoke(key.slice(-16));
        return memory.compareAndSet(key, ...rest);
      },
    };
    const tokens = new Tokens(slow, clock);
    const { token } = valueOf(await tokens.create({ name: "laptop" }));
    await tokens.check(token);
    expect(valueOf(await memory.list(""))).toEqual([]);
    expect((await tokens.check(token)).kind).toBe("invalid");
  });

  test("one ends with its time, is listed for a month more, and is gone then", async () => {
    const { storage, clock, pass } = kept();
    const tokens = new Tokens(storage, clock);
    const { token } = valueOf(await tokens.create({ name: "laptop", expiresInMs: DAY }));
    pass(DAY - 1);
    expect((await tokens.check(token)).kind).toBe("admitted");
    pass(1);
    expect(await tokens.check(token)).toEqual({
      kind: "invalid",
      message: "The token has expired.",
    });
    expect(valueOf(await tokens.list())).toHaveLength(1);
    pass(30 * DAY);
    expect(valueOf(await tokens.list())).toEqual([]);
  });

  test("its last use is known to the hour, for one write an hour", async () => {
    const { storage, clock, pass, counts } = kept();
    const tokens = new Tokens(storage, clock);
    const { token } = valueOf(await tokens.create({ name: "laptop" }));
    for (let i = 0; i < 20; i++) await tokens.check(token);
    expect(counts.written).toBe(1);
    const used = async () => valueOf(await tokens.list())[0]?.lastUsedAt;
    expect(await used()).toBe(Date.UTC(2030, 0, 1, 12));
    pass(HOUR);
    await tokens.check(token);
    expect(counts.written).toBe(2);
    expect(await used()).toBe(Date.UTC(2030, 0, 1, 13));
  });

  test("a store that fails admits nobody; one that cannot write the use admits all the same", async () => {
    const { storage, clock } = kept();
    const { token } = valueOf(await new Tokens(storage, clock).create({ name: "laptop" }));
    const failing = async () => fail("unavailable", "The disk is gone.");
    expect(await new Tokens({ ...storage, get: failing }, clock).check(token)).toEqual({
      kind: "unavailable",
      message: "The store of tokens does not answer now.",
    });
    const readOnly = new Tokens({ ...storage, compareAndSet: failing }, clock);
    expect((await readOnly.check(token)).kind).toBe("admitted");
    const throwing = () => Promise.reject(new Error("no"));
    const broken = new Tokens({ ...storage, compareAndSet: throwing }, clock);
    expect((await broken.check(token)).kind).toBe("admitted");
  });

  test("a store that fails is reported once, and anew after it answered", async () => {
    const { storage, clock } = kept();
    const { token } = valueOf(await new Tokens(storage, clock).create({ name: "laptop" }));
    let isAway = true;
    const get: Storage["get"] = async (key) =>
      isAway ? fail("unavailable", "The disk is gone.") : storage.get(key);
    const told: string[] = [];
    const tokens = new Tokens({ ...storage, get }, clock, ({ name, message }) => {
      told.push(`${name}: ${message}`);
    });
    await tokens.check(token);
    await tokens.check(token);
    expect(told).toEqual(["Notice: auth.tokens lets nobody in: The disk is gone."]);
    isAway = false;
    expect((await tokens.check(token)).kind).toBe("admitted");
    expect(told).toHaveLength(1);
    isAway = true;
    await tokens.check(token);
    expect(told).toHaveLength(2);
  });

  test("a record that is none admits nobody", async () => {
    const { storage, clock } = kept();
    const tokens = new Tokens(storage, clock);
    const { token, id } = valueOf(await tokens.create({ name: "laptop" }));
    for (const value of ["", "{}", "null", '{"name":"a","hash":"","createdAt":1}']) {
      await storage.set(`access/token/${id}`, value);
      expect((await tokens.check(token)).kind).toBe("invalid");
    }
  });

  test.each(["", "  ", "a\nb", "é".repeat(65)])("the name %j is refused", async (name) => {
    const { storage, clock } = kept();
    const outcome = await new Tokens(storage, clock).create({ name });
    expect(outcome).toMatchObject({ ok: false, failure: { code: "invalid_args" } });
  });

  test.each([0, -1, 1.5, Number.NaN, Infinity])("a token for %s ms is refused", async (ms) => {
    const { storage, clock } = kept();
    const outcome = await new Tokens(storage, clock).create({ name: "a", expiresInMs: ms });
    expect(outcome).toMatchObject({ ok: false, failure: { code: "invalid_args" } });
  });

  test.each(["f".repeat(16), "x", "../kept", ""])("there is no token %j to revoke", async (id) => {
    const { storage, clock } = kept();
    expect(await new Tokens(storage, clock).revoke(id)).toMatchObject({
      ok: false,
      failure: { code: "not_found" },
    });
  });
});
