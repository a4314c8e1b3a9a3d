import { parse } from "acorn";
import { existsSync, readFileSync } from "node:fs";
import { createRequire, register } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ConnectaConfig } from "../config.ts";
import ownPackage from "./own-package.ts?travel";
import { fail, ok, type Outcome } from "../shared/failure.ts";

const DEFAULT_FILES = ["connecta.config.mjs", "connecta.config.ts"] as const;

/** The absolute path of a config file; `connecta.config.mjs`, else `.ts`, of this folder. */
export function configPath(file?: string): string {
  const found = file ?? DEFAULT_FILES.find((name) => existsSync(name)) ?? DEFAULT_FILES[0];
  return resolve(found);
}

/**
 * Imports a deployment's config file, `connecta.config.mjs` of the working directory by default.
 * @returns `not_found` or `invalid_args` with one line that names the file and the fix
 */
export async function loadConfig(given?: string): Promise<Outcome<ConnectaConfig>> {
  const path = configPath(given);
  const file = given ?? basename(path);
  if (!existsSync(path)) {
    return fail("not_found", `${file} does not exist: write one, or name another with --config.`);
  }
  const env = join(dirname(path), ".env");
  // What the environment says itself stands.
  if (existsSync(env)) process.loadEnvFile(env);
  let module: { readonly default?: unknown };
  try {
    lendPackage(path);
    module = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as typeof module;
  } catch (error) {
    const [line] = String(error).split("\n");
    const hint = OTHER_ENTRY.test(line ?? "") ? WHERE : "";
    return fail("invalid_args", `${file}${lineIn(path, error)} cannot be loaded: ${line}${hint}`);
  }
  if (typeof module.default !== "object" || module.default === null) {
    return fail(
      "invalid_args",
      `${file} has no default export: export default { connectors: [] }.`,
    );
  }
  return ok(module.default as ConnectaConfig);
}

const OTHER_ENTRY = /module 'connecta' does not provide an export/;
const WHERE = ". What needs Node, such as stdioMcp and sqliteStorage, is in connecta/node.";

const NAMES_PACKAGE = /["']connecta(?:\/(?:node|sandbox))?["']/;

/** A config may name our package although it is installed for all folders, or for this call alone. */
function lendPackage(path: string): void {
  if (!NAMES_PACKAGE.test(readFileSync(path, "utf8"))) return;
  try {
    createRequire(path).resolve("connecta");
  } catch {
    const names = ["connecta", "connecta/node", "connecta/sandbox"];
    const own = Object.fromEntries(names.map((name) => [name, import.meta.resolve(name)]));
    const hook = `export const resolve=(${ownPackage})(${JSON.stringify(own)})`;
    register(`data:text/javascript,${encodeURIComponent(hook)}`);
  }
}

/** `:12` when the error lies at line 12 of the file, else nothing. */
function lineIn(path: string, error: unknown): string {
  if (error instanceof SyntaxError) return syntaxLine(path);
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const { href } = pathToFileURL(path);
  const at = stack.indexOf(`${href}:`);
  const line = at < 0 ? undefined : /:(\d+)/.exec(stack.slice(at + href.length));
  return line ? `:${line[1]}` : "";
}

/** Node keeps the place of a syntax error to itself, so the file is parsed once more. */
function syntaxLine(path: string): string {
  try {
    parse(readFileSync(path, "utf8"), { ecmaVersion: "latest", sourceType: "module" });
    return "";
  } catch (error) {
    const { loc } = error as { loc?: { line: number } };
    return loc ? `:${loc.line}` : "";
  }
}
