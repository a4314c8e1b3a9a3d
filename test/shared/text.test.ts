import { describe, expect, test } from "vitest";
import { clampChars, clampUtf8, placesOf, toUtf8, utf8Length } from "../../server/shared/text.ts";

const SAMPLES = ["", "plain", "grüße", "漢字", "a😀b", "\ud800lone", "x\udc00", "😀".repeat(9)];

describe("text", () => {
  test.each(SAMPLES)("the UTF-8 length of %j is what the encoder writes", (text) => {
    expect(utf8Length(text)).toBe(toUtf8(text).length);
  });

  test("clamping to bytes never splits a character", () => {
    expect(clampUtf8("a😀b", 4)).toBe("a");
    expect(clampUtf8("a😀b", 5)).toBe("a😀");
    expect(clampUtf8("漢字", 3)).toBe("漢");
    expect(clampUtf8("short", 100)).toBe("short");
  });

  test("clamping to characters marks the cut and keeps surrogate pairs whole", () => {
    expect(clampChars("abcdef", 4)).toBe("abc…");
    expect(clampChars("ab😀def", 4)).toBe("ab…");
    expect(clampChars("abcd", 4)).toBe("abcd");
  });
});

describe("where an error was made", () => {
  const text = (error: Error) => placesOf(error).join("\n");

  test.each(["", "plain", "Error", "two\nlines"])(
    "is all that is told of one that says %j",
    (said) => {
      const error = new Error(said);
      expect(placesOf(error).length).toBeGreaterThan(0);
      expect(placesOf(error)[0]).toContain("text.test.ts");
      for (const line of placesOf(error)) expect(line).toMatch(/^\s+at /);
    },
  );

  test("E4: is not what the text of the error gives for a place", () => {
    const error = new Error("failed\n    at sk-live-1 (file:///a.js:1:2)\n    at sk-live-1");
    expect(error.stack).toContain("    at sk-live-1");
    expect(text(error)).toContain("text.test.ts");
    expect(text(error)).not.toContain("sk-live-1");
  });

  test("is not told where the text is another one by now, or there is no stack", () => {
    const error = new Error("failed\n    at sk-live-1 (file:///a.js:1:2)");
    // Only now is the stack as it stays.
    expect(error.stack).toContain("sk-live-1");
    error.message = "changed";
    expect(placesOf(error)).toEqual([]);
    expect(placesOf({ name: "Error", message: "x" })).toEqual([]);
  });
});
