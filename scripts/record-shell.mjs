// Records the built shell in shell/versions.json: a new version for new bytes. `--replace` changes the
// last entry instead, which is possible until a release carries it.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const LIST = "shell/versions.json";
const PAGE = "dist/shell/index.html";

const list = JSON.parse(readFileSync(root + LIST, "utf8"));
const sha256 = createHash("sha256").update(readPage()).digest("hex");
const last = list.at(-1);

if (last?.sha256 === sha256) {
  say(`version ${last.version} already has these bytes`);
} else if (process.argv.includes("--replace") && last) {
  if (isReleased(last)) stop(`version ${last.version} is released: record a new one`);
  write([...list.slice(0, -1), { ...last, sha256 }]);
} else {
  write([...list, { version: (last?.version ?? 0) + 1, sha256 }]);
}

function readPage() {
  try {
    return readFileSync(root + PAGE);
  } catch {
    return stop("the shell is not built: run the build first");
  }
}

function write(versions) {
  writeFileSync(root + LIST, `${JSON.stringify(versions, undefined, 2)}\n`);
  const { version } = versions.at(-1);
  say(`version ${version} is now ${sha256}`);
  say("build the server again: its address carries the version; pin the entry in the test");
}

function isReleased({ version }) {
  const git = (...args) =>
    execFileSync("git", ["-C", root, ...args], { encoding: "utf8", stdio: "pipe" });
  try {
    const tags = git("tag", "--list", "v*").split("\n").filter(Boolean);
    return tags.some((tag) => {
      if (git("ls-tree", "--name-only", tag, LIST) === "") return false;
      return JSON.parse(git("show", `${tag}:${LIST}`)).some((entry) => entry.version === version);
    });
  } catch {
    return false;
  }
}

function say(line) {
  process.stderr.write(`${line}\n`);
}

function stop(line) {
  say(line);
  process.exit(1);
}
