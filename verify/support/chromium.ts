import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright";
import { findBrowser } from "../../scripts/ensure/browser.mjs";

/** The repository. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Where screenshots go. */
export const OUT = `${ROOT}verify/out/`;

/**
 * Starts the Chromium that CHROMIUM_PATH names, else the system's, else Playwright's.
 * @throws when there is none, in words
 */
export async function launchChromium(): Promise<Browser> {
  const executablePath = await findBrowser(ROOT);
  if (executablePath === undefined) {
    throw new Error("No Chromium was found: install one, or set CHROMIUM_PATH to it.");
  }
  mkdirSync(OUT, { recursive: true });
  // Containers often run as root and without the kernel features that the browser's own sandbox needs.
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

/** A page, and everything that it and its frames complained about. */
export interface Watched {
  readonly page: Page;
  /** Console errors and warnings, uncaught errors, policy violations. */
  readonly complaints: string[];
}

/** Opens a page of its own that writes down every complaint of every frame. */
export async function openWatched(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    ...options,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (!["error", "warning"].includes(message.type())) return;
    complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`uncaught: ${error.message}`));
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => {
      console.error(`violation: ${event.effectiveDirective} ${event.blockedURI}`);
    });
  });
  return { page, complaints };
}

/** @throws with everything that the page complained about */
export function mustBeQuiet({ complaints }: Watched): void {
  if (complaints.length > 0) throw new Error(`The page complained:\n${complaints.join("\n")}`);
}
