// @ts-check
import { api, ToolError } from "connecta";
import {
  assertRepository,
  changes,
  findCommit,
  findHash,
  git as run,
  rows,
} from "./repository.mjs";
import * as schemas from "./git-schemas.mjs";
import { scratchTools } from "./scratch.mjs";

/**
 * @typedef {import("./repository.mjs").FileChange} FileChange
 * @typedef {import("./repository.mjs").GitOptions} GitOptions
 * @typedef {{ signal: AbortSignal }} CallContext
 */

/** Together these keep one commit small enough that a view's read of it is never cut. */
const MAX_FILE_BYTES = 12_000;
const MAX_MESSAGE_CHARS = 4_000;
const MAX_SUBJECT_CHARS = 240;

/** @param {string} text @param {number} maxChars */
const clamp = (text, maxChars) =>
  text.length > maxChars ? `${[...text].slice(0, maxChars - 1).join("")}…` : text;

/**
 * Where the next page of a log begins: the commit that the first page began with keeps every page
 * in one unchanging order, whatever is committed meanwhile.
 * @typedef {{ ref: string, head: string, skip: number }} Position
 */

/** @param {Position} position */
export function writeCursor({ ref, head, skip }) {
  return Buffer.from(JSON.stringify([1, ref, head, skip])).toString("base64url");
}

/**
 * @param {string} cursor as a caller gave it
 * @returns {Position}
 * @throws {ToolError} `invalid_args` for anything but a cursor that `log` answered
 */
export function readCursor(cursor) {
  const refused = new ToolError("Give the nextCursor of an earlier answer, unchanged, or none.", {
    code: "invalid_args",
  });
  if (typeof cursor !== "string" || cursor.length > 1_000) throw refused;
  /** @type {unknown} */
  let parts;
  try {
    parts = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    throw refused;
  }
  if (!Array.isArray(parts) || parts.length !== 4) throw refused;
  const [version, ref, head, skip] = /** @type {unknown[]} */ (parts);
  const whole = version === 1 && typeof ref === "string" && typeof head === "string";
  if (!whole || !/^[0-9a-f]{40,64}$/.test(head) || typeof skip !== "number") throw refused;
  if (!Number.isSafeInteger(skip) || skip < 1 || skip > 10_000_000) throw refused;
  // The decoder forgives what the encoder never writes.
  if (writeCursor({ ref, head, skip }) !== cursor) throw refused;
  return { ref, head, skip };
}

/** @param {string} decoration as `%D` prints it */
function refNames(decoration) {
  if (decoration === "") return {};
  const refs = decoration.split(", ").map((ref) => ref.replace(/^HEAD -> /, ""));
  return { refs: refs.slice(0, 12) };
}

/** @param {FileChange[]} files */
function bounded(files) {
  let bytes = 0;
  const cut = files.findIndex((file) => {
    bytes += Buffer.byteLength(JSON.stringify(file)) + 1;
    return bytes > MAX_FILE_BYTES;
  });
  const shown = cut < 0 ? files : files.slice(0, cut);
  return {
    files: shown,
    filesOmitted: files.length - shown.length,
    totals: {
      files: files.length,
      additions: files.reduce((sum, file) => sum + file.additions, 0),
      deletions: files.reduce((sum, file) => sum + file.deletions, 0),
    },
  };
}

/**
 * @param {{ limit?: number, cursor?: string, ref?: string }} args
 * @param {GitOptions} options
 */
async function log({ limit = 20, cursor, ref = "HEAD" }, options) {
  const position = cursor === undefined ? undefined : readCursor(cursor);
  if (position && position.ref !== ref) {
    throw new ToolError("This cursor belongs to the log of another ref.", { code: "invalid_args" });
  }
  const head = await findCommit(position?.head ?? ref, options);
  if (head === undefined) return { commits: [], offset: 0 };
  const skip = position?.skip ?? 0;
  const fields = "--format=%H%x00%h%x00%s%x00%aN%x00%aI%x00%D";
  const span = [`--skip=${skip}`, `--max-count=${limit + 1}`];
  const text = await run(["log", "-z", "--encoding=UTF-8", fields, ...span, head, "--"], options);
  const commits = rows(text, 6).map(([hash = "", shortHash = "", subject = "", ...rest]) => {
    const [author = "", date = "", decoration = ""] = rest;
    const line = clamp(subject, MAX_SUBJECT_CHARS);
    return { hash, shortHash, subject: line, author, date, ...refNames(decoration) };
  });
  const more = commits.length > limit;
  return {
    commits: commits.slice(0, limit),
    offset: skip,
    ...(more ? { nextCursor: writeCursor({ ref, head, skip: skip + limit }) } : {}),
  };
}

/** @param {{ hash: string }} args @param {GitOptions} options */
async function commit(args, options) {
  const found = await findHash(args.hash, options);
  const fields = "--format=%H%x00%h%x00%P%x00%aN%x00%aI%x00%cN%x00%cI%x00%D%x00%B%x00";
  const text = await run(["log", "-1", "--encoding=UTF-8", fields, found, "--"], options);
  const [hash = "", shortHash = "", parents = "", ...rest] = rows(text, 9)[0] ?? [];
  const [author = "", date = "", committer = "", committed = "", refs = "", body = ""] = rest;
  const message = clamp(body.trimEnd(), MAX_MESSAGE_CHARS);
  const parentHashes = parents.split(" ").filter((parent) => parent !== "");
  return {
    hash,
    shortHash,
    subject: clamp(message.split("\n", 1)[0] ?? "", MAX_SUBJECT_CHARS),
    message,
    author,
    date,
    committer,
    committedDate: committed,
    parents: parentHashes,
    ...refNames(refs),
    ...bounded(await changes(parentHashes[0], hash, options)),
  };
}

/**
 * @param {{ from?: string, to?: string, commit?: string }} args
 * @param {GitOptions} options
 */
async function files(args, options) {
  const alone = args.from === undefined && args.to === undefined;
  if (args.commit === undefined ? args.from === undefined : !alone) {
    throw new ToolError("Give either commit, or from and optionally to.", { code: "invalid_args" });
  }
  const target = await findCommit(args.commit ?? args.to ?? "HEAD", options);
  if (target === undefined) {
    throw new ToolError("The repository has no commits yet.", { code: "not_found" });
  }
  const parent = await run(["rev-list", "--parents", "-1", target, "--"], options);
  const base = args.from ? await findCommit(args.from, options) : parent.trim().split(" ")[1];
  return {
    ...(base ? { from: base } : {}),
    to: target,
    ...bounded(await changes(base, target, options)),
  };
}

/** @param {{ limit?: number }} args @param {GitOptions} options */
async function branches({ limit = 50 }, options) {
  await assertRepository(options);
  const names = ["refname:lstrip=2", "objectname", "objectname:short", "contents:subject"];
  const fields = [...names, "authorname", "committerdate:iso-strict", "HEAD"];
  const format = fields.map((field) => `%(${field})%00`).join("");
  const order = ["--sort=-committerdate", `--count=${limit}`];
  const text = await run(["for-each-ref", ...order, `--format=${format}`, "refs/heads"], options);
  const list = rows(text, 7).map(([name = "", hash = "", shortHash = "", ...rest]) => {
    const [subject = "", author = "", date = "", mark = ""] = rest;
    const line = clamp(subject, MAX_SUBJECT_CHARS);
    return { name, hash, shortHash, subject: line, author, date, current: mark === "*" };
  });
  return { branches: list };
}

/** @param {{ ref?: string, limit?: number }} args @param {GitOptions} options */
async function authors({ ref = "HEAD", limit = 20 }, options) {
  const head = await findCommit(ref, options);
  if (head === undefined) return { commits: 0, authors: [], authorsOmitted: 0 };
  const text = await run(["shortlog", "--summary", "--numbered", head, "--"], options);
  const all = [...text.matchAll(/^\s*(\d+)\t(.*)$/gm)].map(([, count, name = ""]) => ({
    name: clamp(name, 120),
    commits: Number(count),
  }));
  return {
    commits: all.reduce((sum, author) => sum + author.commits, 0),
    authors: all.slice(0, limit),
    authorsOmitted: Math.max(0, all.length - limit),
  };
}

/**
 * The tools of the `git` connector. All but `create_tag` read the repository around `cwd`;
 * `create_tag` writes to a scratch repository of its own and to nothing else.
 * @param {{ cwd: string }} config a folder inside the repository
 */
export function gitTools({ cwd }) {
  const reads = { readOnlyHint: true, openWorldHint: false };
  /**
   * @template A
   * @param {(args: A, options: GitOptions) => Promise<unknown>} read
   * @returns {(args: A, ctx: CallContext) => Promise<unknown>}
   */
  const here =
    (read) =>
    (args, { signal }) =>
      read(args, { cwd, signal });
  return {
    log: {
      title: "Commits",
      description:
        "Commits from newest to oldest, a page at a time; pass nextCursor back for the next page.",
      ...schemas.log,
      annotations: reads,
      handler: here(log),
    },
    commit: {
      title: "One commit",
      description: "One commit by hash: full message, people, dates, parents, changed files.",
      ...schemas.commit,
      annotations: reads,
      handler: here(commit),
    },
    files: {
      title: "Changed files",
      description: "Files changed between two refs, or in one commit against its first parent.",
      ...schemas.files,
      annotations: reads,
      handler: here(files),
    },
    branches: {
      title: "Branches",
      description: "Local branches with their latest commit, the most recent first.",
      ...schemas.branches,
      annotations: reads,
      handler: here(branches),
    },
    authors: {
      title: "Authors",
      description: "Commits of each author, most first.",
      ...schemas.authors,
      annotations: reads,
      handler: here(authors),
    },
    ...scratchTools(),
  };
}

/**
 * The `git` connector.
 * @param {{ cwd: string }} config a folder inside the repository to read
 */
export const git = (config) =>
  api({
    id: "git",
    title: "Git",
    description: "History of one repository: commits, files, branches, authors.",
    usageGuide:
      "`log` pages by cursor: call it again with the nextCursor it answered and the same other " +
      "arguments until there is none. `commit` takes a hash from `log`. Only `create_tag` writes, " +
      "and only to a scratch repository: call it through call_destructive_tool, then look with " +
      "`scratch_tags`.",
    tools: gitTools(config),
  });
