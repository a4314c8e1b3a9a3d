import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { gitTools } from "../../examples/node/git.mjs";
import { callTool, problems } from "./calls.ts";
import { plainEnvironment, temporaryFolder, TestRepository } from "./repository.ts";

vi.mock("connecta", () => import("../../server/connectors/api.ts"));

const { path: folder, inFolder } = temporaryFolder();
// The scratch repositories go with the process, and that of a test ends without a word.
beforeEach(() => vi.stubEnv("TMPDIR", folder));
afterEach(() => vi.unstubAllEnvs());

const freshTools = (name: string) => {
  const repository = new TestRepository(inFolder(name));
  repository.commit("Only");
  return { repository, ...gitTools({ cwd: repository.path }) };
};

describe("create_tag", () => {
  test("tags the scratch repository and leaves the one being read as it was", async () => {
    const { repository, create_tag: createTag, scratch_tags: scratchTags } = freshTools("read");
    expect(await callTool(scratchTags)).toEqual({ repository: "scratch", tags: [] });
    const made = await callTool(createTag, { name: "v1", message: "-F looks like an option" });
    expect(made).toMatchObject({ repository: "scratch", name: "v1", moved: false });
    expect(await callTool(scratchTags)).toMatchObject({
      tags: [{ name: "v1", message: "-F looks like an option" }],
    });
    expect(repository.git("tag")).toBe("");
    expect(repository.git("rev-list", "--all", "--count")).toBe("1");
  });

  test("refuses a tag that exists and moves it when told to", async () => {
    const { create_tag: createTag } = freshTools("moving");
    const first = (await callTool(createTag, { name: "v1" })) as { hash: string };
    const again = callTool(createTag, { name: "v1" });
    await expect(again).rejects.toMatchObject({
      code: "connector_call_failed",
      message: "The tag v1 exists; call again with force: true to move it.",
    });
    const moved = (await callTool(createTag, { name: "v1", force: true })) as { hash: string };
    expect(moved).toMatchObject({ moved: true });
    expect(moved.hash).not.toBe(first.hash);
  });

  test("two first calls at once share one repository", async () => {
    const { create_tag: createTag, scratch_tags: scratchTags } = freshTools("twice");
    await Promise.all([callTool(createTag, { name: "a" }), callTool(createTag, { name: "b" })]);
    expect(await callTool(scratchTags)).toMatchObject({ tags: [{ name: "a" }, { name: "b" }] });
  });

  test.each([
    "",
    "-d",
    "--delete",
    "a b",
    "a/b",
    "a..b",
    "a.lock",
    ".a",
    "a.",
    "ä",
    "a".repeat(65),
  ])("the name %j is refused by the handler and by the advertised schema", async (name) => {
    const { create_tag: createTag } = gitTools({ cwd: folder });
    const asked = callTool(createTag, { name });
    await expect(asked).rejects.toMatchObject({ code: "invalid_args" });
    expect(problems(createTag.inputSchema, { name })).not.toEqual([]);
  });

  test.each(["a", "v1.0.2", "release_2026-01", "a".repeat(64)])(
    "the name %j is accepted by the advertised schema",
    (name) => {
      const { create_tag: createTag } = gitTools({ cwd: folder });
      expect(problems(createTag.inputSchema, { name })).toEqual([]);
    },
  );

  test("runs no hook that the person's own git settings name", async () => {
    const mark = join(folder, "hook-ran");
    const home = inFolder("home");
    mkdirSync(join(home, "hooks"));
    const hook = join(home, "hooks", "reference-transaction");
    writeFileSync(hook, `#!/bin/sh\ntouch ${mark}\n`);
    chmodSync(hook, 0o755);
    writeFileSync(join(home, ".gitconfig"), `[core]\n\thooksPath = ${join(home, "hooks")}\n`);
    vi.stubEnv("HOME", home);
    const { repository, create_tag: createTag } = freshTools("hooked");
    await callTool(createTag, { name: "v1", message: "no hooks" });
    expect(existsSync(mark)).toBe(false);

    const env = { ...plainEnvironment(), GIT_CONFIG_GLOBAL: join(home, ".gitconfig") };
    execFileSync("git", ["tag", "v1"], { cwd: repository.path, env });
    expect(existsSync(mark)).toBe(true);
  });
});
