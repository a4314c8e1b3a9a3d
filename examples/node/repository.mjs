// @ts-check
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { devNull } from "node:os";
import { promisify } from "node:util";
import { ToolError } from "connecta";

const run = promisify(execFile);

/** A reading longer than this is refused rather than held in memory. */
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;

/** How a message begins that gives git's own reason. */
const REFUSED = "git refused: ";

/**
 * A name of a commit that git cannot take for an option, a range, a path or a search, optionally
 * followed by steps back such as `~2` or `^1`.
 */
export const REF_PATTERN =
  "^(?!-)(?!.*\\.\\.)(?!.*@\\{)[^\\s\\x00-\\x1f\\x7f~^:?*\\[\\\\]+([~^]\\d{0,4}){0,8}$";
const REF = new RegExp(REF_PATTERN, "u");

/** The abbreviated or full name of a commit. */
export const HASH_PATTERN = "^[0-9a-fA-F]{4,64}$";
const HASH = new RegExp(HASH_PATTERN);

/**
 * Settings that win over those of the repository: none of them may start a program, ask a person,
 * reach a network or change the form of an answer.
 */
const SETTINGS = Object.entries({
  "core.fsmonitor": "false",
  "core.hooksPath": devNull,
  "core.quotePath": "false",
  "color.ui": "false",
  "gc.auto": "0",
  "log.showSignature": "false",
  "maintenance.auto": "false",
  "protocol.allow": "never",
}).flatMap(([name, value]) => ["-c", `${name}=${value}`]);

/** Chosen from ours by name, so that no `GIT_*` variable of the caller reaches git. */
function environment() {
  const kept = ["PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return {
    ...Object.fromEntries(kept),
    LC_ALL: "C",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_PAGER: "cat",
    GIT_TERMINAL_PROMPT: "0",
  };
}

/**
 * @typedef {{ cwd: string, signal: AbortSignal, env?: Record<string, string> }} GitOptions
 */

/**
 * Runs one git command without a shell and answers what it printed.
 * @param {readonly string[]} args checked by the caller: a value never stands where an option could
 * @param {GitOptions} options `env` adds to the environment
 * @returns {Promise<string>}
 * @throws {ToolError} when git is missing, refuses or prints too much
 */
export async function git(args, { cwd, signal, env }) {
  try {
    const { stdout } = await run("git", ["--no-pager", ...SETTINGS, ...args], {
      cwd,
      signal,
      env: { ...environment(), ...env },
      maxBuffer: MAX_OUTPUT_BYTES,
    });
    return stdout;
  } catch (error) {
    signal.throwIfAborted();
    throw explained(error, cwd);
  }
}

/** @param {unknown} error @param {string} cwd */
function explained(error, cwd) {
  const { code, stderr } = /** @type {{ code?: unknown, stderr?: unknown }} */ (error);
  if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") {
    return new ToolError("git printed more than this tool holds; ask for less.");
  }
  if (code === "ENOENT") {
    // Neither mends itself, so neither is a reason to try the same call again.
    if (existsSync(cwd)) return new ToolError("git is not installed on the server.");
    const message = "The folder that the git connector is set to is missing on the server.";
    return new ToolError(message, { code: "not_found" });
  }
  const [reason = ""] = String(stderr ?? "").split("\n");
  return new ToolError(`${REFUSED}${sentence(reason.slice(0, 300) || "no reason given")}`);
}

/** @param {string} text */
const sentence = (text) => (/[.!?]$/.test(text) ? text : `${text}.`);

/**
 * @param {GitOptions} options
 * @throws {ToolError} with git's reason when it will read no repository there: `not_found` where
 *   there is none, `connector_call_failed` otherwise
 */
export async function assertRepository(options) {
  try {
    await git(["rev-parse", "--git-dir"], options);
  } catch (error) {
    if (!(error instanceof ToolError) || !error.message.startsWith(REFUSED)) throw error;
    const isMissing = error.message.includes("not a git repository");
    throw new ToolError(
      "The folder that the git connector is set to cannot be read as a repository. " +
        `${error.message} ` +
        "Start the server inside a repository or give its path in the config file.",
      { code: isMissing ? "not_found" : "connector_call_failed" },
    );
  }
}

/**
 * The full hash of the commit that a name stands for; `undefined` only for `HEAD` of a repository
 * without commits.
 * @param {string} ref as a caller gave it
 * @param {GitOptions} options
 * @returns {Promise<string | undefined>}
 * @throws {ToolError} `invalid_args` for what is no name, `not_found` for a name of nothing
 */
export async function findCommit(ref, options) {
  if (typeof ref !== "string" || ref.length > 250 || !REF.test(ref)) {
    throw new ToolError("A ref is a branch, tag or commit name such as main, v1.0 or HEAD~2.", {
      code: "invalid_args",
    });
  }
  try {
    const name = `${ref}^{commit}`;
    const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", name];
    return (await git(args, options)).trim();
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    await assertRepository(options);
    if (ref === "HEAD") return undefined;
    throw new ToolError("The repository has no commit of this name.", { code: "not_found" });
  }
}

/**
 * The full hash of the one commit whose hash begins with the given digits.
 * @param {string} hash as a caller gave it
 * @param {GitOptions} options
 * @returns {Promise<string>}
 * @throws {ToolError} `invalid_args` for what is no hash, `not_found` for one of no commit
 */
export async function findHash(hash, options) {
  if (typeof hash !== "string" || !HASH.test(hash)) {
    throw new ToolError("A commit hash is 4 to 64 hexadecimal digits.", { code: "invalid_args" });
  }
  const found = await findCommit(hash, options);
  // A branch may be named like a hash; the caller asked for the commit.
  if (found?.startsWith(hash.toLowerCase())) return found;
  throw new ToolError("The repository has no commit of this hash.", { code: "not_found" });
}

/**
 * Rows of fields that git printed, each field ended by NUL and each row by a line feed or nothing.
 * @param {string} text
 * @param {number} width fields in a row
 * @returns {string[][]}
 */
export function rows(text, width) {
  const fields = text.split("\0");
  const result = [];
  for (let at = 0; at + width < fields.length; at += width) {
    const row = fields.slice(at, at + width);
    row[0] = row[0]?.replace(/^\n/, "") ?? "";
    result.push(row);
  }
  return result;
}

/**
 * @typedef {object} FileChange
 * @property {string} path
 * @property {string} [oldPath] before a rename or copy
 * @property {string} status such as `modified`
 * @property {number} additions lines
 * @property {number} deletions lines
 * @property {true} [binary] a file that has no lines to count
 */

const STATUS = /** @type {Record<string, string>} */ ({
  A: "added",
  C: "copied",
  D: "deleted",
  M: "modified",
  R: "renamed",
  T: "type changed",
});

/**
 * The files in the output of `git diff-tree --raw --numstat -z`: first one raw record for each
 * file, then one count for each in the same order.
 * @param {string} text
 * @returns {FileChange[]}
 */
function parseChanges(text) {
  const tokens = text.split("\0");
  const statuses = [];
  let at = 0;
  while (tokens[at]?.startsWith(":")) {
    const letter = tokens[at]?.split(" ")[4]?.[0] ?? "M";
    statuses.push(STATUS[letter] ?? "modified");
    at += letter === "R" || letter === "C" ? 3 : 2;
  }
  /** @type {FileChange[]} */
  const files = [];
  while (at < tokens.length) {
    const counts = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(tokens[at] ?? "");
    if (!counts) break;
    const [, added, deleted, path] = counts;
    files.push({
      path: path || (tokens[at + 2] ?? ""),
      ...(path ? {} : { oldPath: tokens[at + 1] ?? "" }),
      status: statuses[files.length] ?? "modified",
      additions: Number(added) || 0,
      deletions: Number(deleted) || 0,
      ...(added === "-" ? { binary: true } : {}),
    });
    at += path ? 1 : 3;
  }
  return files;
}

/**
 * What changed from one commit to another, or in a first commit.
 * @param {string | undefined} from full hash; absent compares with nothing
 * @param {string} to full hash
 * @param {GitOptions} options
 */
export async function changes(from, to, options) {
  const format = ["--raw", "--numstat", "-z", "-r", "-M", "--no-ext-diff", "--no-textconv"];
  const commits = from === undefined ? ["--root", "--no-commit-id", to] : [from, to];
  return parseChanges(await git(["diff-tree", ...format, ...commits, "--"], options));
}
