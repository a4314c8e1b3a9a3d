import { describe, expect, test } from "vitest";
import { patternWork } from "../../server/shared/pattern-work.ts";

const degree = (source: string) => patternWork(source).degree;

describe("the work of a pattern", () => {
  test.each([
    ["^abc$", 0],
    ["^[a-z(+*]{3}$", 0],
    ["^[a-z][a-z0-9_]*$", 1],
    ["^\\(\\+\\*x\\[+$", 1],
    ["^\\p{L}+$", 1],
    ["^\\d{4}-\\d{2}$", 0],
    ["^(?<year>\\d{4})(?:-\\d{2})?$", 0],
    ["^[^@]+@[^@]+$", 2],
    ["a+", 2],
    ["^a|b+", 2],
    ["^(a+b){2}$", 2],
  ])("%s grows with the length of a text to the power of %d", (source, expected) => {
    expect(degree(source)).toBe(expected);
  });

  test.each([
    "^(a+)+$",
    "^(a|a)*$",
    "^(?:a?){40}$",
    "^(a*)*$",
    "^(\\w+\\s?)*$",
    "^((a)b?)+$",
    "^(.*)\\1$",
    "^(?<a>.*)\\k<a>$",
    "^(a{1,9}){20,}$",
  ])("%s may double with every character", (source) => {
    expect(degree(source)).toBe(Number.POSITIVE_INFINITY);
  });

  test("ways that do not depend on the length multiply", () => {
    expect(patternWork("^a?b?(c|d|e)$")).toEqual({ degree: 0, choices: 12 });
    expect(patternWork(`^${"a?".repeat(30)}$`).choices).toBe(2 ** 30);
    expect(patternWork("^(?:a|b){3}$").choices).toBe(8);
  });
});
