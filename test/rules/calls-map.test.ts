import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { listed, shown, written } from "./clauses.ts";

/*
 * `RECORD=1 npx vitest run test/rules/calls-map.test.ts` writes down the tests that there are today;
 * read the difference before keeping it.
 */
/** What the gateway, calls and errors are promised to be, clause by clause. */
const HEADINGS = [
  "G1 — one endpoint, no session",
  "G2 — seven tools",
  "G3 — what views see",
  "G4 — one extension",
  "G5 — one resource",
  "G6 — what there is stays",
  "G7 — mistakes that stop a start",
  "G8 — little text in every conversation",
  "I1 — one path, in order",
  "I2 — arguments",
  "I3 — modes and failures",
  "I4 — deadlines and retries",
  "I5 — large results",
  "I6 — fields",
  "I7 — blocks",
  "I8 — writes",
  "E1 — one shape",
  "E2 — codes",
  "E3 — the way on",
  "E4 — nothing secret",
  "E5 — nothing forged",
];
const CLAUSES = HEADINGS.map((heading) => heading.split(" ")[0] ?? "");
const MAP = /^### [^]*(?![^])/m;

/** Each page, and the clauses that it names. */
const PAGES: Readonly<Record<string, RegExp>> = { gateway: /^G/, calls: /^[IE]/ };
const addressOf = (page: string) =>
  new URL(`../../documentation/promises/${page}.md`, import.meta.url);

const inTests = shown(CLAUSES);
const pages = Object.entries(PAGES).map(([page, clauses]) => {
  const headings = HEADINGS.filter((heading) => clauses.test(heading));
  if (process.env.RECORD) {
    const text = readFileSync(addressOf(page), "utf8");
    writeFileSync(
      addressOf(page),
      text.replace(MAP, () => written(headings, inTests)),
    );
  }
  return { page, headings, text: readFileSync(addressOf(page), "utf8") };
});

describe("what calls are promised to be", () => {
  const onPages = new Map(pages.flatMap(({ text }) => [...listed(text)]));

  test.each(CLAUSES)("%s has tests, and the page names those that it has", (clause) => {
    expect(inTests.get(clause)?.length).toBeGreaterThan(0);
    expect(onPages.get(clause)?.toSorted()).toEqual(inTests.get(clause)?.toSorted());
  });

  test.each(pages)(
    "$page names its clauses in their order, and no others",
    ({ text, headings }) => {
      expect([...text.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading)).toEqual(headings);
    },
  );

  test("no title holds what would part it on the page", () => {
    const titles = [...inTests.values()].flat();
    expect(titles.filter((title) => /; |[`\n]/.test(title))).toEqual([]);
  });

  test("what is written down is what is read, however long its lines are", () => {
    const titles = ["a.test.ts: one", `a.test.ts: ${"word ".repeat(60)}end`, "b.test.ts: two"];
    const text = written(["I1 — one path"], new Map([["I1", titles]]));
    expect(listed(text).get("I1")).toEqual(titles);
    expect(text.split("\n").every((line) => line.length <= 100)).toBe(true);
  });
});
