import { describe, expect, test } from "vitest";
import { OperatorDoor, type Attempt } from "../../server/access/operator.ts";
import { memoryStorage } from "../../server/index.ts";
import { valueOf } from "../support/catalog.ts";
import { fail } from "../../server/shared/failure.ts";

const SECRET = "a secret of the operator";
const HOUR = 3_600_000;

function door(secret = SECRET, storage = memoryStorage()) {
  const clock = { now: 1_000 };
  return { clock, storage, door: new OperatorDoor({ secret }, storage, () => clock.now) };
}

function admitted(attempt: Attempt) {
  if (attempt.kind !== "admitted") throw new Error(attempt.kind);
  return attempt;
}

const sessionOf = async (one: OperatorDoor, cookie: string | undefined) =>
  valueOf(await one.session(cookie));

describe("the operator's secret", () => {
  test.each(["", "too short", " ".repeat(20)])("%j stops the start", (secret) => {
    expect(() => new OperatorDoor({ secret }, undefined)).toThrow("operator.secret needs at least");
  });

  test.each(["", "a secret of the operato", "a secret of the operator ", SECRET.toUpperCase()])(
    "%j is not it",
    async (given) => {
      const { door: one } = door();
      expect(await one.signIn(given, undefined)).toEqual({ kind: "wrong" });
      // The control.
      expect((await one.signIn(SECRET, undefined)).kind).toBe("admitted");
    },
  );
});

describe("a session", () => {
  test("lasts an hour", async () => {
    const { door: one, clock } = door();
    const { cookie } = admitted(await one.signIn(SECRET, undefined));
    clock.now += HOUR - 1;
    expect(await sessionOf(one, cookie)).toMatchObject({ expiresAt: 1_000 + HOUR });
    clock.now += 1;
    expect(await sessionOf(one, cookie)).toBeUndefined();
  });

  test("is ended by signing out for every copy of its cookie, in every instance", async () => {
    const { door: one, storage } = door();
    const [ended, other] = [
      admitted(await one.signIn(SECRET, undefined)).cookie,
      admitted(await one.signIn(SECRET, undefined)).cookie,
    ];
    const session = await sessionOf(one, ended);
    if (session === undefined) throw new Error("no session");
    await one.signOut(session);
    const elsewhere = door(SECRET, storage).door;
    for (const each of [one, elsewhere]) {
      expect(await sessionOf(each, ended)).toBeUndefined();
      expect(await sessionOf(each, other)).toBeDefined();
    }
  });

  test("is not taken for one that goes on while the store cannot say", async () => {
    const storage = memoryStorage();
    const { door: one } = door(SECRET, storage);
    const { cookie } = admitted(await one.signIn(SECRET, undefined));
    expect(await sessionOf(one, cookie)).toBeDefined();
    storage.get = () => Promise.resolve(fail("unavailable", "down"));
    expect(await one.session(cookie)).toMatchObject({ failure: { code: "unavailable" } });
  });

  test("ends with its secret, and cannot be made without it", async () => {
    const { cookie, known } = admitted(await door().door.signIn(SECRET, undefined));
    const { door: one } = door();
    expect(await sessionOf(one, cookie)).toBeDefined();
    const [id = "", until = "", mac = ""] = cookie.split(".");
    const forged = [
      undefined,
      "",
      "..",
      `${id}.${until}.`,
      `${id}.${until}.${"0".repeat(64)}`,
      `${id}.${Number(until) + 1}.${mac}`,
      `${"0".repeat(32)}.${until}.${mac}`,
      `${id}.${until}.${mac}00`,
      // What a browser is known by is signed as well, for another purpose.
      known,
    ];
    for (const each of forged) expect(await sessionOf(one, each)).toBeUndefined();
    expect(await sessionOf(door("another secret of somebody").door, cookie)).toBeUndefined();
  });

  test("takes its own forms alone", async () => {
    const { door: one } = door();
    const sessions = await Promise.all(
      ["a", "b"].map(async () =>
        sessionOf(one, admitted(await one.signIn(SECRET, undefined)).cookie),
      ),
    );
    const [mine, other] = sessions;
    if (mine === undefined || other === undefined) throw new Error("no session");
    expect(await one.isForm(mine, mine.formToken)).toBe(true);
    for (const each of ["", other.formToken, mine.id])
      expect(await one.isForm(mine, each)).toBe(false);
  });

  test("leaves nothing in the store that would let anybody in", async () => {
    const { door: one, storage } = door();
    const { cookie } = admitted(await one.signIn(SECRET, undefined));
    const session = await sessionOf(one, cookie);
    if (session === undefined) throw new Error("no session");
    await one.signOut(session);
    const keys = await storage.list("");
    expect(keys).toEqual({ ok: true, value: [`operator/ended/${session.id}`] });
    expect(JSON.stringify(keys)).not.toContain(cookie.split(".")[2]);
  });
});

describe("attempts", () => {
  const wrong = async (one: OperatorDoor, known?: string) =>
    (await one.signIn("wrong horse battery", known)).kind;

  test("are ten at once and one in fifteen seconds", async () => {
    const { door: one, clock } = door();
    for (let i = 0; i < 10; i++) expect(await wrong(one)).toBe("wrong");
    expect(await one.signIn(SECRET, undefined)).toEqual({ kind: "later", retryAfterMs: 15_000 });
    clock.now += 15_000;
    expect(await wrong(one)).toBe("wrong");
    expect(await wrong(one)).toBe("later");
    clock.now += 150_000;
    for (let i = 0; i < 10; i++) expect(await wrong(one)).toBe("wrong");
    expect(await wrong(one)).toBe("later");
  });

  test("of strangers keep out no browser that signed in before", async () => {
    const { door: one } = door();
    const { known } = admitted(await one.signIn(SECRET, undefined));
    for (let i = 0; i < 9; i++) expect(await wrong(one)).toBe("wrong");
    expect(await wrong(one)).toBe("later");
    expect((await one.signIn(SECRET, known)).kind).toBe("admitted");
    // Nobody makes attempts of his own by a made-up name.
    const forged = known.replace(/^./, (digit) => (digit === "0" ? "1" : "0"));
    expect(await wrong(one, forged)).toBe("later");
    for (let i = 0; i < 9; i++) expect(await wrong(one, known)).toBe("wrong");
    expect(await wrong(one, known)).toBe("later");
  });
});
