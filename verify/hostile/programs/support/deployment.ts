import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ROOT } from "../../../support/chromium.ts";

/** The hostile programs' deployment as a process of its own. */
export interface Deployment {
  /** Without a trailing slash. */
  readonly origin: string;
  readonly pid: number;
  /** @throws when it had ended before, or does not end with 0 */
  stop(): Promise<void>;
}

const CONFIG = fileURLToPath(new URL("../connecta.config.mjs", import.meta.url));
const READY = /^listening (http:\/\/\S+)$/m;

/**
 * Starts `connecta serve` on any free port.
 * @param heapMb what the server's own heap may grow to, in MB
 * @throws with what it printed when it ends before it listens
 */
export async function startDeployment(heapMb?: number): Promise<Deployment> {
  const bound = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`];
  const serve = [`${ROOT}scripts/connecta.mjs`, "serve", "--config", CONFIG, "--port", "0"];
  const args = [...bound, ...serve];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (printed += chunk));
  const origin = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
      const found = READY.exec(printed)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", (code) => reject(new Error(`connecta ended with ${code}: ${printed}`)));
  });
  return { origin, pid: child.pid ?? 0, stop: () => stop(child, () => printed) };
}

async function stop(child: ChildProcess, printed: () => string): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) {
    throw new Error(`connecta had ended before it was asked to: ${printed()}`);
  }
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const code = await ended;
  if (code !== 0) throw new Error(`connecta ended with ${String(code)}: ${printed()}`);
}
