import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runnerImport } from "vite";
import { conformancePage } from "./conformance.mjs";
import { failuresPage } from "./failures.mjs";
import { limitsPage } from "./limits.mjs";

/** A comment that names a file, and the block behind it, which is that file. */
const EXCERPT = /^<!-- from (\S+) -->\n\n```(\w+)\n[^]*?^```$/gm;

/**
 * Every page that is written by the code, or shows files of the repository, as it has to be.
 * @param {string} root the repository
 * @returns {Promise<Record<string, string>>} text by path
 */
export async function generatedPages(root) {
  const limits = await load(root, "server/shared/limits.ts");
  const { FAILURES } = await load(root, "server/shared/failure.ts");
  const json = (name) => JSON.parse(readFileSync(join(root, "verify/conformance", name), "utf8"));
  const written = {
    "documentation/limits.md": limitsPage(limits),
    "documentation/failures.md": failuresPage(FAILURES),
    "documentation/conformance.md": conformancePage(json("recorded.json"), json("expected.json")),
  };
  const shown = ["README.md", ...pagesBelow(root, "documentation")].flatMap((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return text.search(EXCERPT) === -1 ? [] : [[path, withFiles(root, text)]];
  });
  return { ...written, ...Object.fromEntries(shown) };
}

/** A page with its blocks as the files are that they show. */
function withFiles(root, text) {
  return text.replace(EXCERPT, (_, path, language) => {
    const file = readFileSync(join(root, path), "utf8");
    return `<!-- from ${path} -->\n\n\`\`\`${language}\n${file}\`\`\``;
  });
}

function pagesBelow(root, folder) {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`);
}

async function load(root, path) {
  const { module } = await runnerImport(join(root, path), { configFile: false, logLevel: "error" });
  return module;
}
