import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { parseSync } from "vite";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { generatedPages } from "../../scripts/pages/pages.mjs";
import { inWords } from "../../scripts/pages/limits.mjs";
import { INPUTS } from "../../server/tools/inputs.ts";
import { ROOT, sources, type Source } from "./tree.ts";

const MAX_LINES = 250;
const pages = sources(/\.md$/);
const documentation = pages.filter(({ path }) => path.startsWith("documentation/"));
const textOf = (path: string) => pages.find((page) => page.path === path)?.text ?? "";

/** A page without what stands in fences, where a `#` is no heading and a bracket no link. */
function prose(text: string): string {
  return text.replace(/^( *)```[^]*?^\1```$/gm, "");
}

/** Anchors that headings give, as hosts of repositories make them. */
function anchors(text: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const found = [...prose(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => {
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const slug = words.replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-");
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
  return new Set(found);
}

/** Links to a heading that is not there. */
function deadAnchors({ path, text }: Source, of: (path: string) => string): readonly string[] {
  return [...prose(text).matchAll(/\]\(([^)\s#]*)#([^)\s]+)\)/g)]
    .filter(([, target = ""]) => !/^[a-z]+:/.test(target))
    .filter(([, target = "", anchor = ""]) => {
      const page = target === "" ? path : posix.join(posix.dirname(path), target);
      return !anchors(page === path ? text : of(page)).has(anchor);
    })
    .map(([link]) => `${path}: ${link}`);
}

/** Blocks of JavaScript, each with the file that it is said to show. */
function blocks(text: string): readonly { readonly code: string; readonly from?: string }[] {
  const found = text.matchAll(/(?:^<!-- from (\S+) -->\n\n)?^```js\n([^]*?)^```$/gm);
  return [...found].map(([, from, code = ""]) => ({ code, ...(from && { from }) }));
}

/** Whether a block is a module, an expression or the inside of an object. */
function isJavaScript(code: string): boolean {
  const forms = [code, `(${code.replace(/;?\s*$/, "")})`, `({${code}})`];
  return forms.some((form) => parseSync("block.mjs", form).errors.length === 0);
}

describe("pages", () => {
  test("what the code writes is as the code would write it: `npm run pages`", async () => {
    const generated = await generatedPages(ROOT);
    expect(Object.keys(generated)).toContain("documentation/limits.md");
    expect(Object.keys(generated)).toContain("README.md");
    const stale = Object.entries(generated).filter(([path, text]) => textOf(path) !== text);
    expect(stale.map(([path]) => path)).toEqual([]);
  });

  test.each([
    [8 * 1024 * 1024, "bytes", "8 MiB"],
    [4_000_000, "bytes", "4,000,000 bytes"],
    [1_024, "bytes", "1 KiB"],
    [15_000, "ms", "15 s"],
    [250, "ms", "250 ms"],
    [900_000, "ms", "15 min"],
    [604_800_000, "ms", "7 days"],
    [20, "calls", "20 calls"],
    [250_000, "count", "250,000"],
  ])("%d %s is %s", (value, unit, words) => expect(inWords(value, unit)).toBe(words));

  test("no page is longer than one reads at once", () => {
    const long = documentation.filter(({ text }) => text.split("\n").length - 1 > MAX_LINES);
    expect(documentation.length).toBeGreaterThan(10);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  test("every link to a heading leads to one", () => {
    expect(pages.flatMap((page) => deadAnchors(page, textOf))).toEqual([]);
  });

  test("a link to a heading that is not there is caught", () => {
    const text = "# A `b()`: c\n\n## A `b()`: c\n[x](#a-b-c) [y](#a-b-c-1) [z](#a-b) [w](o.md#two)";
    const page = { path: "documentation/a.md", text };
    const dead = (other: string) => deadAnchors(page, () => other);
    expect(dead("# Two")).toEqual(["documentation/a.md: ](#a-b)"]);
    expect(dead("```\n# Two\n```")).toHaveLength(2);
  });

  test("the index names every page", () => {
    const index = textOf("documentation/README.md");
    const missing = documentation
      .map(({ path }) => path.slice("documentation/".length))
      .filter((name) => name !== "README.md" && !index.includes(`](${name}`));
    expect(missing).toEqual([]);
  });

  test("every block of JavaScript parses, on its own or as a part of a config", () => {
    const broken = pages.flatMap(({ path, text }) =>
      blocks(text)
        .filter(({ code }) => !isJavaScript(code))
        .map(({ code }) => `${path}: ${code.slice(0, 60)}`),
    );
    expect(broken).toEqual([]);
    expect(isJavaScript("limits: { concurrency: 4 },")).toBe(true);
    expect(isJavaScript("const a = ;")).toBe(false);
  });

  test("what a newcomer copies first is a file that tests run", () => {
    const first = ["README.md", "documentation/tour.md"].map(textOf);
    const [, ten = ""] = textOf("documentation/connectors.md").split("## Ten minutes");
    const shown = [...first, ten.split("\n## ")[0] ?? ""].flatMap(blocks);
    expect(shown.length).toBeGreaterThan(3);
    expect(shown.filter(({ from }) => from === undefined)).toEqual([]);
  });

  test("the page of the seven tools names their arguments, and marks what can be left out", () => {
    const rows = textOf("documentation/tools.md").matchAll(/^\| `(\w+)` \|.*\| (`[^|]+) \|$/gm);
    const told = [...rows].map(([, name, args = ""]) => [
      name,
      args.replaceAll("`", "").split(", "),
    ]);
    const real = Object.entries(INPUTS).map(([name, { shape }]) => [
      name,
      Object.entries(shape).map(([key, type]) => (isOptional(type) ? `${key}?` : key)),
    ]);
    expect(told).toEqual(real);
  });
});

function isOptional(type: z.ZodType): boolean {
  return type.safeParse(undefined).success;
}

describe("the official suite", () => {
  const json = (name: string): unknown =>
    JSON.parse(readFileSync(`${ROOT}verify/conformance/${name}`, "utf8"));
  const { reasons, expected } = z
    .object({
      reasons: z.record(z.string(), z.string().min(20)),
      expected: z.record(z.string(), z.record(z.string(), z.string())),
    })
    .parse(json("expected.json"));
  const recorded = z
    .record(
      z.string(),
      z.object({ scenarios: z.record(z.string(), z.object({ unmet: z.array(z.string()) })) }),
    )
    .parse(json("recorded.json"));

  test("every check that is expected to fail has one of the reasons, and every reason a check", () => {
    const used = Object.values(expected).flatMap((checks) => Object.values(checks));
    expect([...new Set(used)].toSorted()).toEqual(Object.keys(reasons).toSorted());
  });

  test("what was recorded is what is expected", () => {
    expect(Object.keys(recorded)).toEqual(Object.keys(expected));
    for (const [generation, { scenarios }] of Object.entries(recorded)) {
      const unmet = Object.entries(scenarios).flatMap(([name, result]) =>
        result.unmet.map((id) => `${name}/${id}`),
      );
      expect(unmet.toSorted()).toEqual(Object.keys(expected[generation] ?? {}).toSorted());
    }
  });
});
