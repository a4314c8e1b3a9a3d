import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from "playwright";
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
  return chromium.launch(await launchOptions());
}

/** A browser with a regular profile, as a person's is; pages of a test have none otherwise. */
export interface Profile {
  readonly context: BrowserContext;
  /** Ends the browser and removes its folder. */
  close(): Promise<void>;
}

/**
 * Starts the same Chromium with a regular profile in a folder of its own.
 * @throws when there is no Chromium, in words
 */
export async function launchProfile(options: BrowserContextOptions = {}): Promise<Profile> {
  const launch = await launchOptions();
  const folder = mkdtempSync(join(tmpdir(), "profile-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const context = await chromium.launchPersistentContext(folder, { ...launch, ...options });
    const close = async () => {
      await context.close();
      remove();
    };
    return { context, close };
  } catch (error) {
    remove();
    throw error;
  }
}

async function launchOptions(): Promise<{ executablePath: string; args: string[] }> {
  const executablePath = await findBrowser(ROOT);
  if (executablePath === undefined) {
    throw new Error("No Chromium was found: install one, or set CHROMIUM_PATH to it.");
  }
  mkdirSync(OUT, { recursive: true });
  // Containers often run as root and without the kernel features that the browser's own sandbox needs.
  return { executablePath, args: ["--no-sandbox"] };
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
