import assert from "node:assert/strict";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../scripts/ensure/child.mjs";
import { PROGRAM } from "./deployment.mjs";
import { ask } from "./installed.mjs";

/** What each entry must offer at least; a name that is gone breaks somebody. */
const ENTRIES = {
  connecta: ["api", "createConnecta", "fromMcpServers", "memoryStorage", "remoteMcp", "ToolError"],
  "connecta/node": ["fileActivity", "fromMcpServers", "listen", "sqliteStorage", "stdioMcp"],
  "connecta/sandbox": ["quickjsExecutor"],
  "connecta/worker": ["durableStorage", "kvStorage", "serve", "StorageObject"],
};

/** Stands in for what the Workers runtime has and Node does not, as far as importing goes. */
const STAND_IN = asModule(`
  import { register } from "node:module";
  register(${JSON.stringify(
    asModule(`
      const url = "data:text/javascript,export class DurableObject {}";
      export const resolve = (specifier, context, next) =>
        specifier === "cloudflare:workers" ? { url, shortCircuit: true } : next(specifier, context);
    `),
  )});
`);

/** Every check, in order: what it shows, and how. Each gets the installed package. */
export const CHECKS = [
  ["it brings what it needs, no source and no test", contents],
  ["its entries import on this Node", imports],
  ["no entry brings a package that was not installed with it", packages],
  ["the core compiles for others, without types of Node", compilesCore],
  ["every entry compiles for others, with nothing left unchecked", compilesAll],
  ["npx connecta --help says how, and a mistake is one line", help],
  ["the command that hosts are given finds it from anywhere", anywhere],
  ["npx connecta serve runs a program and shows its view", serves],
  ["npx connecta dev serves the page", page],
];

function contents({ files }) {
  const odd = files.filter(
    (path) =>
      !/^(dist\/(host|server|types)\/|scripts\/connecta\.mjs$|[A-Z]+(\.md)?$|package\.json$)/.test(
        path,
      ),
  );
  assert.deepEqual(odd, []);
  assert.deepEqual(
    files.filter((path) => /\btest\b|fixture|\.map$|(?<!\.d)\.ts$/.test(path)),
    [],
  );
  for (const path of ["LICENSE", "README.md", "dist/server/sandbox-process.js"]) {
    assert.ok(files.includes(path), path);
  }
}

async function imports(installed) {
  for (const [entry, names] of Object.entries(ENTRIES)) {
    const code = `import * as all from "${entry}"; console.log(JSON.stringify(Object.keys(all)))`;
    const flags = ["--import", STAND_IN, "--input-type=module", "-e"];
    const output = await installed.must(process.execPath, [...flags, code]);
    const offered = JSON.parse(output);
    assert.deepEqual(
      names.filter((name) => !offered.includes(name)),
      [],
    );
  }
}

function asModule(code) {
  return `data:text/javascript,${encodeURIComponent(code)}`;
}

function packages({ home, files }) {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(home, "package.json"), "utf8"),
  );
  const known = Object.keys({ ...dependencies, ...optionalDependencies });
  const code = files.filter((path) => path.startsWith("dist/server/"));
  const used = code.flatMap((path) =>
    [
      ...readFileSync(join(home, path), "utf8").matchAll(
        /^import (?:.*? from )?"([^"./][^"]*)";?$/gm,
      ),
    ]
      .map(([, specifier]) => specifier)
      .filter((specifier) => !/^(?:node|cloudflare):/.test(specifier)),
  );
  assert.ok(used.length > 5);
  const names = used.map((specifier) => /^(@[^/]+\/)?[^/]+/.exec(specifier)[0]);
  assert.deepEqual(
    [...new Set(names)].filter((name) => !known.includes(name)),
    [],
  );
}

async function compilesCore(installed) {
  const { devDependencies } = ourManifest(installed);
  await installed.add(`typescript@${devDependencies.typescript}`);
  await compile(installed, "core.ts", ["ES2023", "DOM", "DOM.Iterable"], []);
}

async function compilesAll(installed) {
  const { devDependencies } = ourManifest(installed);
  await installed.add(`@types/node@${devDependencies["@types/node"]}`);
  await compile(installed, "node.ts", ["ES2023"], ["node"]);
}

async function compile(installed, name, lib, types) {
  copyFileSync(join(installed.root, "verify/package/consumer", name), join(installed.folder, name));
  for (const [module, moduleResolution] of [
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ]) {
    const compilerOptions = {
      ...{ module, moduleResolution, lib, types, target: "es2023" },
      ...{ strict: true, noEmit: true, skipLibCheck: false },
    };
    installed.write("tsconfig.json", JSON.stringify({ compilerOptions, files: [name] }));
    const tsc = join(installed.folder, "node_modules/typescript/bin/tsc");
    await installed.must(process.execPath, [tsc, "--project", "tsconfig.json"]);
  }
}

function ourManifest({ root }) {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
}

async function help(installed) {
  const output = await installed.connecta(["--help"]);
  assert.match(output, /serve/);
  assert.equal(output.includes(installed.root), false);
  const { version } = ourManifest(installed);
  assert.match(await installed.connecta(["--version"]), new RegExp(`^${version}$`, "m"));
  const mistake = await installed.connecta(["serve", "--config", "none.mjs"], 1);
  assert.match(mistake, /none\.mjs/);
  assert.doesNotMatch(mistake, /^ {4}at /m);
}

async function anywhere({ folder, root }) {
  const args = ["--no-install", "--prefix", folder, "connecta", "--version"];
  const { code, output } = await run("npx", args, { cwd: join(root, "..") });
  assert.equal(code, 0, output);
}

async function serves(installed) {
  const server = await installed.serve(["serve"]);
  const ran = await ask(server.origin, "tools/call", {
    name: "execute_code",
    arguments: { code: PROGRAM },
  });
  assert.equal(ran.structuredContent.result, 42);
  assert.equal(ran._meta["connecta/ui"].html, "<p>42</p>");
  const { tools } = await ask(server.origin, "tools/list", {});
  const uri = tools.find(({ name }) => name === "execute_code")._meta.ui.resourceUri;
  const {
    contents: [shell],
  } = await ask(server.origin, "resources/read", { uri });
  assert.match(shell.text, /^<!doctype html>/i);
  assert.equal(await server.stop(), 0);
}

async function page(installed) {
  const server = await installed.serve(["dev"]);
  const response = await fetch(server.origin);
  assert.equal(response.status, 200);
  assert.match(await response.text(), /<script type="module"/);
  assert.equal(await server.stop(), 0);
}
