// @vitest-environment node
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const folder = fileURLToPath(new URL("../../shell/", import.meta.url));
const sources = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.(ts|css|html)$/.test(file))
  .map((file) => [file, readFileSync(folder + file, "utf8")] as const);

const MOTION =
  /\btransition\b|\banimation\b|@keyframes|scroll-behavior|behavior:\s*["']smooth|\.animate\(|requestAnimationFrame|<animate|<marquee/g;

/** What moves without asking; style rules may stand inside a query for people who want motion. */
function motions(text: string): string[] {
  const asked =
    /@media[^{]*prefers-reduced-motion:\s*no-preference[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g;
  return text.replace(asked, "").match(MOTION) ?? [];
}

describe("nothing of the shell moves for people who asked for less motion", () => {
  test.each(sources)("in %s", (_, text) => {
    expect(motions(text)).toEqual([]);
  });

  test("in any of its sources, all of which were read", () => {
    const files = sources.map(([file]) => file);
    for (const file of ["index.html", "src/shell.css", "src/defaults.css", "src/prelude.ts"]) {
      expect(files).toContain(file);
    }
  });

  test.each([
    "a { transition: color 1s }",
    "@keyframes spin { to { rotate: 1turn } }",
    "html { scroll-behavior: smooth }",
    `target.scrollIntoView({ behavior: "smooth" })`,
    "element.animate([], 100)",
    "@media (prefers-reduced-motion: reduce) { a { transition: none } }",
  ])("the scan finds %s", (text) => {
    expect(motions(text)).toHaveLength(1);
  });

  test("the scan lets pass what asks first", () => {
    const asking = "@media (prefers-reduced-motion: no-preference) { a { transition: color 1s } }";
    expect(motions(asking)).toEqual([]);
  });
});
