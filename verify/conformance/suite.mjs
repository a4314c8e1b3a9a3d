import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nestedEnv, run, tail } from "../../scripts/ensure/child.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const NAME = "@modelcontextprotocol/conformance";
/** Beside our own packages, where nothing looks for sources, and ignored with them. */
const FOLDER = join(ROOT, "node_modules/.cache/connecta-conformance");
/** The suite needs what Node 20 has not; it is run by bun, which comes with our own packages. */
const BUN = join(ROOT, "node_modules/.bin/bun");
const RESULT = /^server-(?<scenario>.+?)-\d{4}-\d\d-\d\dT[\d-]+Z$/;

/** Installs one version of the official suite, unless it is there. */
async function install(version) {
  const folder = join(FOLDER, version);
  const main = join(folder, "node_modules", NAME, "dist/index.js");
  if (existsSync(main)) return main;
  mkdirSync(folder, { recursive: true });
  const manifest = { private: true, dependencies: { [NAME]: version } };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
  // What it says of engines is why bun runs it.
  const { code, output } = await run("npm", [...args, "--engine-strict=false", "--prefix", "."], {
    cwd: folder,
    env: nestedEnv(process.env),
  });
  if (code !== 0) throw new Error(`npm could not install ${NAME} ${version}:\n${tail(output, 20)}`);
  return main;
}

/**
 * Holds a server against one version of the suite.
 * @param {string} url of its MCP endpoint
 * @param {{ version: string, args: readonly string[] }} generation
 * @returns what came of each scenario: how many checks it passed, and which it did not
 */
export async function conform(url, { version, args }) {
  const main = await install(version);
  const out = mkdtempSync(join(tmpdir(), "connecta-conformance-"));
  try {
    const asked = [main, "server", "--url", url, "--output-dir", out, ...args];
    // Its exit code tells of failures, which are judged here, each for itself.
    const { output } = await run(BUN, asked, { cwd: ROOT });
    const found = readdirSync(out).flatMap((name) => {
      const scenario = RESULT.exec(name)?.groups?.scenario;
      if (scenario === undefined) return [];
      const checks = JSON.parse(readFileSync(join(out, name, "checks.json"), "utf8"));
      return [[scenario, resultOf(checks)]];
    });
    if (found.length === 0)
      throw new Error(`the suite ${version} ran nothing:\n${tail(output, 20)}`);
    return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

function resultOf(checks) {
  const unmet = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  return {
    passed: checks.filter(({ status }) => status === "SUCCESS").length,
    unmet: [...new Set(unmet.map(({ id }) => id))].sort(),
    said: Object.fromEntries(unmet.map(({ id, errorMessage }) => [id, errorMessage ?? ""])),
  };
}
