// @ts-check
import { mkdtemp } from "node:fs/promises";
import { rmSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError } from "connecta";
import { TAG_PATTERN, createTag, scratchTags } from "./git-schemas.mjs";
import { findCommit, git, rows } from "./repository.mjs";

const TAG = new RegExp(TAG_PATTERN, "u");

const MAX_TAGS = 100;

/** Nothing of the person's own git settings, so that the demo behaves alike everywhere. */
const ISOLATED = {
  GIT_CONFIG_GLOBAL: devNull,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Connecta demo",
  GIT_AUTHOR_EMAIL: "demo@example.invalid",
  GIT_COMMITTER_NAME: "Connecta demo",
  GIT_COMMITTER_EMAIL: "demo@example.invalid",
};

/**
 * @typedef {{ name: string, message?: string, force?: boolean }} TagArguments
 * @typedef {{ signal: AbortSignal }} CallContext
 */

async function makeRepository() {
  // Several callers may wait for it, so it hangs on none of theirs.
  const signal = AbortSignal.timeout(10_000);
  const cwd = await mkdtemp(join(tmpdir(), "connecta-scratch-"));
  process.once("exit", () => rmSync(cwd, { recursive: true, force: true }));
  const options = { cwd, signal, env: ISOLATED };
  await git(["init", "--quiet", "--template=", "--initial-branch=main"], options);
  for (const message of ["First page of the scratch book", "Second page of the scratch book"]) {
    await git(["commit", "--quiet", "--allow-empty", `--message=${message}`], options);
  }
  return cwd;
}

/**
 * A repository in a temporary folder, made when the first tag is and gone when the process ends:
 * the one place where this demo writes.
 */
function scratchRepository() {
  /** @type {Promise<string> | undefined} */
  let made;

  /** @param {AbortSignal} signal @param {string} cwd */
  async function list(signal, cwd) {
    const fields = "%(refname:lstrip=2)%00%(objectname:short)%00%(contents:subject)%00";
    const text = await git(["for-each-ref", `--format=${fields}`, "refs/tags"], {
      cwd,
      signal,
      env: ISOLATED,
    });
    return rows(text, 3).map(([name = "", shortHash = "", message = ""]) => ({
      name,
      shortHash,
      message,
    }));
  }

  return {
    /** @param {TagArguments} args @param {CallContext} ctx */
    async createTag({ name, message, force = false }, { signal }) {
      if (typeof name !== "string" || !TAG.test(name)) {
        throw new ToolError("A tag name is 1 to 64 letters, digits, dots, dashes or underscores.", {
          code: "invalid_args",
        });
      }
      // Two first calls share one repository; a failed attempt is forgotten.
      made ??= makeRepository().catch((error) => {
        made = undefined;
        throw error;
      });
      const cwd = await made;
      const tags = await list(signal, cwd);
      const moved = tags.some((tag) => tag.name === name);
      if (moved && !force) {
        throw new ToolError(`The tag ${name} exists; call again with force: true to move it.`);
      }
      if (!moved && tags.length >= MAX_TAGS) {
        throw new ToolError(`The scratch repository holds ${MAX_TAGS} tags already.`);
      }
      const options = { cwd, signal, env: ISOLATED };
      const target = await findCommit(moved ? "HEAD~1" : "HEAD", options);
      const annotate = message ? ["--annotate", `--message=${message}`, "--cleanup=verbatim"] : [];
      const flags = ["--no-sign", ...(moved ? ["--force"] : []), ...annotate];
      await git(["tag", ...flags, "--end-of-options", name, target ?? "HEAD"], options);
      return { repository: "scratch", name, moved, hash: target ?? "" };
    },

    /** @param {unknown} _args @param {CallContext} ctx */
    async listTags(_args, { signal }) {
      return { repository: "scratch", tags: made ? await list(signal, await made) : [] };
    },
  };
}

/** The one tool of the demo that writes, and the one to see what it wrote. */
export function scratchTools() {
  const scratch = scratchRepository();
  return {
    create_tag: {
      title: "Create a tag (scratch repository)",
      description:
        "Creates or moves a tag in a temporary scratch repository, never in the one being read.",
      ...createTag,
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
      handler: scratch.createTag,
    },
    scratch_tags: {
      title: "Tags of the scratch repository",
      description: "The tags that create_tag has made so far.",
      ...scratchTags,
      annotations: { readOnlyHint: true, openWorldHint: false },
      handler: scratch.listTags,
    },
  };
}
