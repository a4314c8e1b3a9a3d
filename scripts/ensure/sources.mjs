import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** What the builds read. */
const SOURCES = [
  "package-lock.json",
  "package.json",
  "tsconfig.json",
  "tsconfig.types.json",
  "vite.config.ts",
];
const SOURCE_FOLDERS = ["server", "shell", "verify/host"];

/**
 * What the builds leave behind, one file each.
 * @public a test's pretended build leaves the same
 */
export const BUILT = [
  "dist/shell/index.html",
  "dist/host/verify/host/index.html",
  "dist/server/cli.js",
  "dist/types/index.d.ts",
];
const STAMP = "dist/.stamp";

/**
 * A hash over the names and bytes of every source of the build.
 * @param {string} root
 */
export function sourceHash(root) {
  const hash = createHash("sha256");
  const add = (name) =>
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(root, name)))
      .update("\0");
  for (const name of SOURCES) if (existsSync(join(root, name))) add(name);
  for (const folder of SOURCE_FOLDERS) for (const name of filesBelow(root, folder)) add(name);
  return hash.digest("hex");
}

function filesBelow(root, folder) {
  const path = join(root, folder);
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const name = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return entry.name === "node_modules" ? [] : filesBelow(root, name);
      return entry.isFile() ? [name] : [];
    });
}

/** Whether everything is built, from these very sources. */
export function isBuilt(root) {
  return BUILT.every((name) => existsSync(join(root, name))) && stamp(root) === sourceHash(root);
}

function stamp(root) {
  const file = join(root, STAMP);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** Forgets what was built: from now on until {@link markBuilt} a start builds again. */
export function unmarkBuilt(root) {
  rmSync(join(root, STAMP), { force: true });
}

/**
 * Records that `dist/` was built from the sources with this hash.
 * @param {string} root
 * @param {string} hash of {@link sourceHash}, taken before the build
 */
export function markBuilt(root, hash) {
  const file = join(root, STAMP);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, hash);
}
