import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../support/chromium.ts";

const FOLDER = join(ROOT, "node_modules/.cache/connecta-servers/node_modules");

/** The program of an installed package, `undefined` when it is not installed. */
export function programOf(name: string): string | undefined {
  const manifest = join(FOLDER, name, "package.json");
  if (!existsSync(manifest)) return undefined;
  const { bin } = JSON.parse(readFileSync(manifest, "utf8")) as {
    readonly bin: string | Readonly<Record<string, string>>;
  };
  const path = typeof bin === "string" ? bin : Object.values(bin)[0];
  return path === undefined ? undefined : join(FOLDER, name, path);
}
