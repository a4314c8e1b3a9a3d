import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { commandFolder } from "../support/command.ts";

const { folder, write, run, start } = commandFolder();
const FILES = [
  ".dockerignore",
  ".env.example",
  ".gitignore",
  "Dockerfile",
  "README.md",
  "connecta.config.mjs",
  "package.json",
];

/** Serves a folder until the test ends, and answers where. */
async function serve(cwd: string, env: Readonly<Record<string, string>> = {}) {
  const started = start(["serve", "--port", "0"], { cwd, env });
  const [, url = ""] = await started.said(/listening (\S+)\n/);
  return { started, url };
}

describe("connecta init", { timeout: 30_000 }, () => {
  test("writes a deployment that starts, without an install as well", async () => {
    const made = await run(["init", "fresh"]);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(made.stdout).toContain("Next: cd fresh && npm install && npx connecta dev\n");
    const cwd = join(folder, "fresh");
    expect(readdirSync(cwd).sort()).toEqual(FILES);
    // The package has no name on the registry yet: an install must not fetch what has it there.
    const { dependencies } = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8")) as {
      dependencies: { connecta: string };
    };
    const copy = dependencies.connecta.replace(/^file:/, "");
    expect(readFileSync(join(copy, "package.json"), "utf8")).toContain('"name": "connecta"');
    const { started, url } = await serve(cwd);
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ name: "my-connecta" });
    started.child.kill("SIGTERM");
    expect(await started.ended).toMatchObject({ code: 0, stderr: "" });
    const called = await run(["call", "clock.now", '{"timeZone":"Asia/Tokyo"}'], { cwd });
    expect(JSON.parse(called.stdout)).toMatchObject({ timeZone: "Asia/Tokyo" });
  });

  test.each(["connecta/node", "connecta/sandbox"])(
    "a config may name %s without an install",
    async (entry) => {
      write("named.mjs", `import "${entry}"; export default { connectors: [] };`);
      expect(await run(["tools", "--config", "named.mjs"])).toMatchObject({ code: 0, stderr: "" });
    },
  );

  test("what it wrote starts with the package installed in its folder", async () => {
    const cwd = join(folder, "installed");
    await run(["init", "installed"]);
    mkdirSync(join(cwd, "node_modules"));
    const root = fileURLToPath(new URL("../..", import.meta.url));
    symlinkSync(root, join(cwd, "node_modules/connecta"));
    const { url } = await serve(cwd);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  test("its image has a folder for a store that the server's user may write", async () => {
    expect((await run(["init", "image"])).code).toBe(0);
    const lines = readFileSync(join(folder, "image", "Dockerfile"), "utf8").split("\n");
    const made = lines.indexOf("RUN mkdir -p data && chown node data");
    expect(made).toBeGreaterThan(lines.indexOf("COPY . ."));
    expect(made).toBeLessThan(lines.indexOf("USER node"));
  });

  test("the token of a .env file is what its callers need", async () => {
    const cwd = join(folder, "guarded");
    await run(["init", "guarded"]);
    const example = readFileSync(join(cwd, ".env.example"), "utf8");
    const token = "correct-horse-battery-staple";
    writeFileSync(join(cwd, ".env"), example.replace("CONNECTA_TOKEN=", `CONNECTA_TOKEN=${token}`));
    const { url } = await serve(cwd, { CONNECTA_VAULT_KEY: "" });
    const post = (headers: Record<string, string>) =>
      fetch(`${url}/mcp`, { method: "POST", headers, body: "{}" }).then(({ status }) => status);
    expect(await post({})).toBe(401);
    expect(await post({ authorization: `Bearer ${token}` })).not.toBe(401);
  });

  test("overwrites nothing: one line, exit code 1, and no other file is written", async () => {
    const cwd = join(folder, "used");
    mkdirSync(cwd);
    writeFileSync(join(cwd, "README.md"), "mine");
    const { code, stdout, stderr } = await run(["init"], { cwd });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe("connecta: README.md would be overwritten: choose an empty folder.\n");
    expect(readFileSync(join(cwd, "README.md"), "utf8")).toBe("mine");
    expect(existsSync(join(cwd, "connecta.config.mjs"))).toBe(false);
  });
});
