// @vitest-environment node
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "vite";
import { afterEach, describe, expect, test } from "vitest";
import {
  SHELL_HTML,
  SHELL_SOURCES,
  shellBuild,
  shellSourceHash,
  travel,
} from "../../shell/build.ts";
import { standIns } from "../../shell/stand-ins.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const made: string[] = [];
afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true });
});

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), "shell-"));
  made.push(path);
  return path;
}

/** The sources of the shell, alone in a directory of another name. */
function copyOfSources(): string {
  const copy = directory();
  mkdirSync(join(copy, "server"));
  cpSync(join(root, "shell"), join(copy, "shell"), { recursive: true });
  cpSync(join(root, "server/view"), join(copy, "server/view"), { recursive: true });
  for (const file of ["package.json", "package-lock.json", "tsconfig.json"]) {
    cpSync(join(root, file), join(copy, file));
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

async function buildIn(copy: string): Promise<string> {
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = "production";
  try {
    await build({
      ...shellBuild(copy),
      root: copy,
      configFile: false,
      publicDir: false,
      logLevel: "silent",
    });
  } finally {
    process.env.NODE_ENV = before;
  }
  return readFileSync(join(copy, SHELL_HTML), "utf8");
}

const packagesIn = (copy: string) =>
  (JSON.parse(readFileSync(join(copy, SHELL_SOURCES), "utf8")) as { packages: string[] }).packages;

describe("the build of the shell", () => {
  test("gives the same bytes in two directories, and the bytes that are there", async () => {
    const [first, second] = [copyOfSources(), copyOfSources()];
    const page = await buildIn(first);
    expect(await buildIn(second)).toBe(page);
    expect(page).toBe(readFileSync(join(root, SHELL_HTML), "utf8"));
    expect(packagesIn(first)).toEqual([
      "node_modules/@modelcontextprotocol/client",
      "node_modules/@modelcontextprotocol/core",
      "node_modules/@modelcontextprotocol/ext-apps",
      "node_modules/zod",
    ]);
  });

  test.each([
    ["a source", "shell/src/stage.ts", true],
    ["the page", "shell/index.html", true],
    ["a style sheet", "shell/src/defaults.css", true],
    ["the build itself", "shell/build.ts", true],
    ["what stands in for its packages", "shell/stand-ins.ts", true],
    ["the shared file of the server", "server/view/protocol.ts", true],
    ["another file of the server", "server/view/payload.ts", false],
    ["the list of versions", "shell/versions.json", false],
    ["package.json", "package.json", false],
  ])("an edit of %s changes the source hash: %s, %s", (_, file, changes) => {
    const copy = copyOfSources();
    const packages = packagesIn(root);
    const before = shellSourceHash(copy, packages);
    writeFileSync(join(copy, file), `${readFileSync(join(copy, file), "utf8")}\n`);
    expect(shellSourceHash(copy, packages) !== before).toBe(changes);
  });

  test("an upgrade changes the source hash only when the package is inside", () => {
    const copy = copyOfSources();
    const packages = packagesIn(root);
    const before = shellSourceHash(copy, packages);
    const file = join(copy, "package-lock.json");
    const lock = JSON.parse(readFileSync(file, "utf8"));
    lock.packages["node_modules/vite"].version = "99.0.0";
    writeFileSync(file, JSON.stringify(lock));
    expect(shellSourceHash(copy, packages)).toBe(before);
    lock.packages["node_modules/zod"].integrity = "sha512-other";
    writeFileSync(file, JSON.stringify(lock));
    expect(shellSourceHash(copy, packages)).not.toBe(before);
  });
});

describe("what the page leaves out of its packages", () => {
  const ENTRY = `import { App } from "@modelcontextprotocol/ext-apps";
    import * as z from "zod/v4";
    export { App, z };`;

  /** Bundles an entry with the stand-ins; other plugins may stand before them. */
  async function bundle(entry: string, before: Plugin[] = []) {
    const copy = directory();
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    writeFileSync(join(copy, "package.json"), `{ "type": "module" }`);
    writeFileSync(join(copy, "entry.js"), entry);
    await build({
      root: copy,
      configFile: false,
      publicDir: false,
      logLevel: "silent",
      plugins: [...before, standIns()],
      ssr: { noExternal: true },
      build: { ssr: "entry.js", outDir: "out", minify: false },
    });
    return import(join(copy, "out/entry.js"));
  }

  test("refuses in words when it is asked for after all, and parses as before", async () => {
    const { z } = await bundle(ENTRY);
    const schema = z.object({ at: z.string().describe("a place") });
    expect(schema.parse({ at: "x", more: 1 })).toEqual({ at: "x" });
    const words = "This page converts no schema to JSON Schema.";
    expect(() => z.toJSONSchema(schema)).toThrow(words);
    expect(() => schema.toJSONSchema()).toThrow(words);
    expect(() => schema["~standard"].jsonSchema.input({ target: "draft-7" })).toThrow(words);
    expect(() => schema.description).toThrow(words);
    const { error } = schema.safeParse({ at: 7 });
    expect(error.issues).toMatchObject([{ path: ["at"], message: "invalid_type" }]);
  });

  test("fails the build by name when a module is not met", async () => {
    const entry = `export { z } from "zod/v4";`;
    await expect(bundle(entry)).rejects.toThrow(
      "the shell's stand-ins do not fit: the descriptions of @modelcontextprotocol/ext-apps, " +
        "the table of types of @modelcontextprotocol/client",
    );
    await expect(bundle("export default 1;")).rejects.toThrow("zod/v4/core/doc.js");
  });

  test("fails the build by name when a module is met but no longer as it was", async () => {
    const newer: Plugin = {
      name: "newer-zod",
      transform: (code, id) =>
        id.endsWith("/zod/v4/core/util.js")
          ? code.replaceAll("allowsEval", "mayCompile")
          : undefined,
    };
    await expect(bundle(ENTRY, [newer])).rejects.toThrow(
      "the shell's stand-ins do not fit: zod/v4/core/util.js",
    );
  });
});

describe("code that travels", () => {
  /** What importing a module as text gives, or the message of its refusal. */
  async function travelled(source: string): Promise<string> {
    const file = join(directory(), "guest.ts");
    writeFileSync(file, source);
    const plugin = travel();
    const load = plugin.load as (this: object, id: string) => Promise<string>;
    return load.call({ addWatchFile() {} }, `${file}?travel`).then(
      (code) => JSON.parse(code.slice("export default ".length, -1)) as string,
      (error: Error) => error.message,
    );
  }

  test("becomes one expression without types", async () => {
    const text = await travelled(
      `import type { A } from "./a.ts";\ninterface B { n: number }\n/** Doubles. */\nexport default function twice(b: B): number { return b.n * 2 }\n`,
    );
    expect(text).toMatch(/^function [\w$]*\(\w\)\{return \w\.n\*2\}$/);
  });

  test.each([
    ["imports a value", `import { a } from "./a.ts";\nexport default function f() { return a }`],
    ["closes over a constant", `const a = 1;\nexport default function f() { return a }`],
    ["exports no function", `export default 7;`],
    ["exports two things", `export const a = 1;\nexport default function f() {}`],
  ])("is refused when it %s", async (_, source) => {
    expect(await travelled(source)).toContain("one default-exported function");
  });

  test("cannot end the script element that it is put into", async () => {
    const text = await travelled(`export default function f() { return "</scr" + "ipt>" }`);
    expect(text).toContain("return");
    expect(text).not.toContain("</script");
    const comment = await travelled(`export default function f() { return /<!--/ }`);
    expect(comment).toContain("break out of a script element");
  });
});
