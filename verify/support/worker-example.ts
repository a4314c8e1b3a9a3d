import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./chromium.ts";
import type { Running } from "./server.ts";

const READY = /Ready on (http:\/\/127\.0\.0\.1:\d+)/;

/**
 * Starts the example of a Worker as `npm run worker` does, on any free port and without what an
 * earlier one stored.
 * @throws with what it printed when it ends before it listens
 */
export async function startWorkerExample(): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), "connecta-worker-"));
  const options = ["--port", "0", "--persist-to", folder, "--show-interactive-dev-session=false"];
  const child = spawn(process.execPath, [`${ROOT}scripts/worker.mjs`, ...options], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, WRANGLER_LOG_PATH: folder, NO_COLOR: "1" },
  });
  const printed = { stdout: "", stderr: "" };
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (printed.stderr += chunk));
  const origin = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      printed.stdout += chunk;
      const found = READY.exec(printed.stdout)?.[1];
      if (found !== undefined) resolve(found);
    });
    void ended.then((code) =>
      reject(new Error(`the Worker ended with ${code}: ${printed.stderr}${printed.stdout}`)),
    );
  });
  return {
    pid: child.pid,
    origin,
    printed,
    async stop() {
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
