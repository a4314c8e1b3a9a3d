import { describe, expect, test } from "vitest";
import {
  firstThatAdmits,
  type Verdict,
  type WayIn,
} from "../../../server/access/inbound/verdict.ts";

const says = (verdict: Verdict): WayIn => ({ check: async () => verdict });
const ADMITTED: Verdict = { kind: "admitted", principal: "one" };
const UNAVAILABLE: Verdict = { kind: "unavailable", message: "Later." };
const INVALID: Verdict = { kind: "invalid", message: "No." };
const broken: WayIn = {
  check: () => Promise.reject(new Error("secret sk-1 in a message")),
};

function request(authorization?: string): Request {
  return new Request("http://127.0.0.1/mcp", authorization ? { headers: { authorization } } : {});
}

async function decide(ways: readonly WayIn[], reported: unknown[] = []) {
  const authenticate = firstThatAdmits(ways, (error, what) => reported.push([error.name, what]));
  return authenticate(request("Bearer abc"));
}

describe("several ways in", () => {
  test("one is enough, and those behind it are not asked", async () => {
    let asked = 0;
    const counting: WayIn = { check: async () => (asked++, INVALID) };
    expect(await decide([says({ kind: "unknown" }), says(ADMITTED), counting])).toEqual(ADMITTED);
    expect(asked).toBe(0);
  });

  test("one that throws opens nothing, says nothing, and is reported", async () => {
    const reported: unknown[] = [];
    const identity = await decide([broken, says(INVALID)], reported);
    expect(identity).toEqual({
      kind: "unavailable",
      message: "Who calls cannot be checked now.",
    });
    expect(reported).toEqual([["Error", "inbound auth"]]);
  });

  test("one that throws or does not answer shuts no other", async () => {
    expect(await decide([broken, says(UNAVAILABLE), says(ADMITTED)])).toEqual(ADMITTED);
  });

  test.each<[string, Verdict[], string]>([
    ["nobody knows it", [{ kind: "unknown" }, { kind: "unknown" }], "invalid"],
    ["one cannot judge it", [INVALID, UNAVAILABLE, { kind: "unknown" }], "unavailable"],
    [
      "it is genuine and not enough",
      [{ kind: "insufficient", message: "" }, INVALID],
      "insufficient",
    ],
  ])("when %s the caller hears the most useful answer", async (_, verdicts, kind) => {
    expect((await decide(verdicts.map(says))).kind).toBe(kind);
  });

  test.each([
    undefined,
    "Basic abc",
    "Bearer",
    "Bearer a b",
    "Bearer a, Bearer b",
    `Bearer ${"a".repeat(20_000)}`,
  ])("the header %j carries no credential", async (header) => {
    const authenticate = firstThatAdmits([says(ADMITTED)], () => {});
    expect(await authenticate(request(header))).toEqual({ kind: "missing" });
    expect(await authenticate(request("bearer  abc "))).toEqual(ADMITTED);
  });
});
