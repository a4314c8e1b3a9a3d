import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nestedEnv, run, tail } from "./child.mjs";
import { during, Stop } from "./say.mjs";

const STAMP = "node_modules/.connecta-stamp";

/** Whether `node_modules` holds what the lock file asks for, whoever installed it. */
export function isInstalled(root) {
  const wanted = lockHash(root);
  if (read(root, STAMP) === wanted) return true;
  if (!matchesLock(root)) return false;
  writeFileSync(join(root, STAMP), wanted);
  return true;
}

/**
 * Installs exactly the lock file, development packages included: the build needs them, and the
 * build is what `npm start` promises, whatever NODE_ENV says.
 * @param {string} root
 */
export async function install(root) {
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund", "--no-update-notifier"];
  const [command, ...first] = npm();
  const env = nestedEnv(process.env);
  await during("installing packages (npm ci)", async () => {
    const { code, output } = await run(command, [...first, ...args], { cwd: root, env });
    if (code === 127) throw new Stop("npm was not found: install Node with npm, then try again.");
    if (code !== 0) {
      // Of a usage error npm prints pages of options after the cause.
      const cause = output.split("npm error Clean install a project")[0] ?? output;
      throw new Stop("npm ci failed: mend what it names above, then try again.", tail(cause, 30));
    }
  });
  writeFileSync(join(root, STAMP), lockHash(root));
}

/** The npm that runs us, else the one on the path. */
function npm() {
  const running = process.env.npm_execpath;
  if (running !== undefined && /npm-cli\.c?js$/.test(running) && existsSync(running)) {
    return [process.execPath, running];
  }
  return ["npm"];
}

/** An installed tree that we did not stamp counts when npm's own record agrees with the lock. */
function matchesLock(root) {
  const wanted = parse(read(root, "package-lock.json"));
  const found = parse(read(root, "node_modules/.package-lock.json"));
  if (wanted === undefined || found === undefined) return false;
  return Object.entries(wanted.packages ?? {}).every(([path, entry]) => {
    if (path === "" || entry.optional === true || entry.peer === true) return true;
    const installed = found.packages?.[path];
    return (
      installed !== undefined &&
      installed.version === entry.version &&
      installed.integrity === entry.integrity
    );
  });
}

function lockHash(root) {
  const platform = `${process.platform} ${process.arch}`;
  const lock = read(root, "package-lock.json");
  if (lock === undefined) throw new Stop("package-lock.json is missing: this clone is incomplete.");
  return createHash("sha256").update(platform).update(lock).digest("hex");
}

function read(root, name) {
  const file = join(root, name);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

function parse(text) {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
