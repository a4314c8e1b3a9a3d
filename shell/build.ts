import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { minifySync, parseAst, transformWithOxc, type Plugin, type UserConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { standIns } from "./stand-ins.ts";

/** Where the built shell stands, relative to the repository. */
export const SHELL_HTML = "dist/shell/index.html";

/** The packages in the built shell, as keys of `package-lock.json`; written beside it. */
export const SHELL_SOURCES = "dist/shell/sources.json";

/** Every published state of the shell; not a source, because it holds the hash of the result. */
export const SHELL_VERSIONS = "shell/versions.json";

/** Schemas are built by calls without effect, so those that nobody reads can go. */
const PURE_FUNCTIONS = ["z", "Q", "object", "looseObject", "union", "string", "array"];

/** How the shell is built: one HTML file with one inline module script. */
export function shellBuild(root: string): UserConfig {
  return {
    plugins: [
      travel(),
      standIns(),
      viteSingleFile({ outputFileName: "index.html" }),
      sealedPage(root),
    ],
    build: {
      outDir: "dist/shell",
      emptyOutDir: true,
      modulePreload: false,
      rollupOptions: {
        input: "shell/index.html",
        treeshake: {
          moduleSideEffects: (id) => !id.includes("node_modules"),
          propertyReadSideEffects: false,
          manualPureFunctions: PURE_FUNCTIONS,
        },
      },
    },
  };
}

/**
 * The hash that ties a built shell to its sources: the files of `shell/`, the one file of the
 * server that it shares, and name, version and integrity of each package inside.
 * @param packages keys of `package-lock.json`, as {@link SHELL_SOURCES} records them
 */
export function shellSourceHash(root: string, packages: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of sourceFiles(root)) {
    const bytes = readFileSync(join(root, file));
    hash.update(`${file}\n${createHash("sha256").update(bytes).digest("hex")}\n`);
  }
  const lock: unknown = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const { packages: locked } = lock as { packages: Record<string, Locked | undefined> };
  for (const key of packages.toSorted()) {
    hash.update(`${key}\n${locked[key]?.version ?? ""}\n${locked[key]?.integrity ?? ""}\n`);
  }
  return hash.digest("hex");
}

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
}

function sourceFiles(root: string): string[] {
  const files = readdirSync(join(root, "shell"), { recursive: true, encoding: "utf8" })
    .map((file) => `shell/${file.split(sep).join("/")}`)
    .filter((file) => file !== SHELL_VERSIONS && statSync(join(root, file)).isFile());
  return [...files, "server/view/protocol.ts"].toSorted();
}

/** Writes the source hash into the finished page, makes it plain ASCII and records its packages. */
function sealedPage(root: string): Plugin {
  const packages = new Set<string>();
  return {
    name: "connecta:sealed-page",
    enforce: "post",
    generateBundle: {
      order: "pre",
      handler(_options, bundle) {
        for (const output of Object.values(bundle)) {
          if (output.type !== "chunk") continue;
          for (const [id, { renderedLength }] of Object.entries(output.modules)) {
            const key = renderedLength > 0 ? packageKey(id) : undefined;
            if (key !== undefined) packages.add(key);
          }
        }
      },
    },
    writeBundle({ dir }) {
      const page = join(dir ?? root, "index.html");
      const sorted = [...packages].toSorted();
      const sealed = readFileSync(page, "utf8")
        .replace(/(?<=name="connecta-shell-src-sha256" content=")/, shellSourceHash(root, sorted))
        .replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
      writeFileSync(page, sealed);
      const sources = `${JSON.stringify({ packages: sorted }, undefined, 2)}\n`;
      writeFileSync(join(dir ?? root, "sources.json"), sources);
    },
  };
}

/** From the first `node_modules` on, wherever that stands: as the lock file names the package. */
function packageKey(id: string): string | undefined {
  const path = id.split(sep).join("/");
  return /\/(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
}

/**
 * Makes the built shell importable as `virtual:connecta-shell`: its page (`undefined` when not
 * built) and the version that its address carries.
 */
export function builtShell(root: string): Plugin {
  const id = "\0virtual:connecta-shell";
  return {
    name: "connecta:built-shell",
    resolveId: (source) => (source === "virtual:connecta-shell" ? id : undefined),
    load(loaded) {
      if (loaded !== id) return undefined;
      const page = join(root, SHELL_HTML);
      const versions = join(root, SHELL_VERSIONS);
      this.addWatchFile(page);
      this.addWatchFile(versions);
      const html = existsSync(page) ? JSON.stringify(readFileSync(page, "utf8")) : "undefined";
      const recorded = JSON.parse(readFileSync(versions, "utf8")) as { version: number }[];
      return `export default ${html};\nexport const version = ${recorded.at(-1)?.version};`;
    },
  };
}

/**
 * Serialises code that travels: `import source from "./guest.ts?travel"` gives the minified text
 * of the module's one default-exported function, as an expression. The module may import types
 * only; a value import would be a closure that does not travel, and fails the build.
 */
export function travel(): Plugin {
  const suffix = "?travel";
  return {
    name: "connecta:travel",
    enforce: "pre",
    async load(id) {
      if (!id.endsWith(suffix)) return undefined;
      const file = id.slice(0, -suffix.length);
      this.addWatchFile(file);
      const source = await travelSource(file);
      return `export default ${JSON.stringify(source)};`;
    },
  };
}

async function travelSource(file: string): Promise<string> {
  const { code } = await transformWithOxc(readFileSync(file, "utf8"), file, { sourcemap: false });
  const body = parseAst(code).body.filter((node) => !isEmptyExport(node));
  const [only] = body;
  if (
    body.length !== 1 ||
    only?.type !== "ExportDefaultDeclaration" ||
    only.declaration.type !== "FunctionDeclaration"
  ) {
    throw new Error(`${file}: code that travels is one default-exported function and no import`);
  }
  const module = `export default ${code.slice(only.declaration.start, only.declaration.end)}`;
  const minified = minifySync("travel.js", module, { module: true, sourcemap: false }).code;
  const text = minified.replace(/^export default\s*/, "").replace(/;?\s*$/, "");
  if (/<\/script|<!--/i.test(text)) throw new Error(`${file}: would break out of a script element`);
  return text;
}

/** What is left of a module that exported types alone. */
function isEmptyExport(node: {
  type: string;
  specifiers?: unknown[];
  declaration?: unknown;
}): boolean {
  return (
    node.type === "ExportNamedDeclaration" && !node.declaration && node.specifiers?.length === 0
  );
}
