import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";

/** A folder of its own for one test file, and folders in it. */
export function temporaryFolder() {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "connecta-test-")));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  const inFolder = (name: string): string => {
    const inner = join(path, name);
    mkdirSync(inner);
    return inner;
  };
  return { path, inFolder };
}

/** What the environment of a plain, unguarded git of these tests holds. */
export function plainEnvironment(author = "Ada"): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    LC_ALL: "C",
    GIT_CONFIG_GLOBAL: devNull,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: author,
    GIT_AUTHOR_EMAIL: `${author.toLowerCase()}@example.invalid`,
    GIT_COMMITTER_NAME: "Committer",
    GIT_COMMITTER_EMAIL: "committer@example.invalid",
  };
}

/** A repository that a test fills with the git of the machine. */
export class TestRepository {
  readonly path: string;
  #minutes = 0;

  /** @param path an existing folder; becomes a repository with the branch `main` */
  constructor(path: string) {
    this.path = path;
    this.git("init", "--quiet", "--template=", "--initial-branch=main");
  }

  /** Runs git in the repository and answers what it printed, without the last line feed. */
  git(...args: readonly string[]): string {
    return this.#run(args, plainEnvironment());
  }

  /** Writes files (`undefined` removes one), commits and answers the hash. */
  commit(message: string, files: Record<string, string | undefined> = {}, author = "Ada"): string {
    for (const [name, text] of Object.entries(files)) {
      const file = join(this.path, name);
      if (text === undefined) {
        rmSync(file);
        continue;
      }
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    this.#minutes++;
    const date = new Date(Date.UTC(2026, 0, 5, 9, this.#minutes)).toISOString();
    const dates = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    this.git("add", "--all");
    this.#run(["commit", "--quiet", "--allow-empty", `--message=${message}`], {
      ...plainEnvironment(author),
      ...dates,
    });
    return this.git("rev-parse", "HEAD");
  }

  #run(args: readonly string[], env: Record<string, string>): string {
    const options = { cwd: this.path, env, encoding: "utf8" } as const;
    return execFileSync("git", args, options).replace(/\n$/, "");
  }
}
