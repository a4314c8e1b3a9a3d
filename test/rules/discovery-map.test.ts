import { Visitor } from "vite";
import { describe, expect, test } from "vitest";
import { parse, sources, type Source } from "./tree.ts";

/** What catalogs and discovery are promised to be, clause by clause. */
const CLAUSES = "C1 C2 C3 S1 S2 S3 S4 S5 S6 S7".split(" ");

const CITING = /^((?:[A-Z]\d+, )*[A-Z]\d+): (.+)$/s;
const [page] = sources(/^documentation\/discovery\.md$/);
const tests = sources(/^(test|verify)\/.*\.test\.ts$/).filter(
  ({ path }) => !path.includes("/rules/"),
);

/** Titles of groups and tests that begin with a clause, by clause, as `file: title`. */
function shown(all: readonly Source[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const file of all) {
    for (const title of titlesOf(file)) {
      const [, clauses = "", promise = ""] = CITING.exec(title) ?? [];
      for (const clause of clauses.split(", ").filter((one) => CLAUSES.includes(one))) {
        found.set(clause, [...(found.get(clause) ?? []), `${file.path}: ${promise.trim()}`]);
      }
    }
  }
  return found;
}

/** The first argument of every call that could be a group or a test; a template up to its first value. */
function titlesOf(file: Source): readonly string[] {
  const titles: string[] = [];
  new Visitor({
    CallExpression({ arguments: [first] }) {
      if (first?.type === "Literal" && typeof first.value === "string") titles.push(first.value);
      if (first?.type === "TemplateLiteral") titles.push(first.quasis[0]?.value.cooked ?? "");
    },
  }).visit(parse(file).program);
  return titles;
}

/** What the page lists below a heading such as `### C1`. */
function listed(text: string): ReadonlyMap<string, readonly string[]> {
  const sections = text.split(/^### (?=[A-Z]\d+\b)/m).slice(1);
  return new Map(
    sections.map((section) => {
      const lines = section.replace(/^#{1,2} .*/ms, "").split("\n");
      const entries: string[] = [];
      let path = "";
      for (const line of lines
        .join("\n")
        .replace(/\n {2,}(?=\S)/g, " ")
        .split("\n")) {
        path = /^- `([^`]+)`/.exec(line)?.[1] ?? path;
        for (const title of line.replace(/^- `[^`]+`: /, "").split("; ")) {
          if (line.startsWith("- `")) entries.push(`${path}: ${title}`);
        }
      }
      return [/^[A-Z]\d+/.exec(section)?.[0] ?? "", entries];
    }),
  );
}

describe("what discovery is promised to be", () => {
  const inTests = shown(tests);
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
    expect([...shown([{ path: "a.test.ts", text }])]).toEqual([
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
