import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach } from "vitest";

/** The command as it is installed. */
export const BIN = fileURLToPath(new URL("../../scripts/connecta.mjs", import.meta.url));
/** The built entries, for configs that tests write. */
export const CONNECTA = new URL("../../dist/server/index.js", import.meta.url).href;
export const CONNECTA_NODE = new URL("../../dist/server/node.js", import.meta.url).href;

/** What a command that ended left behind. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a command is started. */
export interface StartOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A folder of its own for the tests of one file, and the real command in it. */
export function commandFolder(files: Readonly<Record<string, string>> = {}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "connecta-command-")));
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  const children = new Set<ChildProcess>();
  afterEach(() => {
    for (const child of children) child.kill("SIGKILL");
    children.clear();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function start(args: readonly string[], options: StartOptions = {}) {
    const env = { ...process.env, ...options.env };
    const child = spawn(process.execPath, [BIN, ...args], { cwd: options.cwd ?? folder, env });
    children.add(child);
    let [stdout, stderr] = ["", ""];
    const waiting = new Set<() => void>();
    const hear = () => waiting.forEach((look) => look());
    child.stdout.on("data", (data: Buffer) => {
      stdout += String(data);
      hear();
    });
    child.stderr.on("data", (data: Buffer) => {
      stderr += String(data);
      hear();
    });
    if (options.stdin !== undefined) child.stdin.end(options.stdin);
    const ended = new Promise<Ended>((resolve) =>
      child.on("close", (code) => {
        resolve({ code, stdout, stderr });
        hear();
      }),
    );
    /** Resolves with the match once the output holds it. */
    const said = (pattern: RegExp, stream: "stdout" | "stderr" = "stdout") =>
      new Promise<RegExpExecArray>((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(stream === "stdout" ? stdout : stderr);
          if (found) resolve(found);
          else if (child.exitCode !== null) reject(new Error(`ended: ${stderr}`));
        };
        waiting.add(look);
        look();
      });
    /** The URL, once a server says that it listens. */
    const listening = () => said(/^listening (\S+)$/m).then(([, url = ""]) => url);
    return { child, ended, said, listening, stdout: () => stdout, stderr: () => stderr };
  }
  const run = (args: readonly string[], options: StartOptions = {}) =>
    start(args, { stdin: "", ...options }).ended;
  return { folder, write, start, run };
}
