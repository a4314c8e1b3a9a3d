import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { git, gitTools, readCursor, writeCursor } from "../../examples/node/git.mjs";
import { callTool } from "./calls.ts";
import { temporaryFolder, TestRepository } from "./repository.ts";

vi.mock("connecta", () => import("../../server/connectors/api.ts"));

const { path: folder, inFolder } = temporaryFolder();
afterEach(() => vi.unstubAllEnvs());

interface Page {
  readonly commits: readonly { readonly subject: string; readonly hash: string }[];
  readonly nextCursor?: string;
}

let repository: TestRepository;
let tools: ReturnType<typeof gitTools>;
const hashes: string[] = [];

const log = async (args: object) => (await callTool(tools.log, args)) as Page;

beforeAll(() => {
  repository = new TestRepository(inFolder("history"));
  tools = gitTools({ cwd: repository.path });
  for (let count = 1; count <= 10; count++) {
    const files = { [`file-${count}.txt`]: `${count}\n`, "all.txt": "line\n".repeat(count) };
    hashes.push(repository.commit(`Commit ${count}`, files, count % 3 === 0 ? "Grace" : "Ada"));
  }
  repository.git("tag", "v1", "HEAD~4");
});

describe("the connector", () => {
  test("is one that the gateway accepts, and only create_tag is not read-only", () => {
    expect(git({ cwd: repository.path }).id).toBe("git");
    const writing = Object.entries(tools).filter(([, tool]) => !tool.annotations.readOnlyHint);
    expect(writing.map(([name]) => name)).toEqual(["create_tag"]);
    expect(tools.create_tag.annotations.destructiveHint).toBe(true);
  });

  test("answers for the repository around a folder inside of it", async () => {
    const inner = join(repository.path, "inner");
    mkdirSync(inner, { recursive: true });
    const page = (await callTool(gitTools({ cwd: inner }).log, { limit: 1 })) as Page;
    expect(page.commits[0]?.hash).toBe(hashes[9]);
  });
});

describe("log", () => {
  test("lists commits from newest to oldest with author, date and refs", async () => {
    const { commits } = await log({ limit: 5 });
    expect(commits[0]).toEqual({
      hash: hashes[9],
      shortHash: hashes[9]?.slice(0, 7),
      subject: "Commit 10",
      author: "Ada",
      date: "2026-01-05T09:10:00+00:00",
      refs: ["main"],
    });
    expect(commits[4]).toMatchObject({ subject: "Commit 6", author: "Grace", refs: ["tag: v1"] });
  });

  test("pages to the end without repeats or gaps while commits are added", async () => {
    const moving = new TestRepository(inFolder("moving"));
    for (let count = 0; count < 8; count++) moving.commit(`Old ${count}`);
    const { log: read } = gitTools({ cwd: moving.path });
    const subjects: string[] = [];
    let cursor: string | undefined;
    do {
      const args = cursor === undefined ? { limit: 3 } : { limit: 3, cursor };
      const page = (await callTool(read, args)) as Page;
      subjects.push(...page.commits.map(({ subject }) => subject));
      cursor = page.nextCursor;
      moving.commit("New");
    } while (cursor !== undefined);
    expect(subjects).toEqual([7, 6, 5, 4, 3, 2, 1, 0].map((count) => `Old ${count}`));
  });

  test("gives no cursor when the last page is exactly full", async () => {
    expect(await log({ limit: 10 })).not.toHaveProperty("nextCursor");
    expect(await log({ limit: 9 })).toHaveProperty("nextCursor");
  });

  test("starts at a ref, and its cursor belongs to that ref", async () => {
    const page = await log({ ref: "v1", limit: 2 });
    expect(page.commits.map(({ subject }) => subject)).toEqual(["Commit 6", "Commit 5"]);
    const next = await log({ ref: "v1", limit: 2, cursor: page.nextCursor });
    expect(next.commits.map(({ subject }) => subject)).toEqual(["Commit 4", "Commit 3"]);
    await expect(log({ cursor: page.nextCursor })).rejects.toMatchObject({ code: "invalid_args" });
  });

  test("a cursor that leads to a commit which is gone is not_found", async () => {
    const cursor = writeCursor({ ref: "HEAD", head: "0".repeat(40), skip: 1 });
    await expect(log({ cursor })).rejects.toMatchObject({ code: "not_found" });
  });

  test.each([
    ["an empty one", ""],
    ["no base64", "%%%"],
    ["no JSON", Buffer.from("hello").toString("base64url")],
    ["too few parts", Buffer.from('[1,"HEAD"]').toString("base64url")],
    ["another version", Buffer.from(`[2,"HEAD","${"a".repeat(40)}",1]`).toString("base64url")],
    ["an option for a commit", writeCursor({ ref: "HEAD", head: "--output=x", skip: 1 })],
    ["a negative place", writeCursor({ ref: "HEAD", head: "a".repeat(40), skip: -1 })],
    ["a broken place", writeCursor({ ref: "HEAD", head: "a".repeat(40), skip: 1.5 })],
    ["padding", `${writeCursor({ ref: "HEAD", head: "a".repeat(40), skip: 1 })}=`],
  ])("refuses as a cursor %s", (_, cursor) => {
    expect(() => readCursor(cursor)).toThrow(expect.objectContaining({ code: "invalid_args" }));
  });
});

describe("commit and files", () => {
  let changed: TestRepository;
  let read: ReturnType<typeof gitTools>;
  const commits: Record<string, string> = {};

  beforeAll(() => {
    changed = new TestRepository(inFolder("changed"));
    read = gitTools({ cwd: changed.path });
    const text = Array.from({ length: 20 }, (_, line) => `line ${line}\n`).join("");
    const odd = "with a tab\tand a line\nfeed.txt";
    commits.root = changed.commit("Root", {
      "moved.txt": text,
      "gone.txt": "a\nb\n",
      [odd]: "1\n",
    });
    commits.mixed = changed.commit("Subject line\n\nFirst paragraph.\n\n- a point: <b>", {
      "moved.txt": undefined,
      "folder/日本語.txt": `${text}one more\n`,
      "gone.txt": undefined,
      [odd]: "2\n",
      "picture.bin": "\0\x01\x02",
    });
    changed.git("checkout", "--quiet", "-b", "side", "HEAD~1");
    commits.side = changed.commit("On the side", { "side.txt": "x\n" });
    changed.git("checkout", "--quiet", "main");
    changed.git("merge", "--quiet", "--no-ff", "-m", "Merge side", "side");
    commits.merge = changed.git("rev-parse", "HEAD");
  });

  test("a commit tells its message, people, parents and every kind of change", async () => {
    const answer = await callTool(read.commit, { hash: commits.mixed?.slice(0, 8) });
    expect(answer).toMatchObject({
      hash: commits.mixed,
      subject: "Subject line",
      message: "Subject line\n\nFirst paragraph.\n\n- a point: <b>",
      author: "Ada",
      committer: "Committer",
      parents: [commits.root],
      filesOmitted: 0,
      totals: { files: 4, additions: 2, deletions: 3 },
    });
    expect((answer as { files: object[] }).files).toEqual([
      {
        path: "folder/日本語.txt",
        oldPath: "moved.txt",
        status: "renamed",
        additions: 1,
        deletions: 0,
      },
      { path: "gone.txt", status: "deleted", additions: 0, deletions: 2 },
      { path: "picture.bin", status: "added", additions: 0, deletions: 0, binary: true },
      {
        path: "with a tab\tand a line\nfeed.txt",
        status: "modified",
        additions: 1,
        deletions: 1,
      },
    ]);
  });

  test("a first commit adds everything, a merge shows what it brought to its first parent", async () => {
    const root = await callTool(read.commit, { hash: commits.root });
    expect(root).toMatchObject({ parents: [], totals: { files: 3, additions: 23, deletions: 0 } });
    const merge = await callTool(read.commit, { hash: commits.merge });
    expect(merge).toMatchObject({
      parents: [commits.mixed, commits.side],
      files: [{ path: "side.txt", status: "added", additions: 1, deletions: 0 }],
    });
  });

  test("files tells the same of one commit, and what lies between two refs", async () => {
    const one = await callTool(read.files, { commit: "side" });
    expect(one).toMatchObject({ from: commits.root, to: commits.side, totals: { files: 1 } });
    const between = await callTool(read.files, { from: "side", to: "main" });
    expect(between).toMatchObject({ from: commits.side, to: commits.merge, totals: { files: 4 } });
    expect(await callTool(read.files, { commit: "main~2" })).not.toHaveProperty("from");
  });

  test.each([{}, { to: "main" }, { commit: "main", from: "side" }, { commit: "main", to: "side" }])(
    "files refuses the mixture %j",
    async (args) => {
      await expect(callTool(read.files, args)).rejects.toMatchObject({ code: "invalid_args" });
    },
  );

  test("a branch that is named like a hash does not stand in for the commit", async () => {
    changed.git("branch", "abcdef", "side");
    const asked = callTool(read.commit, { hash: "abcdef" });
    await expect(asked).rejects.toMatchObject({ code: "not_found" });
    expect(await callTool(read.files, { commit: "abcdef" })).toMatchObject({ to: commits.side });
  });

  test("a commit of many files is cut to what one read of a view may carry", async () => {
    const many = new TestRepository(inFolder("many"));
    const names = Array.from({ length: 600 }, (_, index) => `folder/${"n".repeat(60)}-${index}`);
    const hash = many.commit("語".repeat(9_000), Object.fromEntries(names.map((n) => [n, "x\n"])));
    const answer = await callTool(gitTools({ cwd: many.path }).commit, { hash });
    const { files, filesOmitted } = answer as { files: unknown[]; filesOmitted: number };
    expect(answer).toMatchObject({ totals: { files: 600, additions: 600 } });
    expect(files.length).toBeGreaterThan(20);
    expect(files.length + filesOmitted).toBe(600);
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(25_000);
  });
});

describe("branches and authors", () => {
  test("branches come most recent first and say which one is current", async () => {
    repository.git("branch", "older", "HEAD~2");
    expect(await callTool(tools.branches)).toMatchObject({
      branches: [
        { name: "main", hash: hashes[9], subject: "Commit 10", author: "Ada", current: true },
        { name: "older", hash: hashes[7], current: false },
      ],
    });
    expect(await callTool(tools.branches, { limit: 1 })).toMatchObject({ branches: [{}] });
  });

  test("authors are counted, most first, and the rest is said", async () => {
    const [ada, grace] = [
      { name: "Ada", commits: 7 },
      { name: "Grace", commits: 3 },
    ];
    const all = { commits: 10, authors: [ada, grace], authorsOmitted: 0 };
    expect(await callTool(tools.authors)).toEqual(all);
    const one = { commits: 10, authors: [ada], authorsOmitted: 1 };
    expect(await callTool(tools.authors, { limit: 1 })).toEqual(one);
  });
});

describe("where there is little to read", () => {
  test("a folder that is no repository is told clearly by every reading tool", async () => {
    vi.stubEnv("GIT_DIR", join(repository.path, ".git"));
    const outside = gitTools({ cwd: inFolder("plain") });
    const asked = [
      () => callTool(outside.log),
      () => callTool(outside.commit, { hash: "abcdef" }),
      () => callTool(outside.files, { commit: "HEAD" }),
      () => callTool(outside.branches),
      () => callTool(outside.authors),
    ];
    for (const ask of asked) {
      await expect(ask()).rejects.toMatchObject({
        code: "not_found",
        message: expect.stringMatching(
          /cannot be read as a repository\. git refused: .*not a git repository.*: \.git\. Start /,
        ) as string,
      });
    }
  });

  test("a folder that does not exist is not_found too", async () => {
    const nowhere = gitTools({ cwd: join(folder, "nowhere") });
    await expect(callTool(nowhere.log)).rejects.toMatchObject({
      code: "not_found",
      message: "The folder that the git connector is set to is missing on the server.",
    });
  });

  test("a machine without git is told so, as a failure that a retry does not mend", async () => {
    vi.stubEnv("PATH", inFolder("no-programs"));
    for (const read of [tools.log, tools.branches]) {
      await expect(callTool(read)).rejects.toMatchObject({
        code: "connector_call_failed",
        message: "git is not installed on the server.",
      });
    }
  });

  test("a repository without commits answers with nothing", async () => {
    const empty = gitTools({ cwd: new TestRepository(inFolder("empty")).path });
    expect(await callTool(empty.log)).toEqual({ commits: [], offset: 0 });
    expect(await callTool(empty.branches)).toEqual({ branches: [] });
    expect(await callTool(empty.authors)).toMatchObject({ commits: 0, authors: [] });
    const files = callTool(empty.files, { commit: "HEAD" });
    await expect(files).rejects.toMatchObject({ code: "not_found" });
  });

  test("a ref and a hash of nothing are not_found", async () => {
    await expect(log({ ref: "no-such-branch" })).rejects.toMatchObject({ code: "not_found" });
    const commit = callTool(tools.commit, { hash: "0".repeat(40) });
    await expect(commit).rejects.toMatchObject({ code: "not_found" });
  });

  test("a call that was given up ends with the reason for it", async () => {
    const controller = new AbortController();
    const asked = callTool(tools.log, {}, controller.signal);
    controller.abort(new Error("given up"));
    await expect(asked).rejects.toThrow("given up");
  });
});
