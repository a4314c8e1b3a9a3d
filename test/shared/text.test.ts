import { describe, expect, test } from "vitest";
import { clampChars, clampUtf8, toUtf8, utf8Length } from "../../server/shared/text.ts";

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
