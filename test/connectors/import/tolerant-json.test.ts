import { describe, expect, test } from "vitest";
import { readTolerantJson } from "../../../server/connectors/import/tolerant-json.ts";
import { failureOf, valueOf } from "../../support/catalog.ts";

describe("a file of an editor", () => {
  test.each([
    [
      "plain JSON",
      '{"a": [1, -2.5e3, true, null, "x"], "b": {}}',
      { a: [1, -2500, true, null, "x"], b: {} },
    ],
    ["line comments", '// first\n{"a": 1 // one\n}\n// last', { a: 1 }],
    ["block comments", '/* a\n * b **/ {/**/"a":/* , */[1,/**/2]}', { a: [1, 2] }],
    [
      "commas before brackets",
      '{"a": [1, 2, ], "b": {"c": 1,}, // end\n}',
      { a: [1, 2], b: { c: 1 } },
    ],
    [
      "what looks like a comment in a text",
      '{"url": "https://a/b", "c": "/* , } */"}',
      { url: "https://a/b", c: "/* , } */" },
    ],
    ["escapes", '["\\"\\\\\\u00e9\\n", "//"]', ['"\\é\n', "//"]],
    ["a byte order mark", '\ufeff{"a": 1}', { a: 1 }],
    ["windows line ends", '{\r\n// one\r\n"a": 1,\r\n}', { a: 1 }],
  ])("is read with %s", (_, text, value) => {
    expect(valueOf(readTolerantJson(text))).toEqual(value);
  });

  test.each([
    ["", 1, 1],
    ["  ", 1, 3],
    ['{"a": 1', 1, 8],
    ['{"a" 1}', 1, 6],
    ['{\n  "a": oops\n}', 2, 8],
    ['{"a": 1,, "b": 2}', 1, 9],
    ["[,]", 1, 2],
    ["[1 2]", 1, 4],
    ['{"a": "no end}', 1, 7],
    ['["a\nb"]', 1, 2],
    ["{} {}", 1, 4],
    ["/* no end", 1, 1],
    ["{'a': 1}", 1, 2],
    ["[01]", 1, 2],
    ["[1.]", 1, 2],
    ["[truely]", 1, 2],
    ['["\\x"]', 1, 2],
  ])("%j is told to be none at its line and column", (text, line, column) => {
    const { code, message } = failureOf(readTolerantJson(text));
    expect(code).toBe("invalid_args");
    expect(message).toBe(`It is no JSON: see line ${line}, column ${column}.`);
  });

  test("E4: the place of a mistake is told without what stands there", () => {
    const text = '{"token": "sk-s3cret" "x": 1}';
    expect(failureOf(readTolerantJson(text)).message).not.toContain("s3cret");
  });

  test("a member called __proto__ is a member and nothing else", () => {
    const value = valueOf(readTolerantJson('{"__proto__": {"a": 1}}')) as object;
    expect(Object.keys(value)).toEqual(["__proto__"]);
    expect("a" in value).toBe(false);
  });

  test("nesting without an end is a mistake, not a crash", () => {
    expect(failureOf(readTolerantJson("[".repeat(100_000))).code).toBe("invalid_args");
    expect(readTolerantJson(`${"[".repeat(200)}${"]".repeat(200)}`).ok).toBe(true);
  });
});
