import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ConnectaConfig } from "../config.ts";
import { fail, ok, type Outcome } from "../shared/failure.ts";

const DEFAULT_FILE = "connecta.config.mjs";

/**
 * Imports a deployment's config file, `connecta.config.mjs` of the working directory by default.
 * @returns `not_found` or `invalid_args` with one line that names the file and the fix
 */
export async function loadConfig(file: string = DEFAULT_FILE): Promise<Outcome<ConnectaConfig>> {
  const path = resolve(file);
  if (!existsSync(path)) {
    return fail("not_found", `${file} does not exist: write one, or name another with --config.`);
  }
  let module: { readonly default?: unknown };
  try {
    module = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as typeof module;
  } catch (error) {
    const [line] = String(error).split("\n");
    return fail("invalid_args", `${file} cannot be loaded: ${line}`);
  }
  if (typeof module.default !== "object" || module.default === null) {
    return fail(
      "invalid_args",
      `${file} has no default export: export default { connectors: [] }.`,
    );
  }
  return ok(module.default as ConnectaConfig);
}
