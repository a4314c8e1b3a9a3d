import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkChosenBrowser, findBrowser, installBrowser } from "./browser.mjs";
import { nestedEnv, run, tail } from "./child.mjs";
import { exclusively } from "./lock.mjs";
import { install, isInstalled } from "./packages.mjs";
import { during, say, Stop } from "./say.mjs";
import { isBuilt } from "./sources.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Installs, builds and finds a browser, each only when it must.
 * @param {string[]} args `--browser` asks for a Chromium too
 * @returns {Promise<number>} the exit code
 */
export async function main(args) {
  const unknown = args.find((arg) => arg !== "--browser");
  if (unknown !== undefined) {
    say(`connecta: unknown option ${unknown}; the only one is --browser.`);
    return 1;
  }
  try {
    const browser = args.includes("--browser");
    if (browser) checkChosenBrowser();
    if (!(await isReady(browser))) await exclusively(ROOT, () => makeReady(browser));
    return 0;
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    if (error.detail !== "") say(error.detail);
    say(`connecta: ${error.message}`);
    return 1;
  }
}

async function isReady(browser) {
  return (
    isInstalled(ROOT) && isBuilt(ROOT) && (!browser || (await findBrowser(ROOT)) !== undefined)
  );
}

async function makeReady(browser) {
  if (!isInstalled(ROOT)) await install(ROOT);
  if (!isBuilt(ROOT)) await build();
  if (browser && (await findBrowser(ROOT)) === undefined) await installBrowser(ROOT);
}

async function build() {
  const script = join(ROOT, "scripts", "build.mjs");
  const env = nestedEnv(process.env);
  await during("building the shell, the host page and the server", async () => {
    const { code, output } = await run(process.execPath, [script], { cwd: ROOT, env });
    if (code === 0) return;
    throw new Stop("the build failed: mend what it names above, then try again.", tail(output, 60));
  });
}
