import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { UsageError } from "./cli-command.ts";
import { codeOf } from "./cli-print.ts";
import { initFiles } from "./init-files.ts";

/**
 * Writes a deployment that starts into a folder.
 * @throws UsageError when one of its files is there already; nothing is written then
 */
export async function init(folder: string): Promise<void> {
  const copy = dirname(createRequire(import.meta.url).resolve("connecta/package.json"));
  const files = initFiles(copy);
  const names = Object.keys(files);
  const there = names.filter((name) => existsSync(join(folder, name)));
  if (there.length > 0) {
    throw new UsageError(`${there.join(", ")} would be overwritten: choose an empty folder.`);
  }
  try {
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(folder, name), text, { flag: "wx" });
    }
  } catch (error) {
    throw new UsageError(`${folder} cannot be written to (${codeOf(error)}).`);
  }
  const enter = folder === "." ? "" : `cd ${folder} && `;
  console.log(`Wrote ${names.join(", ")}.`);
  console.log(`Next: ${enter}npm install && npx connecta dev`);
}
