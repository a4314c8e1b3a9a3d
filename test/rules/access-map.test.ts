import { Visitor } from "vite";
import { describe, expect, test } from "vitest";
import { parse, sources, type Source } from "./tree.ts";

const [page] = sources(/^documentation\/security\.md$/);
const files = new Map(sources(/^(test|verify)\/.*\.test\.ts$/).map((file) => [file.path, file]));

type Named = readonly [path: string, title?: string];

/**
 * What rows of `| promise | mechanism | tests |` name, a group of tests being `` `path` title; title ``
 * or, where a whole file shows it, `` `path` `` alone.
 */
function namedBy(text: string): readonly Named[] {
  const rows = text.matchAll(/^\| [^|]+ \| [^|]+ \| (`(?:test|verify)\/.+) \|$/gm);
  return [...rows].flatMap(([, cell = ""]) =>
    cell.split("<br>").flatMap((group): readonly Named[] => {
      const [, path = "", titles] = /^`([^`]+)`(?: (.+))?$/.exec(group) ?? [];
      return titles?.split("; ").map((title): Named => [path, title]) ?? [[path]];
    }),
  );
}

/** Titles of tests and groups of one file. */
function titlesOf(file: Source): ReadonlySet<string> {
  const found = new Set<string>();
  new Visitor({
    Literal: ({ value }) => void (typeof value === "string" && found.add(value)),
  }).visit(parse(file).program);
  return found;
}

/** Titles that a page names and no test has. */
function missing(text: string): readonly string[] {
  return namedBy(text)
    .filter(([path, title]) => {
      const file = files.get(path);
      return !file || (title !== undefined && !titlesOf(file).has(title));
    })
    .map((named) => named.join(" "));
}

describe("who gets in", () => {
  test("every promise names tests that are there", () => {
    expect(namedBy(page?.text ?? "").length).toBeGreaterThan(20);
    expect(missing(page?.text ?? "")).toEqual([]);
  });

  test("a test that is not there is caught", () => {
    const row = (title: string) => `| a | b | \`test/http/browsers.test.ts\` ${title} |`;
    expect(missing(row("a page in a browser"))).toEqual([]);
    expect(missing(row("a page in a browser; no such test"))).toEqual([
      "test/http/browsers.test.ts no such test",
    ]);
    expect(missing("| a | b | `test/http/browsers.test.ts` |")).toEqual([]);
    expect(missing("| a | b | `test/http/none.test.ts` |")).toEqual(["test/http/none.test.ts"]);
  });
});
