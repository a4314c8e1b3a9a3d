import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { gitTools } from "../../examples/node/git.mjs";
import { callTool, problems } from "./calls.ts";
import { plainEnvironment, temporaryFolder, TestRepository } from "./repository.ts";

vi.mock("connecta", () => import("../../server/connectors/api.ts"));

const { path: folder, inFolder } = temporaryFolder();
afterEach(() => vi.unstubAllEnvs());

let repository: TestRepository;
let tools: ReturnType<typeof gitTools>;

const log = async (args: object) =>
  (await callTool(tools.log, args)) as { commits: readonly { subject: string }[] };

beforeAll(() => {
  repository = new TestRepository(inFolder("history"));
  tools = gitTools({ cwd: repository.path });
  for (let count = 1; count <= 4; count++) repository.commit(`Commit ${count}`, {}, "Ada");
  repository.git("tag", "v1");
});

describe("arguments that want to be more than arguments", () => {
  const marker = (name: string) => join(folder, name);
  const optional = `--output=${marker("option")}`;
  const configured = `-c alias.own='!touch ${marker("config")}' own`;
  const chained = `HEAD; touch ${marker("shell")}`;
  const spliced = `HEAD$(touch ${marker("splice")})`;

  test.each([
    ["an option", optional, "option", ["git", "log", optional]],
    ["a setting", configured, "config", ["sh", "-c", `git ${configured}`]],
    ["a second command", chained, "shell", ["sh", "-c", `git log ${chained}`]],
    ["a command inside", spliced, "splice", ["sh", "-c", `git log ${spliced}`]],
  ])("%s has no effect, and has it where it is passed on naively", async (_, text, name, naive) => {
    const calls = [
      () => callTool(tools.log, { ref: text }),
      () => callTool(tools.commit, { hash: text }),
      () => callTool(tools.files, { from: text }),
      () => callTool(tools.files, { from: "HEAD", to: text }),
      () => callTool(tools.files, { commit: text }),
      () => callTool(tools.authors, { ref: text }),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "invalid_args" });
    expect(existsSync(marker(name))).toBe(false);

    const [command = "", ...args] = naive;
    execFileSync(command, args, { cwd: repository.path, env: plainEnvironment(), stdio: "ignore" });
    expect(existsSync(marker(name))).toBe(true);
  });

  test.each([
    "-p",
    "--all",
    "HEAD..main",
    "HEAD:a.txt",
    ":/Commit",
    "HEAD^{/Commit}",
    "@{-1}",
    "main@{upstream}",
    "a b",
    "a\0b",
    "a\nb",
    "a*",
    "",
    "x".repeat(251),
  ])("as a ref %j is refused by the handler and by the advertised schema", async (ref) => {
    await expect(log({ ref })).rejects.toMatchObject({ code: "invalid_args" });
    expect(problems(tools.log.inputSchema, { ref })).not.toEqual([]);
  });

  test.each(["main", "v1", "HEAD", "HEAD~2", "HEAD^", "main~1^", "refs/heads/main"])(
    "as a ref %j is accepted by the handler and by the advertised schema",
    async (ref) => {
      expect((await log({ ref })).commits.length).toBeGreaterThan(0);
      expect(problems(tools.log.inputSchema, { ref })).toEqual([]);
    },
  );
});

describe("a repository and an environment that want to run programs", () => {
  test("a signature check that the repository configures is not run", async () => {
    const hostile = new TestRepository(inFolder("hostile"));
    hostile.commit("Plain", { "a.txt": "a\n" });
    const mark = join(folder, "signature");
    const program = join(hostile.path, ".git", "checker");
    const signed = hostile
      .git("cat-file", "commit", "HEAD")
      .replace(
        "\n\n",
        "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----\n\n",
      );
    execFileSync("sh", ["-c", 'printf "#!/bin/sh\\ntouch $1\\n" > "$0"', program, mark]);
    execFileSync("chmod", ["+x", program]);
    const write = ["hash-object", "-t", "commit", "-w", "--stdin"];
    const input = { cwd: hostile.path, env: plainEnvironment(), input: `${signed}\n` };
    const hash = execFileSync("git", write, { ...input, encoding: "utf8" }).trim();
    hostile.git("reset", "--hard", "--quiet", hash);
    hostile.git("config", "log.showSignature", "true");
    hostile.git("config", "gpg.program", program);

    const { log: read, commit } = gitTools({ cwd: hostile.path });
    expect(await callTool(read)).toMatchObject({ commits: [{ hash, subject: "Plain" }] });
    expect(await callTool(commit, { hash })).toMatchObject({ subject: "Plain" });
    expect(existsSync(mark)).toBe(false);

    hostile.git("log", "-1");
    expect(existsSync(mark)).toBe(true);
  });

  test("settings of the repository do not change the form of the answers", async () => {
    const styled = new TestRepository(inFolder("styled"));
    styled.commit("Red", { "ä.txt": "a\n" });
    for (const [name, value] of Object.entries({
      "color.ui": "always",
      "log.decorate": "full",
      "core.quotePath": "true",
    })) {
      styled.git("config", name, value);
    }
    expect(styled.git("log", "-1")).toContain("\x1b[");
    const { log: read, files } = gitTools({ cwd: styled.path });
    expect(await callTool(read)).toMatchObject({ commits: [{ subject: "Red" }] });
    const changed = await callTool(files, { commit: "HEAD" });
    expect(changed).toMatchObject({ files: [{ path: "ä.txt" }] });
  });

  test("a GIT_DIR of the environment leads nowhere else", async () => {
    const other = new TestRepository(inFolder("other"));
    other.commit("Of the other repository");
    const elsewhere = { GIT_DIR: join(other.path, ".git") };
    vi.stubEnv("GIT_DIR", elsewhere.GIT_DIR);
    expect((await log({ limit: 1 })).commits[0]?.subject).toBe("Commit 4");

    const options = { cwd: repository.path, env: { ...plainEnvironment(), ...elsewhere } };
    const naive = execFileSync("git", ["log", "-1", "--format=%s"], options);
    expect(naive.toString()).toBe("Of the other repository\n");
  });
});
