import { spawn } from "node:child_process";
import { createServer, type Server } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { post } from "../../verify/support/messages.ts";
import { BIN, commandFolder, CONNECTA } from "../support/command.ts";

const { folder, start, run } = commandFolder({
  "good.mjs": `import { api } from "${CONNECTA}";
    const wait = (_, { signal }) => new Promise((done) => setTimeout(() => done("waited"), 300));
    export default { connectors: [api({ id: "crm", tools: { wait: {
      description: "Wait.", inputSchema: { type: "object" }, annotations: { readOnlyHint: true }, handler: wait } } })] };`,
  "throws.mjs": `import { api } from "${CONNECTA}";
    export default { connectors: [api({ id: "crm", tools: { boom: {
      description: "Fail.", inputSchema: { type: "object" }, annotations: { readOnlyHint: true },
      handler() { throw new RangeError("token sk-123") } } } })], auth: undefined };`,
  "logs.mjs": `import good from "./good.mjs";
    export default { ...good, log: ({ message }) => console.error("told " + message) };`,
  "guarded.mjs": `import { api } from "${CONNECTA}";
    export default { connectors: [], auth: { bearer: "correct-horse-battery" } };`,
  "programs/01-hello.js": "// Hello — says hello\nasync () => 1",
  "broken.mjs": "export default {",
  "empty.mjs": "export const a = 1;",
  "elsewhere.mjs": `import { stdioMcp } from "connecta"; export default { connectors: [stdioMcp({})] };`,
  "mistake.mjs": "export default { connectors: [], execute: { cpuMs: -1 } };",
});

async function mistake(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(args);
  expect([code, stdout]).toEqual([1, ""]);
  const lines = stderr.trimEnd().split("\n");
  expect(lines).toHaveLength(1);
  return lines[0] ?? "";
}

const call = async (url: string, name: string, args: object) =>
  (await post(url, "tools/call", { name, arguments: args })).text;

describe("connecta serve", () => {
  test("prints exactly one line on stdout, answers, and exits 0 on SIGTERM", async () => {
    const started = start(["serve", "--config", "good.mjs", "--port", "0"]);
    const url = await started.listening();
    const health = await fetch(`${url}/health`);
    expect(await health.json()).toMatchObject({ status: "ok", name: "connecta" });
    expect((await fetch(`${url}/`)).status).toBe(404);
    expect(await call(url, "execute_code", { code: "return 41 + 1" })).toContain('"result":42');
    started.child.kill("SIGTERM");
    expect((await started.ended).code).toBe(0);
    expect(started.stdout()).toBe(`listening ${url}\n`);
    expect(started.stderr()).toBe("");
  });

  test("SIGINT lets a request in flight end before it exits 0", async () => {
    const started = start(["serve", "--config", "good.mjs", "--port", "0"]);
    const url = await started.listening();
    const pending = call(url, "call_tool", { address: "crm.wait" });
    await call(url, "call_tool", { address: "crm.nothing" });
    started.child.kill("SIGINT");
    expect(await pending).toContain("waited");
    expect((await started.ended).code).toBe(0);
  });

  test("a port in use is one line that names the way out", async () => {
    const blocker: Server = createServer();
    const port = await new Promise<number>((resolve) =>
      blocker.listen(0, "127.0.0.1", () => resolve((blocker.address() as { port: number }).port)),
    );
    try {
      const line = await mistake("serve", "--config", "good.mjs", "--port", String(port));
      expect(line).toContain(`Port ${port} is in use: choose another with --port or PORT.`);
    } finally {
      blocker.close();
    }
  });

  test.each([
    ["a missing config", ["--config", "none.mjs"], "none.mjs does not exist"],
    ["no config in the folder", [], "connecta.config.mjs does not exist"],
    ["a broken config", ["--config", "broken.mjs"], "broken.mjs:1 cannot be loaded: SyntaxError"],
    [
      "a config that takes from one entry what another has",
      ["--config", "elsewhere.mjs"],
      "What needs Node, such as stdioMcp and sqliteStorage, is in connecta/node.",
    ],
    ["a config without default export", ["--config", "empty.mjs"], "no default export"],
    ["a mistake in the config", ["--config", "mistake.mjs"], "execute.cpuMs is not usable"],
    [
      "an open address without auth",
      ["--config", "good.mjs", "--host", "0.0.0.0"],
      "set auth, such as { bearer }",
    ],
    [
      "a port that is none",
      ["--config", "good.mjs", "--port", "http"],
      "--port must be a port number",
    ],
    ["an unknown option", ["--colour"], "--colour"],
    ["a level that is none", ["--log-level", "loud"], "one of error, warn, info, debug"],
    ["a form of logs that is none", ["--log-format", "xml"], "one of text, json"],
  ])("%s is one line and exit code 1", async (_, args, text) => {
    expect(await mistake("serve", ...args)).toContain(text);
  });

  test("a fault of a handler is told to the operator by its place, never by its text", async () => {
    const started = start(["serve", "--config", "throws.mjs", "--port", "0"]);
    const answer = await call(await started.listening(), "call_tool", { address: "crm.boom" });
    expect(answer).toContain("failed unexpectedly (RangeError)");
    started.child.kill("SIGTERM");
    await started.ended;
    expect(started.stderr()).toContain("connecta: RangeError in crm.boom, request ");
    expect(started.stderr()).toContain("throws.mjs:");
    expect(answer + started.stderr()).not.toContain("sk-123");
  });

  test("--log-level info --log-format json tells of every call as one object a line", async () => {
    const flags = ["--log-level", "info", "--log-format", "json"];
    const started = start(["serve", "--config", "good.mjs", "--port", "0", ...flags]);
    await call(await started.listening(), "execute_code", {
      code: "return crm.wait({ told: 'sk-123' })",
    });
    started.child.kill("SIGTERM");
    await started.ended;
    const entries = started
      .stderr()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const [called, ...others] = entries;
    expect(called).toMatchObject({
      level: "info",
      message: "call",
      connector: "crm",
      tool: "wait",
    });
    expect(others.map(({ message }) => message)).toEqual(["run", "request"]);
    expect(new Set(entries.map(({ requestId }) => requestId)).size).toBe(1);
    expect(started.stderr()).not.toContain("sk-123");
  });

  test("a log function of the config hears the levels that the command line asks for", async () => {
    const args = ["serve", "--config", "logs.mjs", "--port", "0"];
    const started = start([...args, "--log-level", "info"]);
    await call(await started.listening(), "skills", {});
    await call(await started.listening(), "execute_code", { code: "return crm.wait()" });
    started.child.kill("SIGTERM");
    await started.ended;
    expect(started.stderr()).toBe("told request\ntold call\ntold run\ntold request\n");
    expect(await mistake(...args, "--log-format", "json")).toContain("log is a function");
  });

  test("--metrics answers a scrape", async () => {
    const started = start(["serve", "--config", "good.mjs", "--port", "0", "--metrics"]);
    const response = await fetch(`${await started.listening()}/metrics`);
    expect(await response.text()).toContain("# TYPE connecta_calls_total counter");
  });

  test("--version prints the version", async () => {
    const started = start(["--version"]);
    expect((await started.ended).code).toBe(0);
    expect(started.stdout()).toBe("0.1.0\n");
  });

  test("an unknown command is one line", async () => {
    expect(await mistake("sreve")).toContain("connecta has no command sreve");
  });

  test("no command at all is one line too, which names some", async () => {
    expect(await mistake()).toContain("connecta serve, or connecta dev");
  });
});

describe("connecta dev", () => {
  test("offers the programs beside the config, without auth, and says so", async () => {
    const started = start(["dev", "--config", "guarded.mjs", "--port", "0"]);
    const url = await started.listening();
    const programs = await (await fetch(`${url}/host/programs.json`)).text();
    expect(programs).toContain('"title":"Hello"');
    expect(await call(url, "execute_code", { code: "return 1" })).toContain('"result":1');
    expect((await fetch(`${url}/`)).headers.get("content-type")).toContain("text/html");
    started.child.kill("SIGTERM");
    expect((await started.ended).code).toBe(0);
    expect(started.stderr()).toContain("dev leaves auth out");
  });

  test("ends when the script runner that started it is gone", async () => {
    const script = `"${process.execPath}" "${BIN}" dev --config good.mjs --port 0; true`;
    const child = spawn("sh", ["-c", script], {
      cwd: folder,
      env: { ...process.env, npm_lifecycle_event: "start" },
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const url = await new Promise<string>((resolve) => {
      child.stdout.on("data", (data: Buffer) => {
        const line = /^listening (\S+)$/m.exec(String(data));
        if (line?.[1]) resolve(line[1]);
      });
    });
    const closed = new Promise((resolve) => child.stdout.on("close", resolve));
    child.kill("SIGKILL");
    await closed;
    await expect(fetch(`${url}/health`)).rejects.toThrow();
  });
});
