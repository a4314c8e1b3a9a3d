import { describe, expect, test } from "vitest";
import { newVaultKey, readVaultKeys } from "../../server/access/keys.ts";
import { keyOf, Vault, type Place } from "../../server/access/vault.ts";
import { fail, ok } from "../../server/shared/failure.ts";
import { memoryStorage } from "../../server/shared/drivers/memory.ts";
import type { Storage } from "../../server/shared/storage.ts";
import { failureOf, valueOf } from "../support/catalog.ts";

const SECRET = "sk-correct-horse-battery-staple";
const TOKEN: Place = { purpose: "field", connector: "crm", field: "token" };

const [FIRST, SECOND] = [newVaultKey(), newVaultKey()];

function vault(storage: Storage, key = FIRST, ...previousKeys: string[]): Vault {
  return new Vault(storage, readVaultKeys({ key, previousKeys }));
}

const textIn = async (one: Vault, place = TOKEN) => valueOf(await one.read(place))?.text;

async function everything(storage: Storage): Promise<string> {
  const keys = valueOf(await storage.list(""));
  const values = await Promise.all(keys.map(async (key) => valueOf(await storage.get(key))));
  return [...keys, ...values].join("\n");
}

describe("a vault", () => {
  test.each(["a", SECRET, "naïve 🦊 \n\t\0", "x".repeat(65_536)])(
    "gives back what was put in, and shows nothing of it in the store: %#",
    async (secret) => {
      const storage = memoryStorage();
      valueOf(await vault(storage).write(TOKEN, secret));
      expect(await textIn(vault(storage))).toBe(secret);
      if (secret.length > 1) expect(await everything(storage)).not.toContain(secret);
    },
  );

  test("the same value is never sealed the same", async () => {
    const seals = new Set<string | undefined>();
    const storage = memoryStorage();
    for (let times = 0; times < 50; times++) {
      valueOf(await vault(storage).write(TOKEN, SECRET));
      seals.add(valueOf(await storage.get(keyOf(TOKEN))));
    }
    expect(seals.size).toBe(50);
  });

  test("uses what another instance put in since it looked", async () => {
    const storage = memoryStorage();
    const [one, two] = [vault(storage), vault(storage)];
    valueOf(await one.write(TOKEN, "first"));
    expect(await textIn(two)).toBe("first");
    valueOf(await one.write(TOKEN, "second"));
    expect(await textIn(two)).toBe("second");
    valueOf(await one.remove(TOKEN));
    expect(await textIn(two)).toBeUndefined();
  });

  test("replaces only what was read", async () => {
    const storage = memoryStorage();
    const one = vault(storage);
    valueOf(await one.write(TOKEN, "first"));
    const before = valueOf(await one.read(TOKEN));
    expect(valueOf(await one.replace(TOKEN, before, "second"))).toBe(true);
    expect(valueOf(await one.replace(TOKEN, before, "third"))).toBe(false);
    expect(await textIn(one)).toBe("second");
  });
});

describe("somebody who can write to the store", () => {
  const OTHERS: readonly (readonly [string, Place])[] = [
    ["another connector", { ...TOKEN, connector: "hr" }],
    ["another field", { ...TOKEN, field: "password" }],
    ["another purpose", { ...TOKEN, purpose: "grant" }],
  ];

  test.each(OTHERS)("cannot move a value to %s, only back to its place", async (_, other) => {
    const storage = memoryStorage();
    const one = vault(storage);
    valueOf(await one.write(TOKEN, SECRET));
    const sealed = valueOf(await storage.get(keyOf(TOKEN))) ?? "";
    valueOf(await storage.set(keyOf(other), sealed));
    const failure = failureOf(await one.read(other));
    expect(failure).toMatchObject({ code: "connector_call_failed", retryable: false });
    expect(JSON.stringify(failure)).not.toContain(SECRET);
    // Control: the very same text opens where it belongs.
    valueOf(await storage.delete(keyOf(TOKEN)));
    valueOf(await storage.set(keyOf(TOKEN), sealed));
    expect(await textIn(vault(storage))).toBe(SECRET);
  });

  test("cannot change a bit of a value anywhere", async () => {
    const storage = memoryStorage();
    valueOf(await vault(storage).write(TOKEN, SECRET));
    const sealed = valueOf(await storage.get(keyOf(TOKEN))) ?? "";
    for (let at = 0; at < sealed.length; at++) {
      const other = sealed[at] === "A" ? "B" : "A";
      const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
      // The last character of base64 may have bits that stand for nothing.
      const isSame = decoded(changed) === decoded(sealed);
      valueOf(await storage.set(keyOf(TOKEN), changed));
      expect(isSame || !(await vault(storage).read(TOKEN)).ok).toBe(true);
    }
  });

  test.each(["", "used", "v1", "v2.a.b.c", "v1.a.b.c.d", SECRET, "💥", "v1.x.!.!"])(
    "cannot pass %j off as a sealed value",
    async (text) => {
      const storage = memoryStorage();
      valueOf(await storage.set(keyOf(TOKEN), text));
      expect(failureOf(await vault(storage).read(TOKEN)).message).not.toContain("sk-");
    },
  );
});

describe("another key", () => {
  test("is said where the value is used, naming the option, and destroys nothing", async () => {
    const storage = memoryStorage();
    valueOf(await vault(storage).write(TOKEN, SECRET));
    const failure = failureOf(await vault(storage, SECOND).read(TOKEN));
    expect(failure).toMatchObject({ code: "connector_call_failed", connector: "crm" });
    expect(failure.message).toContain("vault.key (CONNECTA_VAULT_KEY)");
    expect(await textIn(vault(storage))).toBe(SECRET);
  });

  test("seals anew what it reads, as long as the former key is named", async () => {
    const storage = memoryStorage();
    valueOf(await vault(storage).write(TOKEN, SECRET));
    expect(await textIn(vault(storage, SECOND, FIRST))).toBe(SECRET);
    expect(await textIn(vault(storage, SECOND))).toBe(SECRET);
    expect((await vault(storage, FIRST).read(TOKEN)).ok).toBe(false);
  });

  test("seals everything anew at once, and says what no key opens", async () => {
    const storage = memoryStorage();
    const places = ["a", "b", "c"].map((field) => ({ ...TOKEN, field }));
    for (const place of places) valueOf(await vault(storage).write(place, SECRET));
    valueOf(await vault(storage, SECOND).write({ ...TOKEN, field: "new" }, SECRET));
    valueOf(await vault(storage, newVaultKey()).write({ ...TOKEN, field: "lost" }, SECRET));
    valueOf(await storage.set("catalog/crm", "not the vault's"));
    expect(valueOf(await vault(storage, SECOND, FIRST).rotate())).toEqual({
      current: 1,
      resealed: 3,
      unreadable: ["crm lost"],
    });
    for (const place of places) expect(await textIn(vault(storage, SECOND), place)).toBe(SECRET);
  });

  test.each<[string, Storage["compareAndSet"]]>([
    ["fails", async () => fail("unavailable", "The disk is full.")],
    ["holds something else by then", async () => ok(false)],
  ])("sealing everything anew says so when the store %s", async (_, compareAndSet) => {
    const storage = memoryStorage();
    valueOf(await vault(storage).write(TOKEN, SECRET));
    const stubborn = { ...storage, compareAndSet };
    const both = vault(stubborn, SECOND, FIRST);
    expect(failureOf(await both.rotate()).code).toBe("unavailable");
    expect(await textIn(both)).toBe(SECRET);
    // What could not be done is done the next time.
    stubborn.compareAndSet = storage.compareAndSet;
    expect(valueOf(await both.rotate())).toEqual({ current: 0, resealed: 1, unreadable: [] });
    expect(await textIn(vault(storage, SECOND))).toBe(SECRET);
  });

  test.each(["", "short", "A".repeat(44), btoa("x".repeat(31)), btoa("x".repeat(33)), "💥"])(
    "is refused at construction when it is %j, which the message does not repeat",
    (key) => {
      expect(() => readVaultKeys({ key })).toThrow(/vault\.key \(CONNECTA_VAULT_KEY\)/);
      if (key !== "") expect(() => readVaultKeys({ key })).not.toThrow(key);
    },
  );

  test("may be written in either alphabet, padded or not", () => {
    const bytes = new Uint8Array(32).fill(0xfb);
    const text = Buffer.from(bytes).toString("base64");
    const forms = [
      text,
      text.replace("=", ""),
      Buffer.from(bytes).toString("base64url"),
      `${text}\n`,
    ];
    for (const key of forms) expect(readVaultKeys({ key })).toEqual([bytes]);
  });
});

function decoded(sealed: string): string {
  return sealed
    .split(".")
    .map((part, at) => (at < 2 ? part : Buffer.from(part, "base64url").toString("hex")))
    .join(".");
}
