import { spawn } from "node:child_process";

// Settings of the surrounding npm command that would change where or what a nested npm installs.
const FOREIGN =
  /^(npm_(package|lifecycle)_|npm_(command|node_execpath|execpath)$|npm_config_(omit|include|only|also|production|dev|global|location|prefix|local_prefix|workspaces?|include_workspace_root|dry_run|package_lock|package_lock_only|json|loglevel|silent|long|parseable|force|optional)$|NODE_ENV$)/i;

/**
 * The environment for a nested package manager or build: ours without what the surrounding npm
 * command added for itself, so that registry, proxy and cache settings stay.
 * @param {NodeJS.ProcessEnv} env
 */
export function nestedEnv(env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !FOREIGN.test(name)));
}

/**
 * Runs a program to its end and keeps what it prints.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<{ code: number, output: string }>} code 127 when the program does not exist
 */
export function run(command, args, { cwd, env = process.env }) {
  return new Promise((resolve) => {
    // npm is a batch file on Windows, which only a shell can start.
    const shell = process.platform === "win32" && !/\.(exe|mjs|js)$/i.test(command);
    const child = spawn(command, args, { cwd, env, shell, stdio: ["ignore", "pipe", "pipe"] });
    const chunks = [];
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.stderr.on("data", (chunk) => chunks.push(chunk));
    child.on("error", (error) => resolve({ code: 127, output: error.message }));
    child.on("close", (code) =>
      resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString("utf8") }),
    );
  });
}

/** The last lines of a program's output, indented, for an error message. */
export function tail(output, lines) {
  const all = output.trimEnd().split("\n");
  return all
    .slice(-lines)
    .map((line) => `  ${line}`)
    .join("\n");
}
