import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { nestedEnv, run, tail } from "./child.mjs";
import { during, Stop } from "./say.mjs";

const HINT = "install Chromium or Chrome, or set CHROMIUM_PATH to one";

/**
 * Refuses a CHROMIUM_PATH that names no program: another browser would not be what was asked for.
 * @throws {Stop}
 */
export function checkChosenBrowser() {
  const chosen = process.env.CHROMIUM_PATH ?? "";
  if (chosen === "" || isProgram(chosen)) return;
  throw new Stop(`CHROMIUM_PATH names no program (${chosen}): correct it or unset it.`);
}

/**
 * Where a Chromium stands: CHROMIUM_PATH, the system's, then Playwright's own.
 * @param {string} root
 * @returns {Promise<string | undefined>}
 */
export async function findBrowser(root) {
  const chosen = process.env.CHROMIUM_PATH ?? "";
  if (chosen !== "") return isProgram(chosen) ? chosen : undefined;
  return systemPaths().find(isProgram) ?? (await playwrightPath(root));
}

/**
 * Installs a Chromium: the distribution's as root on Debian and Ubuntu, else Playwright's.
 * @param {string} root
 * @returns {Promise<string>} its path
 */
export async function installBrowser(root) {
  const failed = [];
  for (const attempt of [installWithApt, installWithPlaywright]) {
    const output = await attempt(root);
    if (output === undefined) continue;
    const path = await findBrowser(root);
    if (path !== undefined && (await starts(path, root))) return path;
    failed.push(tail(output, 6));
  }
  throw new Stop(`no Chromium was found and none could be installed: ${HINT}.`, failed.join("\n"));
}

async function installWithApt(root) {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return undefined;
  const env = { ...nestedEnv(process.env), DEBIAN_FRONTEND: "noninteractive" };
  return during("installing Chromium (apt-get install chromium)", async () => {
    const update = await run("apt-get", ["update"], { cwd: root, env });
    const wanted = ["install", "-y", "--no-install-recommends", "chromium", "fonts-dejavu-core"];
    const install = await run("apt-get", wanted, { cwd: root, env });
    return update.output + install.output;
  });
}

async function installWithPlaywright(root) {
  const cli = join(root, "node_modules", "playwright", "cli.js");
  if (!existsSync(cli)) return undefined;
  return during("installing Chromium (playwright install chromium)", async () => {
    const args = [cli, "install", "chromium"];
    const { output } = await run(process.execPath, args, {
      cwd: root,
      env: nestedEnv(process.env),
    });
    return output;
  });
}

/** A package can be installed and still not start, for want of a system library. */
async function starts(path, root) {
  const { code } = await run(path, ["--version"], { cwd: root });
  return code === 0;
}

function systemPaths() {
  if (process.platform === "darwin") {
    return ["Google Chrome", "Chromium"].map(
      (app) => `/Applications/${app}.app/Contents/MacOS/${app}`,
    );
  }
  if (process.platform === "win32") {
    return [process.env.PROGRAMFILES, process.env["PROGRAMFILES(X86)"], process.env.LOCALAPPDATA]
      .filter((folder) => folder !== undefined)
      .flatMap((folder) =>
        ["Google\\Chrome", "Chromium"].map((app) => `${folder}\\${app}\\Application\\chrome.exe`),
      );
  }
  return ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"].flatMap(
    (name) => [`/usr/bin/${name}`, `/usr/local/bin/${name}`, `/snap/bin/${name}`],
  );
}

async function playwrightPath(root) {
  if (!existsSync(join(root, "node_modules", "playwright", "package.json"))) return undefined;
  const { chromium } = await import("playwright");
  const path = chromium.executablePath();
  return isProgram(path) ? path : undefined;
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return !isStandIn(path);
  } catch {
    return false;
  }
}

/** Ubuntu's package without its snap is a script that only says what to install. */
function isStandIn(path) {
  const text = statSync(path).size < 16_384 ? readFileSync(path, "latin1") : "";
  return text.startsWith("#!") && text.includes("snap install");
}
