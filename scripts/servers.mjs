// Installs the MCP servers that verify/servers/servers.test.ts starts: `npm run servers`.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { nestedEnv, run, tail } from "./ensure/child.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Beside our own packages, where nothing looks for sources, and ignored with them. */
const FOLDER = join(ROOT, "node_modules/.cache/connecta-servers");

const dependencies = JSON.parse(readFileSync(join(ROOT, "verify/servers/packages.json"), "utf8"));
mkdirSync(FOLDER, { recursive: true });
writeFileSync(join(FOLDER, "package.json"), JSON.stringify({ private: true, dependencies }));

const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
const { code, output } = await run("npm", [...args, "--prefix", "."], {
  cwd: FOLDER,
  env: nestedEnv(process.env),
});
console.log(tail(output, 20));
const count = Object.keys(dependencies).length;
console.log(code === 0 ? `${count} MCP servers are installed.` : "npm install failed.");
process.exitCode = code;
