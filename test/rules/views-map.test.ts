import { Visitor } from "vite";
import { describe, expect, test } from "vitest";
import { parse, sources, type Source } from "./tree.ts";

/** What views are promised, clause by clause. */
const COUNTS = { U: 14, V: 11 };
const CLAUSES = Object.entries(COUNTS).flatMap(([letter, count]) =>
  Array.from({ length: count }, (_, at) => `${letter}${at + 1}`),
);

const [page] = sources(/^documentation\/promises\/views\.md$/);
const files = new Map(sources(/^(test|verify)\/.*\.ts$/).map((file) => [file.path, file]));

/** Tests of one file, as a row names them. */
interface Named {
  readonly path: string;
  readonly titles: readonly string[];
}

/** The rows of `| clause | promise | groups |`, a group being `` `path` title; title ``. */
function rowsOf(text: string): ReadonlyMap<string, readonly Named[]> {
  const rows = text.matchAll(/^\| ([UV]\d+) \| [^|]+ \| (.+) \|$/gm);
  return new Map([...rows].map(([, clause = "", groups = ""]) => [clause, groupsOf(groups)]));
}

function groupsOf(cell: string): readonly Named[] {
  return cell.split("<br>").map((group) => {
    const [, path = "", titles = ""] = /^`([^`]+)` (.+)$/.exec(group) ?? [];
    return { path, titles: titles.split("; ").filter((title) => title !== "") };
  });
}

/** Every text that stands in a file: titles of tests and groups, rows of tables, cases. */
function textsOf(file: Source): ReadonlySet<string> {
  const found = new Set<string>();
  new Visitor({
    Literal: ({ value }) => void (typeof value === "string" && found.add(value)),
    TemplateLiteral({ quasis: [only, ...more] }) {
      if (only && more.length === 0) found.add(only.value.cooked ?? "");
    },
  }).visit(parse(file).program);
  return found;
}

/** What is wrong with a row, one line for each thing. */
function problems(clause: string, named: readonly Named[]): readonly string[] {
  const texts = named.map(({ path }) => {
    const file = files.get(path);
    return file ? textsOf(file) : undefined;
  });
  const cites = new RegExp(`\\b${clause}\\b`);
  const isCited = texts.some((all) => [...(all ?? [])].some((text) => cites.test(text)));
  return [
    ...named.flatMap(({ path, titles }, at) => {
      const all = texts[at];
      if (!all) return [`${clause}: there is no ${path}`];
      if (titles.length === 0) return [`${clause}: ${path} stands without a title`];
      return titles
        .filter((title) => !all.has(title))
        .map((title) => `${clause}: ${path} has no ${JSON.stringify(title)}`);
    }),
    ...(isCited ? [] : [`${clause}: none of its tests cites it`]),
  ];
}

describe("the map of views", () => {
  const rows = rowsOf(page?.text ?? "");

  test("names every clause, in order, and none that nobody knows", () => {
    expect([...rows.keys()]).toEqual(CLAUSES);
  });

  test.each(CLAUSES)("%s leads to tests that there are", (clause) => {
    expect(problems(clause, rows.get(clause) ?? [])).toEqual([]);
  });

  test("would be caught leading nowhere", () => {
    const path = "test/view/payload.test.ts";
    const title = "U4: a payload weighs the bytes of its JSON";
    const row = (cell: string) =>
      problems("U4", rowsOf(`| U4 | bytes | ${cell} |`).get("U4") ?? []);
    expect(row(`\`${path}\` ${title}`)).toEqual([]);
    expect(row(`\`${path}\` ${title}; a payload weighs nothing`)).toEqual([
      `U4: ${path} has no "a payload weighs nothing"`,
    ]);
    expect(row(`\`test/view/gone.test.ts\` ${title}`)).toEqual([
      "U4: there is no test/view/gone.test.ts",
      "U4: none of its tests cites it",
    ]);
    expect(
      row("`test/shell/size.test.ts` U14: no height is ever 0, negative or not a number"),
    ).toEqual(["U4: none of its tests cites it"]);
    expect(row("see there")).toEqual(["U4: there is no ", "U4: none of its tests cites it"]);
  });
});
