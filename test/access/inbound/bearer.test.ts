import { describe, expect, test } from "vitest";
import { bearer } from "../../../server/access/inbound/bearer.ts";

describe("the one token of a deployment", () => {
  test("it alone is admitted", async () => {
    const way = bearer("correct-horse-battery");
    expect(await way.check("correct-horse-battery")).toEqual({
      kind: "admitted",
      principal: "bearer",
    });
    expect(await way.check("correct-horse-batterz")).toEqual({ kind: "unknown" });
    expect(await way.check("")).toEqual({ kind: "unknown" });
  });

  test.each<[string, unknown]>([
    ["short", "short"],
    ["missing", undefined],
    ["blank", " ".repeat(32)],
    ["short but for its blanks", `${" ".repeat(30)}x`],
  ])("one that is %s is refused at construction", (_, token) => {
    expect(() => bearer(token as string)).toThrow(
      "auth.bearer needs at least 16 characters of secret.",
    );
  });

  test.each<[string, string]>([
    ["a blank within", "correct horse battery"],
    ["a line break at its end", "correct-horse-battery\n"],
    ["letters that no header carries", "correct-hörse-battery"],
  ])("one with %s, which nobody could send, is refused at construction", (_, token) => {
    expect(() => bearer(token)).toThrow("auth.bearer has blanks");
  });
});
