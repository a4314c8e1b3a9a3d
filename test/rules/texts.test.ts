import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import { gitFiles, parse, sources, type Source } from "./tree.ts";

const TEXT =
  /\.(ts|mts|mjs|js|json|md|css|html|yml|yaml|sh)$|^(\.ci\/run|LICENSE|\.npmrc|\.gitignore)$/;
const MAX_LINE = 100;

const texts = sources(TEXT);
const lock = texts.filter(({ path }) => path === "package-lock.json");
const written = texts.filter(({ path }) => path !== "package-lock.json");
const documentation = texts.filter(({ path }) => path.endsWith(".md"));

/** Assembled, so that this file does not hold what it forbids. */
const FOLDERS = ["work", "root", "tmp", "home", "Users", "farm"].join("|");
const MACHINE_PATH = new RegExp(
  `(?:^|[\\s"'\`(=:])(?:[A-Z]:\\\\\\\\?Users|/(?:${FOLDERS}))[/\\\\]\\w`,
  "m",
);
const REGISTRY = new RegExp(
  ["registry\\.\\w+\\.", "npm(js|mirror)\\.\\w", "yarnpkg\\.\\w"].join("|"),
  "i",
);
const CLAUSE = /\b(?:contract|clause)s? [A-Z]\d{1,2}\b|\([A-Z]\d{1,2}\)|^\s*[A-Z]\d{1,2}:/;

const matching = (all: readonly Source[], pattern: RegExp) =>
  all.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

describe("what the repository says", () => {
  test("no file names a folder of somebody's machine", () => {
    expect(matching(written, MACHINE_PATH)).toEqual([]);
  });

  test("a path of somebody's machine is caught, a path of the product is not", () => {
    const holds = (text: string) => MACHINE_PATH.test(text);
    expect(holds(`const a = "/${"home"}/ada/connecta";`)).toBe(true);
    expect(holds(`see /${"root"}/project`)).toBe(true);
    expect(holds(`"C:\\${"Users"}\\ada"`)).toBe(true);
    expect(holds('const a = "/usr/bin/chromium"; fetch("/mcp"); "./work/a"')).toBe(false);
  });

  test("no file names a package registry", () => {
    expect(matching(texts, REGISTRY)).toEqual([]);
    expect(REGISTRY.test(`https://${"registry"}.npm${"js"}.org/zod`)).toBe(true);
  });

  test("the lock file holds no address to download from", () => {
    expect(lock).toHaveLength(1);
    const holds = (text: string) => /"resolved": "(?:https?|git)/.test(text);
    expect(lock.filter(({ text }) => holds(text))).toEqual([]);
    expect(holds('"resolved": "https://host/zod.tgz"')).toBe(true);
  });

  test("clause numbers stand in the titles of tests, not in the code", () => {
    const code = sources(/^(server|shell)\/.*\.ts$/);
    const found = code.flatMap((file) =>
      parse(file)
        .comments.filter(({ value }) => CLAUSE.test(value))
        .map(({ value }) => `${file.path}: ${value.trim()}`),
    );
    expect(found).toEqual([]);
    expect(CLAUSE.test(" The one error shape (contract E1)")).toBe(true);
  });
});

describe("what the repository holds", () => {
  const GENERATED = /(^|\/)(node_modules|dist|coverage)\/|^verify\/out\/|^bun\.lock|\.log$/;

  test("nothing generated is tracked", () => {
    expect(gitFiles(false).filter((path) => GENERATED.test(path))).toEqual([]);
  });

  test.each(["dist/server/index.js", "shell/dist/index.html", "verify/out/a.png", "bun.lockb"])(
    "%s would be caught",
    (path) => expect(GENERATED.test(path)).toBe(true),
  );

  test("no file is called by what it is not: utils, helpers, misc", () => {
    const VAGUE = /(^|\/)(utils?|helpers?|misc|common)(\.|\/)/i;
    expect(gitFiles().filter((path) => VAGUE.test(path))).toEqual([]);
    expect(VAGUE.test("server/shared/utils.ts")).toBe(true);
  });
});

/** Lines over the limit that could have been broken: no table row, no line of one long word. */
function longLines({ path, text }: Source): readonly string[] {
  return text.split("\n").flatMap((line, index) => {
    const breakable = /\S\s+\S/.test(line.replace(/^\s*([-*>]|\d+\.)\s+/, ""));
    const row = line.trimStart().startsWith("|");
    return line.length > MAX_LINE && breakable && !row ? [`${path}:${index + 1}`] : [];
  });
}

/** Relative links of a page that lead to no file of the repository. */
function deadLinks({ path, text }: Source, files: ReadonlySet<string>): readonly string[] {
  return [...text.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)]
    .map(([, target]) => target ?? "")
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const found = posix.join(posix.dirname(path), target).replace(/\/$/, "");
      return ![...files].some((file) => file === found || file.startsWith(`${found}/`));
    })
    .map((target) => `${path}: ${target}`);
}

describe("documentation", () => {
  test("every relative link leads to a file of the repository", () => {
    const files = new Set(gitFiles());
    expect(documentation.flatMap((page) => deadLinks(page, files))).toEqual([]);
    const page = { path: "documentation/a.md", text: "[b](b.md) [c](../README.md#x)" };
    expect(deadLinks(page, files)).toEqual(["documentation/a.md: b.md"]);
  });

  test("every line is at most 100 characters", () => {
    expect(documentation.length).toBeGreaterThan(1);
    expect(documentation.flatMap(longLines)).toEqual([]);
  });

  test("a longer line is caught, unless it is a table row or cannot be broken", () => {
    const found = (text: string) => longLines({ path: "README.md", text });
    expect(found(`short\n${"word ".repeat(21)}`)).toEqual(["README.md:2"]);
    expect(found(`| ${"cell ".repeat(30)} |`)).toEqual([]);
    expect(found(`- https://example.com/${"a".repeat(100)}`)).toEqual([]);
  });
});
