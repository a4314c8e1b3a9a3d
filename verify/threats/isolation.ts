import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Run } from "./main.ts";
import type { Browser } from "./vector.ts";

const RUNNER = fileURLToPath(new URL("./run.mjs", import.meta.url));
/** A network, mounts and processes of its own, all of which end with the first of them. */
const UNSHARE = ["unshare", "-rnmp", "--fork", "--kill-child", "--mount-proc"];
// A global WebSocket is behind a switch in Node 20.
const NODE = [process.execPath, "--experimental-websocket", RUNNER];
const LONGEST_MS = 280_000;

/** Why no network of its own can be had here; `undefined` when it can. */
export const NO_NETWORK = problem();

function problem(): string | undefined {
  if (process.platform !== "linux") return "only Linux has network namespaces";
  const [command = "", ...args] = [...UNSHARE, ...NODE, "none", "own"];
  const { error, status, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (error) return error.message;
  return status === 0
    ? undefined
    : (stderr.trim().split("\n")[0] ?? `unshare ended with ${status}`);
}

/**
 * Measures everything in one browser, in a network of its own where there is one.
 * @throws when the run itself fails, with what it said
 */
export async function runIn(browser: Browser): Promise<Run> {
  const own = NO_NETWORK === undefined;
  const [command = "", ...args] = own
    ? [...UNSHARE, ...NODE, browser, "own"]
    : [...NODE, browser, "loopback"];
  // Profiles are removed once every process is gone that might still write.
  const folder = mkdtempSync(join(tmpdir(), "threats-"));
  const env = { ...process.env, TMPDIR: folder };
  const options = { env, timeout: LONGEST_MS, killSignal: "SIGKILL", maxBuffer: 2 ** 26 } as const;
  try {
    const { stdout } = await promisify(execFile)(command, args, options);
    return JSON.parse(stdout) as Run;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}
