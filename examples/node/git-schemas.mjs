// @ts-check
import { HASH_PATTERN, REF_PATTERN } from "./repository.mjs";

/** Letters, digits, dots, dashes and underscores; no two dots in a row, no `.lock` at the end. */
export const TAG_PATTERN =
  "^[A-Za-z0-9](?!.*\\.\\.)(?!.*\\.lock$)[A-Za-z0-9._-]{0,62}[A-Za-z0-9]$|^[A-Za-z0-9]$";

const text = { type: "string" };
const count = { type: "integer", minimum: 0 };
const date = { type: "string", format: "date-time" };
const ref = {
  type: "string",
  pattern: REF_PATTERN,
  maxLength: 250,
  description: "branch, tag or commit, e.g. main or HEAD~2",
};

/** @param {Record<string, unknown>} properties @param {readonly string[]} optional */
const object = (properties, optional = []) => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});

/** @param {unknown} items */
const list = (items) => ({ type: "array", items });

/** @param {number} fallback @param {number} maximum */
const limit = (fallback, maximum) => ({
  type: "integer",
  minimum: 1,
  maximum,
  default: fallback,
});

const commitLine = { hash: text, shortHash: text, subject: text, author: text, date };

const changed = {
  files: list(
    object(
      {
        path: text,
        oldPath: text,
        status: text,
        additions: count,
        deletions: count,
        binary: { const: true },
      },
      ["oldPath", "binary"],
    ),
  ),
  filesOmitted: { ...count, description: "files counted in totals but not listed" },
  totals: object({ files: count, additions: count, deletions: count }),
};

export const log = {
  inputSchema: object(
    {
      limit: limit(20, 100),
      cursor: { ...text, maxLength: 1_000, description: "nextCursor of the page before" },
      ref,
    },
    ["limit", "cursor", "ref"],
  ),
  outputSchema: object(
    {
      commits: list(object({ ...commitLine, refs: list(text) }, ["refs"])),
      offset: { ...count, description: "how many commits lie before this page" },
      nextCursor: { ...text, description: "absent on the last page" },
    },
    ["nextCursor"],
  ),
};

export const commit = {
  inputSchema: object({ hash: { type: "string", pattern: HASH_PATTERN } }),
  outputSchema: object(
    {
      ...commitLine,
      message: text,
      committer: text,
      committedDate: date,
      parents: list(text),
      refs: list(text),
      ...changed,
    },
    ["refs"],
  ),
};

export const files = {
  inputSchema: object({ from: ref, to: ref, commit: ref }, ["from", "to", "commit"]),
  outputSchema: object({ from: text, to: text, ...changed }, ["from"]),
};

export const branches = {
  inputSchema: object({ limit: limit(50, 100) }, ["limit"]),
  outputSchema: object({
    branches: list(object({ name: text, ...commitLine, current: { type: "boolean" } })),
  }),
};

export const authors = {
  inputSchema: object({ ref, limit: limit(20, 100) }, ["ref", "limit"]),
  outputSchema: object({
    commits: count,
    authors: list(object({ name: text, commits: count })),
    authorsOmitted: count,
  }),
};

export const createTag = {
  inputSchema: object(
    {
      name: { type: "string", pattern: TAG_PATTERN },
      message: {
        ...text,
        pattern: "^[^\\x00]*$",
        maxLength: 1_000,
        description: "makes an annotated tag",
      },
      force: { type: "boolean", default: false, description: "move a tag that exists" },
    },
    ["message", "force"],
  ),
  outputSchema: object({
    repository: { const: "scratch" },
    name: text,
    moved: { type: "boolean" },
    hash: text,
  }),
};

export const scratchTags = {
  inputSchema: object({}),
  outputSchema: object({
    repository: { const: "scratch" },
    tags: list(object({ name: text, shortHash: text, message: text })),
  }),
};
