import { describe, expect, test } from "vitest";
import { listed, shown } from "./clauses.ts";
import { sources } from "./tree.ts";

/** What catalogs and discovery are promised to be, clause by clause. */
const CLAUSES = "C1 C2 C3 S1 S2 S3 S4 S5 S6 S7".split(" ");

const [page] = sources(/^documentation\/discovery\.md$/);

describe("what discovery is promised to be", () => {
  const inTests = shown(CLAUSES);
  const onPage = listed(page?.text ?? "");

  test.each(CLAUSES)("%s has tests, and the page names those that it has", (clause) => {
    expect(inTests.get(clause)?.length).toBeGreaterThan(0);
    expect(onPage.get(clause)?.toSorted()).toEqual(inTests.get(clause)?.toSorted());
  });

  test("the page names no clause that nobody knows", () => {
    expect([...onPage.keys()]).toEqual(CLAUSES);
  });

  test("no title holds what would part it on the page", () => {
    const titles = [...inTests.values()].flat();
    expect(titles.filter((title) => /; |[`\n]/.test(title))).toEqual([]);
  });

  test("a group, a test and a table of tests are found, whatever follows in a template", () => {
    const text = [
      'describe("C1: a", () => {});',
      'test("C1, S2: b", () => {});',
      'test.each([])("S2: %s", () => {});',
      "describe(`S3: c ${1}`, () => {});",
      'test("Z9: d", () => {}); test("e", () => {});',
    ].join("\n");
    expect([...shown(CLAUSES, [{ path: "a.test.ts", text }])]).toEqual([
      ["C1", ["a.test.ts: a", "a.test.ts: b"]],
      ["S2", ["a.test.ts: b", "a.test.ts: %s"]],
      ["S3", ["a.test.ts: c"]],
    ]);
  });

  test("a title that is no test's, or one that is left out, is caught", () => {
    const read = (...lines: string[]) =>
      listed(`### C1 — whole\n\n${lines.join("\n")}\n`).get("C1");
    expect(read("- `a.ts`: b; c\n  d", "- `e.ts`: f")).toEqual(["a.ts: b", "a.ts: c d", "e.ts: f"]);
    expect(read("no list")).toEqual([]);
  });
});
