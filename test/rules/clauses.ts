import { Visitor } from "vite";
import { parse, sources, type Source } from "./tree.ts";

const CITING = /^((?:[A-Z]\d+, )*[A-Z]\d+): (.+)$/s;
const MAX_LINE = 100;

/** Everything that can hold a group or a test, but the rules themselves. */
const tests = sources(/^(test|verify)\/.*\.test\.ts$/).filter(
  ({ path }) => !path.includes("/rules/"),
);

/** Titles of groups and tests that begin with one of these clauses, by clause, as `file: title`. */
export function shown(
  clauses: readonly string[],
  all: readonly Source[] = tests,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const file of all) {
    for (const title of titlesOf(file)) {
      const [, cited = "", promise = ""] = CITING.exec(title) ?? [];
      for (const clause of cited.split(", ").filter((one) => clauses.includes(one))) {
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

/** What a page lists below a heading such as `### C1`. */
export function listed(text: string): ReadonlyMap<string, readonly string[]> {
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

/** The sections of a page as {@link listed} reads them; `headings` are `C1 — whole`. */
export function written(
  headings: readonly string[],
  entries: ReadonlyMap<string, readonly string[]>,
): string {
  const sections = headings.map((heading) => {
    const byFile = new Map<string, string[]>();
    for (const entry of (entries.get(heading.split(" ")[0] ?? "") ?? []).toSorted()) {
      const [, path = "", title = ""] = /^(\S+): (.+)$/s.exec(entry) ?? [];
      byFile.set(path, [...(byFile.get(path) ?? []), title]);
    }
    const items = [...byFile].map(([path, titles]) => wrap(`- \`${path}\`: ${titles.join("; ")}`));
    return `### ${heading}\n\n${items.join("\n")}\n`;
  });
  return sections.join("\n");
}

function wrap(text: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > MAX_LINE) {
      lines.push(line);
      line = `  ${word}`;
    } else line += line === "" ? word : ` ${word}`;
  }
  return [...lines, line].join("\n");
}
