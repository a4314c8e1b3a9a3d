import { readFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, resolve } from "node:path";
import { parseEnv } from "node:util";
import type { ProcessServer } from "../connectors/import/definition.ts";
import {
  connectorsOf,
  importMcpServers,
  type Imported,
  type ImportOptions,
} from "../connectors/import/from-mcp-servers.ts";
import { remoteMcp } from "../connectors/remote/remote.ts";
import { stdioMcp } from "../connectors/stdio/stdio.ts";
import { fail, type Outcome } from "../shared/failure.ts";
import { codeOf } from "./cli-print.ts";

/**
 * Makes connectors of the servers in a client's file, references filled in from this process:
 * environment, home folder and, as workspace, the working directory.
 * @param file its text, comments included, or what its JSON holds
 * @throws TypeError in one sentence when it lists no servers
 */
export function fromMcpServers(file: unknown, options: ImportOptions = {}): Imported {
  const { makers, filled } = here(options);
  return connectorsOf(file, makers, filled);
}

/**
 * Reads a client's file and makes connectors of its servers.
 * @param taken ids of connectors that there are besides
 * @returns `not_found` or `invalid_args` in one line that names the file
 */
export async function loadMcpConfig(
  file: string,
  taken: readonly string[],
): Promise<Outcome<Imported>> {
  const path = resolve(file);
  const text = await readFile(path, "utf8").catch((error: unknown) => error as Error);
  if (typeof text !== "string") {
    return fail("not_found", `${file} cannot be read (${codeOf(text)}).`);
  }
  const { makers, filled } = here({ taken, workspaceFolder: workspaceOf(path) });
  const imported = importMcpServers(text, makers, filled);
  if (imported.ok) return imported;
  return fail("invalid_args", `${file} cannot be used. ${imported.failure.message}`);
}

/** The folder of a project keeps its file in a hidden one; another file belongs to where we are. */
function workspaceOf(path: string): string {
  const folder = dirname(path);
  return basename(folder).startsWith(".") ? dirname(folder) : process.cwd();
}

/** What this process makes connectors with, and what references stand for in it. */
function here(options: ImportOptions) {
  const workspaceFolder = resolve(options.workspaceFolder ?? ".");
  const makers = {
    remoteMcp,
    stdioMcp: ({ cwd, ...server }: ProcessServer) =>
      stdioMcp({ ...server, ...(cwd === undefined ? {} : { cwd: resolve(workspaceFolder, cwd) }) }),
    readEnvFile: (path: string) => readVariables(resolve(workspaceFolder, path)),
  };
  const filled = { env: process.env, userHome: homedir(), ...options, workspaceFolder };
  return { makers, filled };
}

function readVariables(path: string): Readonly<Record<string, string>> | string {
  try {
    return parseEnv(readFileSync(path, "utf8")) as Readonly<Record<string, string>>;
  } catch (error) {
    return `has an envFile that cannot be read (${codeOf(error)})`;
  }
}
