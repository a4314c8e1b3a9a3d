// `npm run verify:package`: packs, installs into an empty folder, and uses what came out of it.
// Needs whatever npm installs packages from. RECORD=1 writes the sizes down.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CHECKS } from "./checks.mjs";
import { commandChecks } from "./commands.mjs";
import { CONFIG } from "./deployment.mjs";
import { Installed } from "./installed.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BUDGET = fileURLToPath(new URL("budget.json", import.meta.url));

const installed = new Installed(ROOT, mkdtempSync(join(tmpdir(), "connecta-package-")));
try {
  await installed.install();
  installed.write("connecta.config.mjs", CONFIG);
  // Sizes first: checks install more beside the package.
  const failed = measure() + (await check());
  console.log(failed === 0 ? "The package holds." : `${failed} of them failed.`);
  process.exitCode = failed === 0 ? 0 : 1;
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(installed.folder, { recursive: true, force: true });
}

/** Holds the sizes against their budget; how many are over it. */
function measure() {
  const budget = JSON.parse(readFileSync(BUDGET, "utf8"));
  let over = 0;
  for (const [name, row] of Object.entries(budget)) {
    const size = name === "files" ? installed.files.length : installed[name];
    if (size > row.most) over++;
    const mark = size > row.most ? "✗" : "✓";
    console.log(`${mark} ${name} ${size}, at most ${row.most} (recorded: ${row.measured})`);
    row.measured = size;
  }
  if (process.env.RECORD) writeFileSync(BUDGET, `${JSON.stringify(budget, null, 2)}\n`);
  return over;
}

/** Runs every check; how many failed. */
async function check() {
  let failed = 0;
  for (const [title, run] of [...CHECKS, ...(await commandChecks(installed))]) {
    try {
      await run(installed);
      console.log(`✓ ${title}`);
    } catch (error) {
      failed++;
      console.log(`✗ ${title}\n${error.message}`);
    }
  }
  return failed;
}
