import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { Duplex } from "node:stream";
import { dirname, join, parse } from "node:path";

const require = createRequire(import.meta.url);

/** The built program of a sandbox process. */
export function defaultEntry(): string {
  try {
    return require.resolve("connecta/sandbox-process");
  } catch {
    throw new Error("The sandbox process is not built: run `npm run build` first.");
  }
}

/** The interpreter's WebAssembly file; the process that runs it cannot read files. */
export function readInterpreter(): Promise<Buffer> {
  // The file belongs to a dependency of quickjs-emscripten, which need not be visible from here.
  const near = createRequire(require.resolve("quickjs-emscripten"));
  return readFile(near.resolve("@jitl/quickjs-wasmfile-release-sync/wasm"));
}

/** A started sandbox process and the server's end of its channel. */
export interface Launched {
  readonly child: ChildProcess;
  readonly channel: Duplex & { ref(): unknown; unref(): unknown };
}

/**
 * Starts a sandbox process: an empty environment, the null device for input and output, one
 * socket, and no permission but to read its own program.
 */
export function launch(entry: string): Launched {
  const program = realpathSync(entry);
  const child = spawn(process.execPath, [...flags(program), program], {
    env: {},
    cwd: parse(program).root,
    stdio: ["ignore", "ignore", "ignore", "pipe"],
    windowsHide: true,
  });
  const channel = child.stdio[3];
  if (!isSocket(channel)) throw new Error("The sandbox process has no channel.");
  return { child, channel };
}

function flags(program: string): string[] {
  const known = process.allowedNodeEnvironmentFlags;
  const permission = ["--permission", "--experimental-permission"].find((flag) => known.has(flag));
  return [
    "--no-warnings",
    "--expose-gc",
    ...(permission ? [permission, `--allow-fs-read=${join(dirname(program), "*")}`] : []),
  ];
}

function isSocket(stream: unknown): stream is Launched["channel"] {
  return stream instanceof Duplex && "ref" in stream && "unref" in stream;
}

/** Throws when the program of the sandbox process does not exist. */
export function checkEntry(entry: string): string {
  if (existsSync(entry)) return entry;
  throw new Error(`The sandbox process ${entry} does not exist: run \`npm run build\` first.`);
}
