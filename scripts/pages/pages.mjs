import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runnerImport } from "vite";
import { conformancePage } from "./conformance.mjs";
import { failuresPage } from "./failures.mjs";
import { limitsPage } from "./limits.mjs";

/**
 * Every page that is written by the code, as it has to be.
 * @param {string} root the repository
 * @returns {Promise<Record<string, string>>} text by path
 */
export async function generatedPages(root) {
  const limits = await load(root, "server/shared/limits.ts");
  const { FAILURES } = await load(root, "server/shared/failure.ts");
  const json = (name) => JSON.parse(readFileSync(join(root, "verify/conformance", name), "utf8"));
  return {
    "documentation/limits.md": limitsPage(limits),
    "documentation/failures.md": failuresPage(FAILURES),
    "documentation/conformance.md": conformancePage(json("recorded.json"), json("expected.json")),
  };
}

async function load(root, path) {
  const { module } = await runnerImport(join(root, path), { configFile: false, logLevel: "error" });
  return module;
}
