import { spawn, type ChildProcess } from "node:child_process";
import { connect, createServer, type AddressInfo } from "node:net";
import { PORT, type Known } from "./known.ts";

/** A server that speaks HTTP, as a process of this one. */
export interface HttpServer {
  readonly known: Known;
  readonly url: string;
  /** Starts it, and waits until somebody listens on its port. */
  start(): Promise<void>;
  /** Ends it by force, and waits until it has ended. */
  kill(): Promise<void>;
  /** Stops it where it stands: it takes requests in, and answers none. */
  freeze(): void;
}

const POLL_MS = 50;

/** A server on a free port, not started yet. */
export async function httpServer(
  known: Known,
  program: string,
  env: Readonly<Record<string, string>>,
): Promise<HttpServer> {
  const port = await freePort();
  const args = (known.args ?? []).map((one) => one.replace(PORT, String(port)));
  let child: ChildProcess | undefined;
  return {
    known,
    url: `http://127.0.0.1:${port}/mcp`,
    async start() {
      child = spawn(process.execPath, [program, ...args], {
        env: { PATH: process.env["PATH"], PORT: String(port), ...env, ...known.env },
        stdio: "ignore",
      });
      await listening(port, child);
    },
    async kill() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child?.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
    },
    freeze: () => void child?.kill("SIGSTOP"),
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

/** A server says in its own way that it listens, or not at all: it is asked. */
async function listening(port: number, child: ChildProcess): Promise<void> {
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const answer = (value: boolean) => {
      socket.destroy();
      resolve(value);
    };
    socket.once("connect", () => answer(true)).once("error", () => answer(false));
  });
}
