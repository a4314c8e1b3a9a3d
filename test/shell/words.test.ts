import { expect, test } from "vitest";
import { clamp } from "../../shell/src/words.ts";

test("a text that fits stays as it is, a longer one ends in an ellipsis", () => {
  expect(clamp("", 3)).toBe("");
  expect(clamp("abc", 3)).toBe("abc");
  expect(clamp("abcd", 3)).toBe("abc\u2026");
});
