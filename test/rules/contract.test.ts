import { describe, expect, test } from "vitest";
import { CASES } from "../suites/executor/cases/index.ts";
import { isNodeOnly, reaches } from "./graph.ts";
import { CODE, sources } from "./tree.ts";

/** What programs are promised, clause by clause. */
const CLAUSES = (
  "P1 P2 P3 P4 A1 A2 A3 A4 S1 S3 S5 S6 S7 E1 E2 E3 E4 E5 R1 R2 R3 R4 L1 L2 L3 L4 M1 M2 M3 " +
  "U1 U2 U3 U4 U9 V1 V2 V3 X1 X2 X3"
).split(" ");

const [page] = sources(/^documentation\/programs\.md$/);

/** What a page names for each clause, in rows of `| clause | title; title (other clauses) |`. */
function named(text: string): ReadonlyMap<string, readonly string[]> {
  const rows = text.matchAll(/^\| ([A-Z]\d+) \| (.+) \|$/gm);
  return new Map([...rows].map(([, clause = "", titles = ""]) => [clause, titles.split("; ")]));
}

/** The same from the table: each case stands at the clause that it was written for. */
function shown(clause: string): readonly string[] {
  return CASES.filter(({ clauses }) => clauses[0] === clause).map(
    ({ title, clauses: [, ...others] }) =>
      others.length === 0 ? title : `${title} (${others.join(", ")})`,
  );
}

describe("what programs are promised", () => {
  const listed = named(page?.text ?? "");

  test.each(CLAUSES)("%s has a case, and the page names the cases that it has", (clause) => {
    expect(shown(clause).length).toBeGreaterThan(0);
    expect(listed.get(clause)?.toSorted()).toEqual(shown(clause).toSorted());
  });

  test("neither the page nor a case names a clause that nobody knows", () => {
    expect([...listed.keys()]).toEqual(CLAUSES);
    const cited = CASES.flatMap(({ clauses }) => clauses);
    expect(cited.filter((clause) => !CLAUSES.includes(clause))).toEqual([]);
  });

  test("what only some executors can do has a row, with what the others do instead", () => {
    const settings = CASES.flatMap((one) => {
      return "inputs" in one ? [one, ...Object.values(one.inputs)] : [one];
    });
    const needs = new Set(settings.flatMap(({ needs }) => needs ?? []));
    const rows = (page?.text ?? "").matchAll(/^\| `([a-z ]+)` \| [^|]+ \| [^|]+ \|$/gm);
    expect([...rows].map(([, ability]) => ability).toSorted()).toEqual([...needs].toSorted());
  });

  test("every case has a title of its own that a row can hold", () => {
    const titles = CASES.map(({ title }) => title);
    expect(titles.filter((title, at) => titles.indexOf(title) !== at)).toEqual([]);
    expect(titles.filter((title) => /; |[|\n]|\)$/.test(title))).toEqual([]);
  });

  test("a title that is no case's, or one that is left out, is caught", () => {
    const row = (all: readonly string[]) => named(`| P4 | ${all.join("; ")} |`).get("P4");
    expect(row(shown("P4"))).toEqual(shown("P4"));
    expect(row([...shown("P4"), "a promise"])).not.toEqual(shown("P4"));
    expect(row(shown("P4").slice(1))).not.toEqual(shown("P4"));
  });
});

test("what serves the cases needs neither Node nor the test runner, so that any runtime can", () => {
  const files = sources(CODE);
  const foreign = (specifier: string) => isNodeOnly(specifier) || specifier === "vitest";
  expect(reaches(files, "test/suites/executor/deployment.ts", foreign)).toEqual([]);
  expect(reaches(files, "test/suites/executor/suite.ts", foreign)).not.toEqual([]);
});
