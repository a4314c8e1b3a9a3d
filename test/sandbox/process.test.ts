import { spawn, type SpawnOptions } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { quickjsExecutor } from "../../server/sandbox/pool.ts";
import { descriptors, exists, report, startPool, waitingRun } from "./support.ts";

vi.setConfig({ testTimeout: 60_000 });

const root = fileURLToPath(new URL("../..", import.meta.url));
const linux = process.platform === "linux";

/** Starts a program of its own that uses the built executor; its first line is a process id. */
async function startProgram(body: string, more: ("ignore" | number)[] = []) {
  const source = `import { quickjsExecutor } from "connecta/node";
    const pool = quickjsExecutor({ processes: 1 });
    await pool.ready();
    console.log(pool.pids[0]);
    ${body}`;
  const options: SpawnOptions = { cwd: root, stdio: ["ignore", "pipe", "inherit", ...more] };
  const program = spawn(process.execPath, ["--input-type=module", "-e", source], options);
  onTestFinished(() => void program.kill());
  if (program.stdout === null) throw new Error("no output");
  const lines = createInterface(program.stdout)[Symbol.asyncIterator]();
  return { program, lines, sandbox: Number((await lines.next()).value) };
}

describe.runIf(linux)("X3: a sandbox process", () => {
  it("has an empty environment", async () => {
    const pool = await startPool(1);
    expect(readFileSync(`/proc/${pool.pids[0]}/environ`, "utf8")).toBe("");
  });

  it("would have the server's environment as an ordinary child: the control", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child, "spawn");
    expect(readFileSync(`/proc/${child.pid}/environ`, "utf8")).toContain("PATH=");
  });

  it("has the null device, one socket, and what its own event loop made", async () => {
    const pool = await startPool(1);
    const found = descriptors(pool.pids[0] ?? 0);
    expect([0, 1, 2].map((fd) => found.get(fd))).toEqual(Array(3).fill("/dev/null"));
    expect(found.get(3)).toMatch(/^socket:/);
    const others = [...found].filter(([fd]) => fd > 3).map(([, target]) => target);
    const own = /^(anon_inode:\[(eventpoll|eventfd|io_uring)\]|pipe:\[\d+\]|\/dev\/null)$/;
    expect(others.filter((target) => !own.test(target))).toEqual([]);
  });

  it("shares no pipe and no socket with the server", async () => {
    const pool = await startPool(1);
    const server = new Set(descriptors("self").values());
    const shared = [...descriptors(pool.pids[0] ?? 0).values()].filter((target) =>
      server.has(target),
    );
    expect(shared.filter((target) => /^(pipe|socket):/.test(target))).toEqual([]);
  });

  it("gets nothing of what the server itself was given, which other children do", async () => {
    const file = openSync(fileURLToPath(import.meta.url), "r");
    onTestFinished(() => closeSync(file));
    const more = Array.from({ length: 38 }, (_, at) => (at === 37 ? file : "ignore"));
    const { sandbox, lines } = await startProgram(
      `const { spawn } = await import("node:child_process");
       const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
       console.log(child.pid);
       process.on("SIGTERM", () => { child.kill("SIGKILL"); process.exit(); });`,
      more,
    );
    const other = Number((await lines.next()).value);
    expect(descriptors(other).get(40)).toMatch(/process\.test\.ts$/);
    expect(descriptors(sandbox).get(40)).toBe("/dev/null");
  });

  it("may read nothing but its own program", async () => {
    const pool = await startPool(1);
    const command = readFileSync(`/proc/${pool.pids[0]}/cmdline`, "utf8").split("\0");
    expect(command.filter((part) => /^--(experimental-)?permission$/.test(part))).toHaveLength(1);
    expect(command.filter((part) => part.startsWith("--allow-"))).toEqual([
      `--allow-fs-read=${root}dist/server/*`,
    ]);
  });

  it("takes turns with others of its kind: no run lives in the server", async () => {
    const pool = await startPool(2);
    expect(pool.pids).toHaveLength(2);
    expect(pool.pids).not.toContain(process.pid);
  });
});

describe("closing", () => {
  it("ends every process and every run, and refuses later ones", async () => {
    const pool = await startPool(2);
    const pids = pool.pids;
    const run = waitingRun(pool);
    await run.waits;
    await pool.close();
    expect(pids.filter(exists)).toEqual([]);
    expect((await run.report).failures).toMatchObject([{ code: "executor_closed" }]);
    const later = await report(pool, "async () => 1");
    expect(later.failures).toMatchObject([{ code: "executor_closed", retryable: false }]);
    await pool.close();
  });

  it("before the first process is ready leaves nothing, and fails what waited", async () => {
    const pool = quickjsExecutor({ processes: 1 });
    const ready = pool.ready();
    const run = report(pool, "async () => 1");
    await pool.close();
    await expect(ready).rejects.toThrow("The server is shutting down.");
    await expect(pool.ready()).rejects.toThrow("closed");
    expect((await run).failures).toMatchObject([{ code: "executor_closed" }]);
    expect(pool.pids).toEqual([]);
  });

  it("leaves no handle, no timer and no listener", async () => {
    const { lines } = await startProgram(`
      const open = () => process.getActiveResourcesInfo();
      const before = open();
      const listeners = process.listenerCount("exit");
      const turn = () => new Promise((resolve) => setImmediate(resolve));
      const providers = [{ name: "host", fns: { open: async () => open() } }];
      const run = () => pool.execute("() => host.open()", providers);
      const [{ result }] = await Promise.all(Array.from({ length: 50 }, run));
      await pool.close();
      for (let turns = 0; turns < 1000 && open().length > before.length; turns++) await turn();
      const removed = listeners - process.listenerCount("exit");
      console.log(JSON.stringify({ before, during: result, left: open(), removed }));`);
    const found = JSON.parse(String((await lines.next()).value)) as Record<string, string[]>;
    expect(found.during?.length).toBeGreaterThan(found.before?.length ?? 0);
    expect(found.left).toEqual(found.before);
    expect(found.removed).toBe(1);
  });
});

describe("an executor", () => {
  it("keeps no program alive, and its processes end with the program", async () => {
    const { program, sandbox } = await startProgram("await pool.execute('async () => 1', []);");
    const [code] = (await once(program, "exit")) as [number];
    expect(code).toBe(0);
    await vi.waitFor(() => expect(exists(sandbox)).toBe(false), 10_000);
  });

  it("keeps a program alive while a run waits", async () => {
    const { program } = await startProgram(`
      const wait = () => new Promise((resolve) => setTimeout(resolve, 50, "waited").unref());
      const { result } = await pool.execute("() => host.wait()", [{ name: "host", fns: { wait } }]);
      process.exitCode = result === "waited" ? 7 : 1;`);
    expect(await once(program, "exit")).toEqual([7, null]);
  });

  it("that is killed leaves no process behind", async () => {
    const { program, sandbox } = await startProgram("setInterval(() => {}, 1000);");
    expect(exists(sandbox)).toBe(true);
    program.kill("SIGKILL");
    await vi.waitFor(() => expect(exists(sandbox)).toBe(false), 10_000);
  });

  it("says what to do when the sandbox process is not built", () => {
    const entry = `${root}dist/server/no-such-file.js`;
    expect(() => quickjsExecutor({ entry })).toThrow(/does not exist: run `npm run build` first/);
  });

  it("refuses a number of processes that is none", () => {
    for (const processes of [0, -1, 1.5, Number.NaN]) {
      expect(() => quickjsExecutor({ processes })).toThrow(/`processes` must be a whole number/);
    }
  });

  it("whose process does not start tells those who wait", async () => {
    const pool = quickjsExecutor({ processes: 1, entry: `${root}package.json` });
    onTestFinished(() => pool.close());
    const ready = pool.ready();
    const run = report(pool, "async () => 1");
    await expect(ready).rejects.toThrow(/does not start/);
    expect((await run).failures).toMatchObject([{ code: "executor_crashed" }]);
  });
});
