import { execFile, spawn } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { builtinModules } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "./support/chromium.ts";

const run = promisify(execFile);
const READY = /^listening (http:\/\/\S+)$/m;
const dockerfile = readFileSync(`${ROOT}Dockerfile`, "utf8").replace(/\\\n\s*/g, "");
const lines = (name: string) =>
  [...dockerfile.matchAll(new RegExp(`^${name} (.+)$`, "gm"))].map(([, rest = ""]) => rest);

const app = mkdtempSync(join(tmpdir(), "connecta-container-"));
let origin: string;
let stop = (): Promise<void> => Promise.resolve();

/** What the last stage holds, laid out in a folder; the packages of production are lent. */
beforeAll(async () => {
  const last = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));
  for (const [, taken = "", target = ""] of last.matchAll(
    /^COPY (?:--from=\w+ \/app\/)?(\S+) (\S+)$/gm,
  )) {
    const to = join(app, target === "./" ? taken : target);
    if (taken === "node_modules") symlinkSync(`${ROOT}node_modules`, to);
    else cpSync(`${ROOT}${taken}`, to, { recursive: true });
  }
  const deployment = join(app, "deployment");
  mkdirSync(deployment);
  cpSync(`${ROOT}examples/worker/connecta.config.mjs`, join(deployment, "connecta.config.mjs"));
  const token = "sixteen-characters-of-secret";
  writeFileSync(
    join(deployment, "mine.config.mjs"),
    `import config from "./connecta.config.mjs";\nexport default { ...config, auth: { bearer: ${JSON.stringify(token)} } };\n`,
  );
  const [, ...command] = JSON.parse(lines("ENTRYPOINT")[0] ?? "") as string[];
  const args = [...command, "--config", "mine.config.mjs", "--port", "0"];
  const child = spawn(
    process.execPath,
    args.map((part) => part.replace(/^\/app\//, `${app}/`)),
    {
      cwd: deployment,
      env: { NODE_ENV: "production" },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const ended = new Promise((resolve) => child.once("exit", resolve));
  stop = async () => {
    child.kill("SIGTERM");
    const code = await ended;
    if (code !== 0) throw new Error(`the server ended with ${String(code)}`);
  };
  let printed = "";
  origin = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      printed += chunk;
      const url = READY.exec(printed)?.[1];
      if (url !== undefined) resolve(url.replace("0.0.0.0", "127.0.0.1"));
    });
    void ended.then((code) => reject(new Error(`the server ended with ${String(code)}`)));
  });
});

afterAll(async () => {
  await stop();
  rmSync(app, { recursive: true, force: true });
});

test("the files of the image are enough to serve a deployment that imports the package", async () => {
  const answer = await fetch(`${origin}/health`);
  expect(await answer.json()).toMatchObject({ status: "ok", name: "connecta stock" });
  expect((await fetch(`${origin}/mcp`, { method: "POST" })).status).toBe(401);
});

test("the check of its health succeeds while it answers, and fails where nobody does", async () => {
  const [, ...check] = JSON.parse(
    /CMD (\[.*\])$/.exec(lines("HEALTHCHECK")[0] ?? "")?.[1] ?? "",
  ) as string[];
  const at = (port: string) => run(process.execPath, check, { env: { PORT: port } });
  await expect(at(new URL(origin).port)).resolves.toBeDefined();
  await expect(at("1")).rejects.toMatchObject({ code: 1 });
});

test("the packages that the server imports are those that production installs", () => {
  const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as {
    name: string;
    dependencies: Record<string, string>;
    optionalDependencies: Record<string, string>;
  };
  const { name: own, dependencies, optionalDependencies } = manifest;
  const installed = [own, ...Object.keys({ ...dependencies, ...optionalDependencies })];
  const files = ["index.js", "node.js", "cli.js"].map((name) => `${ROOT}dist/server/${name}`);
  const seen = new Set<string>();
  const packages = new Set<string>();
  for (let file = files.pop(); file !== undefined; file = files.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    // Comments of packages that are built in name types of theirs.
    const text = readFileSync(file, "utf8").replace(/^\s*\*.*$/gm, "");
    for (const [, specifier = ""] of text.matchAll(/(?:from |import\(|^import )"([^"]+)"/gm)) {
      if (specifier.startsWith(".")) files.push(join(file, "..", specifier));
      else packages.add(/^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier);
    }
  }
  const builtin = (name: string) => name.startsWith("node:") || builtinModules.includes(name);
  const needed = [...packages].filter((name) => !builtin(name));
  expect(needed).toContain("hono");
  expect(needed.filter((name) => !installed.includes(name))).toEqual([]);
});
