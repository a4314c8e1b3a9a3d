import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";

/** A repository whose every commit the check knows. */
export interface Repository {
  readonly directory: string;
  remove(): void;
}

/**
 * Makes a repository on branch `main` with commits "Change 1" to "Change N", a day apart, each
 * adding one line to `notes.txt`.
 */
export function makeRepository(commits: number): Repository {
  const directory = mkdtempSync(join(tmpdir(), "connecta-repository-"));
  const git = (args: string[], input?: string) =>
    execFileSync("git", args, {
      cwd: directory,
      ...(input !== undefined && { input }),
      env: { PATH: process.env["PATH"], GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_SYSTEM: devNull },
      stdio: ["pipe", "ignore", "pipe"],
    });
  git(["init", "--initial-branch=main"]);
  git(["fast-import", "--quiet"], history(commits));
  git(["reset", "--hard"]);
  return { directory, remove: () => rmSync(directory, { recursive: true }) };
}

function history(commits: number): string {
  const lines = [];
  let notes = "";
  for (let count = 1; count <= commits; count++) {
    notes += `line ${count}\n`;
    const message = `Change ${count}`;
    const when = `Ada Example <ada@example.com> ${1_700_000_000 + count * 86_400} +0000`;
    lines.push(
      "commit refs/heads/main",
      `author ${when}`,
      `committer ${when}`,
      `data ${message.length}`,
      message,
      "M 100644 inline notes.txt",
      `data ${notes.length}`,
      notes,
    );
  }
  return `${lines.join("\n")}\n`;
}
