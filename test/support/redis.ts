import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Whether this machine has a server; tests that need one say so in their name. */
export const HAS_REDIS = spawnSync("redis-server", ["--version"]).status === 0;

/** What follows the name of tests that need a server. */
export const REDIS_NOTE = HAS_REDIS ? "" : " (skipped: redis-server is not installed)";

/** A server of its own, on a loopback port, in a folder that goes with it. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Starts it, again where it was killed, on the same port with the same data. */
  start(): Promise<void>;
  /** Ends it at once, as a loss of power would. */
  kill(): Promise<void>;
  /** Stops it answering while its connections stay. */
  freeze(): void;
  thaw(): void;
  /** Ends it and removes its folder. */
  remove(): Promise<void>;
}

/** @param flags of the command line, such as `--requirepass` */
export async function startRedis(...flags: readonly string[]): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), "connecta-redis-"));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const server: RedisServer = {
    port,
    url: `redis://127.0.0.1:${port}`,
    async start() {
      child = spawn("redis-server", [
        ...["--port", String(port), "--bind", "127.0.0.1", "--dir", folder],
        ...["--appendonly", "yes", "--appendfsync", "always", "--save", "", ...flags],
      ]);
      await readyLine(child);
    },
    async kill() {
      const ending = child;
      child = undefined;
      if (!ending) return;
      const ended = once(ending, "exit");
      ending.kill("SIGKILL");
      await ended;
    },
    freeze: () => void child?.kill("SIGSTOP"),
    thaw: () => void child?.kill("SIGCONT"),
    async remove() {
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

function readyLine(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes("Ready to accept connections")) resolve();
    });
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`redis-server ended: ${said}`)));
  });
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (typeof address !== "object" || address === null) throw new Error("There is no port.");
  return address.port;
}
