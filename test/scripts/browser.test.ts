import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { findBrowser } from "../../scripts/ensure/browser.mjs";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "connecta-browser-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** What is found when CHROMIUM_PATH names a file with this text. */
async function chosen(text: string, mode: number): Promise<string | undefined> {
  const path = join(folder, "browser");
  writeFileSync(path, text);
  chmodSync(path, mode);
  vi.stubEnv("CHROMIUM_PATH", path);
  const found = await findBrowser(folder);
  return found === path ? "chosen" : found;
}

describe("the browser of the checks", () => {
  test("CHROMIUM_PATH wins over whatever the system has", async () => {
    expect(await chosen("#!/bin/sh\nexec true\n", 0o755)).toBe("chosen");
  });

  test("a file that cannot be run is no browser, and no other one is taken in its place", async () => {
    expect(await chosen("#!/bin/sh\n", 0o644)).toBe(undefined);
  });

  test("a script that only asks for a snap is no browser", async () => {
    expect(await chosen("#!/bin/sh\necho please run snap install chromium\n", 0o755)).toBe(
      undefined,
    );
  });
});
