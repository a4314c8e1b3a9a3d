// The declarations that the package offers: those that its entries reach, and no others.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { run, tail } from "./ensure/child.mjs";

const EMITTED = "dist/.types";
const TYPES = "dist/types";
const SPECIFIER = /(?<=\b(?:from|import) ?\(?)(["'])([^"'\n]+)\1/g;

/**
 * Emits the declarations of every entry of the package into `dist/types`.
 * @param {string} root the repository
 * @returns {Promise<void>}
 * @throws Error when something does not compile, or a declaration names a package that whoever
 * installs this one would not get
 */
export async function emitTypes(root) {
  const emitted = join(root, EMITTED);
  rmSync(emitted, { recursive: true, force: true });
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const args = [tsc, "--project", "tsconfig.types.json", "--outDir", EMITTED];
  const { code, output } = await run(process.execPath, args, { cwd: root });
  if (code !== 0) throw new Error(`the declarations do not compile:\n${tail(output, 40)}`);
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const files = reached(emitted, entriesOf(manifest));
  const foreign = strangers(files, manifest);
  if (foreign.length > 0) throw new Error(`declarations name ${foreign.join(", ")}`);
  rmSync(join(root, TYPES), { recursive: true, force: true });
  for (const [name, text] of files) {
    const target = join(root, TYPES, name);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
  rmSync(emitted, { recursive: true, force: true });
}

/** Names, below `dist/types`, of the declarations that `exports` offers. */
function entriesOf({ exports }) {
  return Object.values(exports).flatMap((target) =>
    typeof target === "object" && target.types ? [relative(TYPES, target.types)] : [],
  );
}

/** Every declaration that the entries lead to, with what it imports named as it is installed. */
function reached(folder, entries) {
  const files = new Map();
  const waiting = [...entries];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (files.has(name)) continue;
    const path = join(folder, name);
    if (!existsSync(path)) throw new Error(`no source gives the declarations ${name}`);
    const text = readFileSync(path, "utf8").replace(SPECIFIER, (whole, quote, specifier) => {
      if (!specifier.startsWith(".")) return whole;
      const bare = specifier.replace(/\.[jt]s$/, "");
      waiting.push(relative(folder, join(dirname(path), `${bare}.d.ts`)));
      return `${quote}${bare}.js${quote}`;
    });
    files.set(name, text);
  }
  return files;
}

/** Packages, with the file that names each, that are neither of a runtime nor installed with ours. */
function strangers(files, { dependencies }) {
  return [...files].flatMap(([name, text]) =>
    [...text.matchAll(SPECIFIER)]
      .map(([, , specifier]) => specifier)
      .filter((specifier) => !/^(\.|node:|cloudflare:)/.test(specifier))
      .map((specifier) => /^(@[^/]+\/)?[^/]+/.exec(specifier)[0])
      .filter((packaged) => !Object.hasOwn(dependencies, packaged))
      .map((packaged) => `${packaged} in ${name}`),
  );
}
