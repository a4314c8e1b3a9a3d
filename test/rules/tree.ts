import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync, type ParseResult } from "vite";

/** The repository. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A source file: its path from the repository, with slashes, and its text. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/**
 * Names of the files that git tracks.
 * @param others also those that it neither tracks nor ignores, so that new work is checked too
 */
export function gitFiles(others = true): readonly string[] {
  const extra = others ? ["--others", "--exclude-standard"] : [];
  // Root in a container is not the owner of a mounted clone; git would refuse to read it.
  const args = ["-c", "safe.directory=*", "ls-files", "-z", "--cached", ...extra];
  const listed = execFileSync("git", args, { cwd: ROOT, encoding: "utf8" });
  return [...new Set(listed.split("\0").filter((name) => name !== ""))].sort();
}

/** Every file whose name matches, with its text; files deleted but still tracked are left out. */
export function sources(pattern: RegExp): readonly Source[] {
  return gitFiles()
    .filter((path) => pattern.test(path))
    .flatMap((path) => {
      const text = read(path);
      return text === undefined ? [] : [{ path, text }];
    });
}

function read(path: string): string | undefined {
  try {
    return readFileSync(join(ROOT, path), "utf8");
  } catch {
    return undefined;
  }
}

/** Our code, wherever it stands. */
export const CODE = /\.(ts|mts|mjs|js)$/;

/**
 * Parses TypeScript or JavaScript.
 * @throws when it does not parse; a rule that skipped such a file would pass without looking
 */
export function parse({ path, text }: Source): ParseResult {
  const result = parseSync(path, text);
  const [error] = result.errors;
  if (error) throw new Error(`${path}: ${error.message}`);
  return result;
}

/** The line, from 1, at which an offset stands. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1))
    line++;
  return line;
}
