import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { isAlive, SERVER } from "./started.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "connecta-orphans-"));

/** A server of ours as small as can be: one connector, closed on SIGTERM. */
const MAIN = `
import { stdioMcp } from "./stdio.js";
const how = JSON.stringify({ ignoresEnd: true });
const times = { closeMs: 20, termMs: 20 };
const crm = stdioMcp({ id: "crm", command: process.execPath, args: [${JSON.stringify(SERVER)}, how] }, times);
const scope = { signal: new AbortController().signal, now: Date.now, defer() {}, report() {} };
const { value } = await crm.callTool("family", {}, scope);
process.on("SIGTERM", () => crm.close().then(() => process.exit(0)));
console.log(value.content[0].text);
setInterval(() => undefined, 1000);
`;

beforeAll(async () => {
  await build({
    root,
    configFile: false,
    logLevel: "silent",
    ssr: { noExternal: true },
    build: {
      ssr: join(root, "server/connectors/stdio/stdio.ts"),
      outDir: dir,
      minify: false,
      target: "node20",
    },
  });
  writeFileSync(join(dir, "package.json"), '{"type":"module"}');
  writeFileSync(join(dir, "main.js"), MAIN);
}, 60_000);

/** A running server of ours, and the processes that its connector started. */
async function running(): Promise<{ server: ChildProcess; family: readonly number[] }> {
  const server = spawn(process.execPath, [join(dir, "main.js")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const family = await new Promise<readonly number[]>((resolve, reject) => {
    server.stdout.once("data", (text) => resolve(JSON.parse(String(text)) as number[]));
    server.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  onTestFinished(() => {
    server.kill("SIGKILL");
    for (const pid of family.filter(isAlive)) process.kill(pid, "SIGKILL");
  });
  return { server, family };
}

describe.skipIf(process.platform === "win32")("no process is left behind", () => {
  test("by a server that is asked to end", async () => {
    const { server, family } = await running();
    expect(family.map(isAlive)).toEqual([true, true]);
    server.kill("SIGTERM");
    await expect.poll(() => family.map(isAlive), { timeout: 10_000 }).toEqual([false, false]);
  });

  test("by a server that is killed", async () => {
    const { server, family } = await running();
    expect(family.map(isAlive)).toEqual([true, true]);
    server.kill("SIGKILL");
    await expect.poll(() => family.map(isAlive), { timeout: 10_000 }).toEqual([false, false]);
  });

  test("control: without a watch over them, they outlive a server that is killed", async () => {
    const script = `
      const { spawn } = require("node:child_process");
      const child = spawn(process.execPath, [${JSON.stringify(SERVER)}, '{"ignoresEnd":true}'], { stdio: ["pipe", "pipe", "inherit"], detached: true });
      child.stdout.once("data", () => console.log(child.pid));
      child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\\n');`;
    const server = spawn(process.execPath, ["-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const pid = await new Promise<number>((resolve) => {
      server.stdout.once("data", (text) => resolve(Number(text)));
    });
    const ended = new Promise((resolve) => {
      server.once("exit", resolve);
    });
    server.kill("SIGKILL");
    await ended;
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, "SIGKILL");
  });
});
