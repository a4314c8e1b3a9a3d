import { spawn, type ChildProcess } from "node:child_process";
import { ROOT } from "./chromium.ts";

/** A server of connecta, as a process of its own. */
export interface Running {
  readonly pid: number | undefined;
  /** Without a trailing slash. */
  readonly origin: string;
  /** Everything the process has printed so far. */
  readonly printed: { stdout: string; stderr: string };
  /**
   * Asks the process to end and waits until it has.
   * @throws when it does not end with 0
   */
  stop(): Promise<void>;
}

/** Whether the tests of a server are run against the gateway as a Worker. */
export const ON_WORKERS = process.env.CONNECTA_RUNTIME === "workers";

const READY = /^listening (http:\/\/\S+)$/m;

/**
 * Starts `connecta dev` with the demo deployment on any free port, or the same as a Worker.
 * @param cwd working directory, whose repository the `git` connector reads
 * @throws with what it printed when it ends before it listens
 */
export async function startServer(cwd: string): Promise<Running> {
  if (ON_WORKERS) return (await import("./worker-server.ts")).startWorkerServer(cwd);
  return startCommand(["dev", "--config", `${ROOT}examples/node/connecta.config.mjs`], cwd);
}

/**
 * Starts a command of connecta that serves, on any free port.
 * @throws with what it printed when it ends before it listens
 */
export async function startCommand(command: readonly string[], cwd: string): Promise<Running> {
  const args = [`${ROOT}scripts/connecta.mjs`, ...command, "--port", "0"];
  const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const printed = { stdout: "", stderr: "" };
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (printed.stderr += chunk));
  const origin = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      printed.stdout += chunk;
      const found = READY.exec(printed.stdout)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", (code) => {
      reject(
        new Error(`connecta ${command[0]} ended with ${code}: ${printed.stderr}${printed.stdout}`),
      );
    });
  });
  return { pid: child.pid, origin, printed, stop: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  if (child.exitCode === null) child.kill("SIGTERM");
  const code = child.exitCode ?? (await ended);
  if (code !== 0) throw new Error(`connecta ended with ${String(code)}`);
}
