import { describe, expect, test } from "vitest";
import { identifier } from "../../server/shared/identifier.ts";

describe("A2: a shortcut's name", () => {
  test.each([
    ["create_issue", "create_issue"],
    ["$value", "$value"],
    ["create-issue", "create_issue"],
    ["a.b c", "a_b_c"],
    ["9lives", "_9lives"],
    ["delete", "delete_"],
    ["await", "await_"],
    ["Delete", "Delete"],
    ["名前", "__"],
    ["🦊fox", "_fox"],
    ["é", "_"],
    ["", "_"],
    ["9-", "_9_"],
  ])("of %j is %j", (name, expected) => {
    expect(identifier(name)).toBe(expected);
  });

  test("is always one that JavaScript accepts as an identifier", () => {
    for (const name of [
      "class",
      "let",
      "static",
      "yield",
      "1",
      "-",
      "a\nb",
      "\u0000",
      "__proto__",
    ]) {
      expect(() => new Function(`"use strict"; let ${identifier(name)};`)).not.toThrow();
    }
    // The control: unchanged, the same names do not compile.
    expect(() => new Function(`"use strict"; let class;`)).toThrow(SyntaxError);
  });
});
