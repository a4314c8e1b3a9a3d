import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Clone } from "./clone.ts";

let clone: Clone;
beforeEach(() => {
  clone = new Clone();
});
afterEach(() => clone.remove());

const LOCK_OF_NOTHING = { name: "clone", lockfileVersion: 3, packages: { "": { name: "clone" } } };
const ENSURE = ["scripts/ensure.mjs"];
const builds = () => {
  const log = join(clone.root, "builds.log");
  return existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n").length : 0;
};

describe("ensure", { timeout: 60_000 }, () => {
  test("a fresh clone is installed and built, with progress on stderr and a clean stdout", async () => {
    const first = await clone.run(ENSURE);
    expect(first).toMatchObject({ code: 0, stdout: "" });
    expect(first.stderr).toContain("installing packages");
    expect(first.stderr).toContain("building the shell");
    expect(existsSync(join(clone.root, "node_modules/tool/package.json"))).toBe(true);
    expect(builds()).toBe(1);
  });

  test("a second run does nothing and says nothing", async () => {
    await clone.run(ENSURE);
    expect(await clone.run(ENSURE)).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(builds()).toBe(1);
  });

  test("a production environment and npm's own settings do not reach the nested install", async () => {
    const { code } = await clone.run(ENSURE, {
      NODE_ENV: "production",
      npm_config_omit: "dev",
      npm_config_production: "true",
      npm_config_dry_run: "true",
      npm_config_global: "true",
    });
    expect(code).toBe(0);
    expect(existsSync(join(clone.root, "node_modules/tool/package.json"))).toBe(true);
    expect(readFileSync(join(clone.root, "builds.log"), "utf8")).toContain("NODE_ENV=undefined");
  });

  test("a changed source is built again without another install", async () => {
    await clone.run(ENSURE);
    clone.write("server/index.ts", "export const changed = true;\n");
    const { stderr } = await clone.run(ENSURE);
    expect(stderr).not.toContain("installing");
    expect(stderr).toContain("building");
    expect(builds()).toBe(2);
  });

  test("a lock file that asks for more than is installed is installed again", async () => {
    await clone.run(ENSURE);
    const lock: unknown = JSON.parse(readFileSync(join(clone.root, "package-lock.json"), "utf8"));
    const text = JSON.stringify(lock).replace('"version":"1.0.0","dev":true', '"version":"1.0.1"');
    clone.write("package-lock.json", text);
    clone.write("tool/package.json", JSON.stringify({ name: "tool", version: "1.0.1" }));
    expect((await clone.run(ENSURE)).stderr).toContain("installing packages");
  });

  test("an install that somebody else made, complete, is taken as it is", async () => {
    await clone.run(ENSURE);
    const lock = readFileSync(join(clone.root, "package-lock.json"), "utf8");
    clone.write("package-lock.json", `${lock}\n`);
    expect((await clone.run(ENSURE)).stderr).not.toContain("installing packages");
  });

  test("a failed install ends with one clear line below npm's own words", async () => {
    clone.write("package-lock.json", JSON.stringify(LOCK_OF_NOTHING));
    const { code, stdout, stderr } = await clone.run(ENSURE);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/^connecta: npm ci failed: /);
    expect(stderr).toContain("Missing: tool@1.0.0");
    expect(builds()).toBe(0);
  });

  test("a failed build shows its output, ends with one clear line, and is tried again", async () => {
    clone.write("server/broken.ts", "export {");
    const { code, stdout, stderr } = await clone.run(ENSURE);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("server/broken.ts: does not parse");
    expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/^connecta: the build failed: /);
    expect((await clone.run(ENSURE)).code).toBe(1);
    expect(builds()).toBe(2);
  });

  test("two at once install and build once", async () => {
    const both = await Promise.all([clone.run(ENSURE), clone.run(ENSURE)]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    const said = both.map(({ stderr }) => stderr).join("");
    expect(said.match(/installing packages \(npm ci\) …/g)).toHaveLength(1);
    expect(builds()).toBe(1);
  });

  test("a set-up that was killed in the middle does not block the next one", async () => {
    clone.write("server/killer.ts", "export {};\n");
    expect((await clone.run(ENSURE)).code).toBe(null);
    rmSync(join(clone.root, "server/killer.ts"));
    expect(await clone.run(ENSURE)).toMatchObject({ code: 0 });
  });

  test("a Chromium that CHROMIUM_PATH names wrongly is one clear line", async () => {
    const { code, stderr } = await clone.run([...ENSURE, "--browser"], {
      CHROMIUM_PATH: join(clone.root, "no-such-browser"),
    });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toContain("CHROMIUM_PATH names no program");
  });

  test("an unknown option is refused by name", async () => {
    const { code, stderr } = await clone.run([...ENSURE, "--browsr"]);
    expect(code).toBe(1);
    expect(stderr).toContain("--browsr");
  });
});

describe("connecta", () => {
  test("a clone without a build gets one line that names the command", async () => {
    const { code, stdout, stderr } = await clone.run(["scripts/connecta.mjs", "dev"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe("connecta is not built: run `npm run build` first.\n");
  });

  test("a built clone runs its command line with the same arguments", async () => {
    clone.write("dist/server/cli.js", "console.log(process.argv.slice(2).join(' '));");
    clone.write("package.json", JSON.stringify({ type: "module" }));
    const { code, stdout } = await clone.run(["scripts/connecta.mjs", "dev", "--port", "0"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "dev --port 0\n" });
  });
});
