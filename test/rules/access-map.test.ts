import { Visitor } from "vite";
import { describe, expect, test } from "vitest";
import { parse, sources, type Source } from "./tree.ts";

const [page] = sources(/^documentation\/security\.md$/);
const files = new Map(sources(/^(test|verify)\/.*\.test\.ts$/).map((file) => [file.path, file]));

/** What rows of `| promise | mechanism | tests |` name, a group of tests being `` `path` title; title ``. */
function namedBy(text: string): readonly (readonly [path: string, title: string])[] {
  const rows = text.matchAll(/^\| [^|]+ \| [^|]+ \| (`(?:test|verify)\/.+) \|$/gm);
  return [...rows].flatMap(([, cell = ""]) =>
    cell.split("<br>").flatMap((group) => {
      const [, path = "", titles = ""] = /^`([^`]+)` (.+)$/.exec(group) ?? [];
      return titles.split("; ").map((title) => [path, title] as const);
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
      return !file || !titlesOf(file).has(title);
    })
    .map(([path, title]) => `${path} ${title}`);
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
  });
});
