import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { stdioMcp, type StdioMcpOptions } from "../../../server/connectors/stdio/stdio.ts";
import { testScope } from "../../support/scope.ts";
import { call, started, stopAll } from "./started.ts";

afterEach(stopAll);

const scope = testScope();
const marker = () => join(mkdtempSync(join(tmpdir(), "connecta-")), "here");

describe("both generations over stdio", () => {
  test.each([
    ["older, which says that it does not know the question", {}],
    ["newer", { era: "modern" }],
    ["older, which ends at a question that it does not know", { era: "dies" }],
    [
      "newer, which refuses the older handshake in a process that was asked first",
      { era: "fixed" },
    ],
  ])("%s", async (_, how) => {
    const crm = started({ how: { ...how, marker: marker() } });
    expect(await crm.listTools(scope)).toMatchObject({ ok: true });
    expect(await call(crm, "echo", { a: 1 })).toEqual({ a: 1 });
  });

  test("an older server that is silent about the question is initialized in the same process", async () => {
    const crm = started({ how: { era: "silent" }, times: { handshakeMs: 4_000 } });
    expect(await call(crm, "echo", { a: 1 })).toEqual({ a: 1 });
  });
});

describe("what servers do besides answering", () => {
  const NOISE = ["Server running", "[1,2]", '{"level":"info"}', "{broken", "", '"text"'];

  test("log lines and JSON that is no message are kept for the operator and harm nobody", async () => {
    const crm = started({ how: { noise: NOISE, stderr: "a warning\n" } });
    expect(await call(crm, "echo", { a: 1 })).toEqual({ a: 1 });
    const output = crm.errorOutput?.() ?? "";
    for (const line of ["Server running", "[1,2]", '{"level":"info"}', "{broken", "a warning"]) {
      expect(output).toContain(line);
    }
  });

  test("of much error output the end is kept", async () => {
    const crm = started({ how: { stderr: `${"x".repeat(20_000)} the end` } });
    await crm.listTools(scope);
    expect(crm.errorOutput?.()).toHaveLength(8_192);
    expect(crm.errorOutput?.()).toMatch(/the end$/);
  });

  test("requests of the server are answered with -32601, its foreign notifications are not", async () => {
    const crm = started({ how: { foreign: true } });
    await crm.listTools(scope);
    const error = { code: -32_601, message: "Method not found" };
    expect(await call(crm, "answers")).toEqual([
      { jsonrpc: "2.0", id: "l1", error },
      { jsonrpc: "2.0", id: "r1", error },
    ]);
  });

  test("a line of twelve million bytes is an answer like any other", async () => {
    const crm = started();
    const answer = await crm.callTool("big", { bytes: 12_000_000 }, scope);
    expect(answer.ok && JSON.stringify(answer.value).length).toBeGreaterThan(12_000_000);
  });

  test("a line longer than the bound fails its call at once and no other", async () => {
    const crm = started({ options: { maxResponseBytes: 100_000 } });
    const [big, small] = await Promise.all([
      crm.callTool("big", { bytes: 200_000 }, scope),
      call(crm, "echo", { a: 1 }),
    ]);
    expect(big).toMatchObject({ failure: { code: "result_too_large", maxBytes: 100_000 } });
    expect(small).toEqual({ a: 1 });
    expect(await call(crm, "big", { bytes: 5 }).catch(() => "text")).toBe("text");
  });

  test.each(["legacy", "modern"])("a change of tools reaches whoever listens (%s)", async (era) => {
    const crm = started({ how: { era } });
    const changed = new Promise<void>((resolve) => {
      crm.onToolsChanged?.(resolve);
    });
    expect(await call(crm, "change")).toBe("changed");
    await changed;
  });

  test("tools/list may fail after a good handshake, and says why", async () => {
    const crm = started({ how: { listFails: "fetch failed" } });
    expect(await crm.listTools(scope)).toMatchObject({
      failure: {
        code: "connector_call_failed",
        message: "tools/list was answered with an error: fetch failed",
      },
    });
    expect(await call(crm, "echo", { a: 1 })).toEqual({ a: 1 });
  });

  test("one bad tool does not sink a catalog", async () => {
    const tools = [{ name: "a" }, { name: "a" }, 7, { name: "b", inputSchema: 5 }];
    for (const era of ["legacy", "modern"]) {
      const crm = started({ how: { era, tools } });
      const listed = await crm.listTools(scope);
      expect(listed.ok && listed.value.map(({ name }) => name)).toEqual(["a", "b"]);
      expect(crm.setAside?.()).toHaveLength(2);
    }
  });
});

describe("cancellation", () => {
  test.each(["legacy", "modern"])("is forwarded, and the process lives on (%s)", async (era) => {
    const crm = started({ how: { era } });
    const first = await call(crm, "pid");
    const caller = new AbortController();
    const given = crm.callTool("hang", {}, testScope({ signal: caller.signal }));
    // Answered when the server hears of the cancellation.
    const heard = call(crm, "late");
    // A process reads its lines in order: with this answer the others have arrived.
    await call(crm, "echo");
    caller.abort();
    expect(await given).toMatchObject({ failure: { code: "cancelled" } });
    expect(await heard).toHaveLength(1);
    expect(await call(crm, "pid")).toBe(first);
  });

  test("timeoutMs ends a call that its caller would wait for longer", async () => {
    const crm = started({ options: { timeoutMs: 3_000 } });
    await crm.listTools(scope);
    expect(await call(crm, "hang")).toBe("timeout");
  });
});

describe("the environment of the process", () => {
  test("is PATH, HOME and what the config names", async () => {
    process.env.CONNECTA_TEST_SECRET = "not for children";
    const crm = started({ options: { env: { API_KEY: "key-abcdefgh" } } });
    const env = (await call(crm, "env")) as Record<string, string>;
    delete process.env.CONNECTA_TEST_SECRET;
    expect(Object.keys(env).toSorted()).toEqual(["API_KEY", "HOME", "PATH"]);
    expect(env).toMatchObject({ API_KEY: "key-abcdefgh", PATH: process.env.PATH });
  });

  test("control: without its own environment a child would find ours", async () => {
    const { spawnSync } = await import("node:child_process");
    const env = { ...process.env, CONNECTA_TEST_SECRET: "not for children" };
    const { stdout } = spawnSync(process.execPath, ["-p", "Object.keys(process.env)"], { env });
    expect(String(stdout)).toContain("CONNECTA_TEST_SECRET");
  });

  test("E4: its values reach neither errors nor the operator's view of the output", async () => {
    const how = { listFails: "bad key-abcdefgh", stderr: "using key-abcdefgh\n" };
    const crm = started({ how, options: { env: { API_KEY: "key-abcdefgh" } } });
    expect(JSON.stringify(await crm.listTools(scope))).not.toContain("key-abcdefgh");
    expect(crm.errorOutput?.()).toBe("using [redacted]\n");
  });
});

describe("G7: options that cannot be used are refused at construction", () => {
  test.each<[string, Partial<Record<keyof StdioMcpOptions, unknown>>]>([
    ["stdioMcp() needs an object with an id", { id: 7 }],
    ["stdioMcp(crm).command is missing", { command: "" }],
    ["stdioMcp(crm).args must be a list of texts", { args: "-y" }],
    ["stdioMcp(crm).args must be a list of texts", { args: ["a\0b"] }],
    ["stdioMcp(crm).env must be an object of texts", { env: [] }],
    ["stdioMcp(crm).env.KEY is no text", { env: { KEY: 7 } }],
    ["stdioMcp(crm).cwd is no path", { cwd: 7 }],
    ["stdioMcp(crm).idleMs must be a whole number", { idleMs: -1 }],
    ["stdioMcp(crm).startTimeoutMs must be a whole number", { startTimeoutMs: "1" }],
  ])("%s", (message, options) => {
    const all = { id: "crm", command: "node", ...options } as never;
    expect(() => stdioMcp(all)).toThrow(message);
  });
});
