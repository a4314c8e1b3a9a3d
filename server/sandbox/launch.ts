import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { devNull } from "node:os";
import { Duplex } from "node:stream";
import { dirname, join, parse } from "node:path";

/** The descriptor of the channel in a sandbox process. */
const CHANNEL = 3;

/** O_CLOEXEC as /proc shows it. */
const CLOSE_ON_EXEC = 0o2000000;

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
 * @param inherited descriptors of {@link inheritedDescriptors}; the process gets nothing for them
 */
export function launch(entry: string, inherited: readonly number[]): Launched {
  const program = realpathSync(entry);
  const nothing = openSync(devNull, "r");
  const stdio: StdioOptions = ["ignore", "ignore", "ignore", "pipe"];
  for (const descriptor of inherited) stdio[descriptor] = nothing;
  const child = spawn(process.execPath, [...flags(program), program], {
    env: {},
    cwd: parse(program).root,
    stdio: Array.from(stdio, (use) => use ?? "ignore"),
    windowsHide: true,
  });
  closeSync(nothing);
  const channel = child.stdio[3];
  if (!isSocket(channel)) throw new Error("The sandbox process has no channel.");
  return { child, channel };
}

/**
 * Descriptors that a child of this process would get without being meant to. Node closes those it
 * opens itself; what the parent of this process left open above the first few stays open.
 */
export function inheritedDescriptors(): number[] {
  if (process.platform !== "linux") return [];
  const folder = "/proc/self/fdinfo";
  return readdirSync(folder).flatMap((name) => {
    try {
      const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`${folder}/${name}`, "latin1"));
      const closes = (Number.parseInt(flags?.[1] ?? "0", 8) & CLOSE_ON_EXEC) !== 0;
      return closes || Number(name) <= CHANNEL ? [] : [Number(name)];
    } catch {
      return []; // The descriptor that listed the folder.
    }
  });
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
