// @vitest-environment node
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { SHELL_HTML, SHELL_SOURCES, SHELL_VERSIONS, shellSourceHash } from "../../shell/build.ts";
import { freshnessProblem, versionsProblem, type Version } from "./support/freshness.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string) =>
  existsSync(root + path) ? readFileSync(root + path, "utf8") : undefined;
const page = read(SHELL_HTML);
const { packages } = JSON.parse(read(SHELL_SOURCES) ?? '{"packages":[]}') as { packages: string[] };
const recorded = JSON.parse(read(SHELL_VERSIONS) ?? "[]") as Version[];
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** Copied by hand when a version is published; never from the list itself. */
const PINNED: readonly Version[] = [
  { version: 1, sha256: "02b0c6b1a24ce11483106915e63464a61c2999164852574f92e57df6611bcb61" },
];

describe("the built shell", () => {
  test("was built from the sources as they are now", () => {
    expect(freshnessProblem(page, shellSourceHash(root, packages))).toBeUndefined();
  });

  test("U13: has the bytes of the last recorded version, and no earlier version has changed", () => {
    expect(versionsProblem(recorded, PINNED, sha256(page ?? ""))).toBeUndefined();
  });

  test("U13: no version that was released has changed since", () => {
    for (const tag of releases()) {
      const released = JSON.parse(git("show", `${tag}:${SHELL_VERSIONS}`)) as Version[];
      expect([tag, versionsProblem(recorded, released, sha256(page ?? ""))]).toEqual([
        tag,
        undefined,
      ]);
    }
  });

  test("weighs at most 250 KB, and 66 KB compressed", () => {
    expect(Buffer.byteLength(page ?? "")).toBeGreaterThan(100_000);
    expect(Buffer.byteLength(page ?? "")).toBeLessThanOrEqual(250_000);
    expect(gzipSync(page ?? "").byteLength).toBeLessThanOrEqual(66_000);
  });

  test("weighs little more than when its weight was last looked at", () => {
    expect(Buffer.byteLength(page ?? "")).toBeLessThanOrEqual(210_000);
    expect(gzipSync(page ?? "").byteLength).toBeLessThanOrEqual(55_000);
  });

  test("is one page of plain ASCII with one inline module script and nothing from elsewhere", () => {
    expect(page).toMatch(/^[\t\n\r\x20-\x7e]+$/);
    const outside = (page ?? "").replace(/<script type="module"[^>]*>.*<\/script>/s, "<SCRIPT>");
    expect(outside.match(/<SCRIPT>/g)).toHaveLength(1);
    expect(outside).not.toMatch(/<script|<link|<style|\ssrc=|\shref=/);
    expect(outside).toContain('<meta charset="utf-8" />');
  });

  test("carries the one policy, word for word", () => {
    expect(page).toContain(
      `content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; ` +
        `img-src data: blob:; media-src data: blob:; font-src data:; connect-src 'none'; ` +
        `frame-src 'none'; object-src 'none'; form-action 'none'"`,
    );
  });

  test("holds no way to make code of a text", () => {
    expect(codeMakers(page ?? "")).toEqual([]);
  });

  test("names one tool only", () => {
    for (const tool of ["execute_code", "search_tools", "call_destructive_tool", "get_result"]) {
      expect(page).not.toContain(tool);
    }
    expect(page?.match(/call_tool/g)).toHaveLength(1);
  });
});

/** Everything that names a compiler; the one method of functions that is no way to it is let pass. */
function codeMakers(text: string): string[] {
  const harmless = /\bFunction\.prototype\[Symbol\.hasInstance\]\.call\(/g;
  const makers =
    /\beval\b|\bFunction\b|\bAsyncFunction\b|\.constructor\(|\bimport\s*\(|\bset(?:Timeout|Interval)\(\s*["'`]/g;
  return text.replace(harmless, "").match(makers) ?? [];
}

test.each([
  "const make = Function;",
  'new Function("return 1")',
  'Function("return 1")()',
  'globalThis["eval"]("1")',
  "(0, eval)(code)",
  '(() => {}).constructor("return 1")()',
  'setTimeout("go()", 1)',
  'import("./other.js")',
])("the scan for ways to make code finds %s", (text) => {
  expect(codeMakers(text)).toHaveLength(1);
});

describe("the check of freshness can fail", () => {
  const hash = "a".repeat(64);
  const built = `<meta name="connecta-shell-src-sha256" content="${hash}" />`;

  test("for a page that is missing or has no hash", () => {
    for (const missing of [undefined, "", "<p>placeholder</p>", built.replace(hash, "")]) {
      expect(freshnessProblem(missing, hash)).toContain("not built");
    }
  });

  test("for a page of other sources", () => {
    expect(freshnessProblem(built, hash)).toBeUndefined();
    expect(freshnessProblem(built, "b".repeat(64))).toContain("stale");
  });

  test("for other packages: name, version or integrity", () => {
    expect(packages.length).toBeGreaterThan(0);
    const now = shellSourceHash(root, packages);
    expect(shellSourceHash(root, packages.toReversed())).toBe(now);
    expect(shellSourceHash(root, packages.slice(1))).not.toBe(now);
    expect(shellSourceHash(root, [...packages, "node_modules/vite"])).not.toBe(now);
  });
});

describe("the check of versions can fail", () => {
  const one = { version: 1, sha256: "1".repeat(64) };
  const two = { version: 2, sha256: "2".repeat(64) };

  test("for new bytes under an old version", () => {
    expect(versionsProblem([one, two], [one], two.sha256)).toBeUndefined();
    expect(versionsProblem([one, two], [one], "3".repeat(64))).toContain("record a new version");
    expect(versionsProblem([], [], "3".repeat(64))).toContain("record a new version");
  });

  test("for an entry that was changed, removed or skipped", () => {
    const changed = { version: 1, sha256: "9".repeat(64) };
    expect(versionsProblem([changed, two], [one], two.sha256)).toBe("version 1 was changed");
    expect(versionsProblem([one], [one, two], one.sha256)).toBe("version 2 was removed");
    expect(versionsProblem([two], [], two.sha256)).toBe("the versions do not count from 1");
  });
});

function git(...args: string[]): string {
  return execFileSync("git", ["-C", root, ...args], { encoding: "utf8", stdio: "pipe" });
}

/** Release tags that hold a list of versions; none where there is no history to look into. */
function releases(): string[] {
  try {
    const tags = git("tag", "--list", "v*").split("\n").filter(Boolean);
    return tags.filter((tag) => git("ls-tree", "--name-only", tag, SHELL_VERSIONS) !== "");
  } catch {
    return [];
  }
}
