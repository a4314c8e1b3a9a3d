import { describe, expect, test } from "vitest";
import { offences } from "./style.ts";
import { CODE, sources } from "./tree.ts";

const files = sources(CODE);
const found = (text: string) => offences({ path: "test/a.test.ts", text });

describe("style", () => {
  test("no file steps around the types, and no test is left out, repeated or alone", () => {
    expect(files.length).toBeGreaterThan(10);
    expect(files.flatMap(offences)).toEqual([]);
  });

  test.each([
    ["any", "let a: any;", "any"],
    ["any within a type", "type A = Map<string, any[]>;", "any"],
    ["a silenced line", `// ${"@ts"}-ignore\nlet a = 1;`, "@ts-ignore"],
    ["a silenced file", `/* ${"@ts"}-nocheck */\nlet a = 1;`, "@ts-nocheck"],
    ["a test alone", 'test.only("a", () => {});', "test.only"],
    ["a test left out", 'it.skip("a", () => {});', "it.skip"],
    ["a group left out", 'describe.skip("a", () => {});', "describe.skip"],
    ["a test for later", 'test.todo("a");', "test.todo"],
    ["a repeated test", 'test("a", { retry: 2 }, () => {});', "retry"],
  ])("%s is caught", (_, text, what) => {
    expect(found(text)).toEqual([
      expect.stringMatching(new RegExp(`^test/a\\.test\\.ts:[12] ${what}$`)),
    ]);
  });

  test("the same words in a string or a name are no offence", () => {
    expect(found('const any = "test.only"; const many: string = any; list.only();')).toEqual([]);
  });

  test("a group that only one system can run is no offence", () => {
    expect(found('describe.runIf(linux)("a", () => {});')).toEqual([]);
  });
});
