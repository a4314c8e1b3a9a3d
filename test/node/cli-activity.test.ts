import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import type { ActivityEvent } from "../../server/index.ts";
import { commandFolder, CONNECTA, CONNECTA_NODE } from "../support/command.ts";
import { callTool } from "../support/gateway.ts";

vi.setConfig({ testTimeout: 60_000 });

const { folder, write, start, run } = commandFolder();
const path = (name: string) => join(folder, name);

/** A deployment of two connectors and an option. */
function config(option: string): string {
  return `import { api, memoryActivity, storageActivity } from "${CONNECTA}";
    import { fileActivity, sqliteStorage } from "${CONNECTA_NODE}";
    const tools = { read: { description: "Read.", inputSchema: { type: "object" },
      annotations: { readOnlyHint: true }, handler: ({ fail }) => { if (fail) throw new Error("x"); return 1 } } };
    export default { log: () => {}, connectors: [api({ id: "crm", tools }), api({ id: "desk", tools })],
      ${option} };`;
}

write("kept.mjs", config(`activity: fileActivity({ file: ${JSON.stringify(path("a.jsonl"))} })`));
write(
  "stored.mjs",
  config(`activity: storageActivity({ flushMs: 1,
      storage: sqliteStorage({ file: ${JSON.stringify(path("a.db"))} }) })`),
);
write("volatile.mjs", config(""));
write("bounded.mjs", config("activity: memoryActivity({ events: 5 })"));
write("none.mjs", config("activity: false"));
write("spoilt.mjs", config(`activity: fileActivity({ file: ${JSON.stringify(folder)} })`));

/** A running server, called as clients call it. */
async function serve(name: string) {
  const server = start(["serve", "--config", name, "--port", "0"]);
  const url = await server.listening();
  const connecta = {
    fetch: async (request: Request) => {
      const headers = new Headers(request.headers);
      headers.delete("host");
      return fetch(`${url}/mcp`, { method: "POST", headers, body: await request.text() });
    },
  };
  const call = (address: string, args = {}) => callTool(connecta, "call_tool", { address, args });
  const execute = (code: string) => callTool(connecta, "execute_code", { code });
  return { ...server, call, execute };
}

async function activity(...args: string[]): Promise<string> {
  const { stdout, ...rest } = await run(["activity", ...args]);
  expect(rest).toEqual({ code: 0, stderr: "" });
  return stdout;
}

const events = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as ActivityEvent);

describe("connecta activity", () => {
  test("T1: prints what a running server records, then what a killed one recorded", async () => {
    const server = await serve("kept.mjs");
    await server.call("crm.read");
    await server.call("crm.reed");
    await server.execute("return desk.read({ fail: true })");
    await expect
      .poll(() => activity("--config", "kept.mjs").then((text) => text.split("\n").length), {
        timeout: 30_000,
      })
      .toBe(5);
    const text = await activity("--config", "kept.mjs");
    expect(text).toMatch(
      new RegExp(
        [
          "^\\d{4}-\\d\\d-\\d\\d",
          "\\d\\d:\\d\\d:\\d\\d  call     +\\d+\\.?\\d* m?s  crm\\.read +ok",
          "\\d\\d:\\d\\d:\\d\\d  call     +\\d+\\.?\\d* m?s  crm\\.reed +unknown_tool",
          "\\d\\d:\\d\\d:\\d\\d  program  +\\d+\\.?\\d* m?s  desk\\.read +connector_call_failed",
          "$",
        ].join("\n"),
      ),
    );
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    server.child.kill("SIGKILL");
    await server.ended;
    expect(await activity("--config", "kept.mjs")).toBe(text);
  });

  test("--json, --connector, --outcome and --limit choose what is printed, and how", async () => {
    const json = (...args: string[]) =>
      activity("--config", "kept.mjs", "--json", ...args).then(events);
    expect(await json()).toMatchObject([
      { source: "call_tool", address: "crm.read", outcome: "ok", principal: "anonymous" },
      { source: "call_tool", address: "crm.reed", code: "unknown_tool", attempts: 0 },
      { source: "execute_code", address: "desk.read", runId: expect.any(String) as string },
    ]);
    expect(await json("--connector", "desk")).toMatchObject([{ address: "desk.read" }]);
    expect(await json("--outcome", "ok")).toMatchObject([{ address: "crm.read" }]);
    expect(await json("--outcome", "failed", "--limit", "1")).toMatchObject([
      { address: "desk.read" },
    ]);
    expect(await json("--connector", "erp")).toEqual([]);
  });

  test("--follow goes on with what comes, until it is ended; a stopped server loses nothing", async () => {
    const server = await serve("kept.mjs");
    const following = start("activity --config kept.mjs --follow --json --limit 1".split(" "));
    await following.said(/desk\.read/);
    await server.call("crm.read", { n: 1 });
    await following.said(/crm\.read/);
    await server.call("crm.gone");
    server.child.kill("SIGTERM");
    expect((await server.ended).code).toBe(0);
    await following.said(/crm\.gone/);
    following.child.kill("SIGINT");
    const { code, stdout } = await following.ended;
    expect(code).toBe(0);
    const addresses = events(stdout).map(({ address }) => address);
    expect(addresses).toEqual(["desk.read", "crm.read", "crm.gone"]);
  });

  test("--follow ends quietly when nobody reads any more", async () => {
    const server = await serve("kept.mjs");
    const following = start(["activity", "--config", "kept.mjs", "--follow"]);
    await following.said(/crm\.gone/);
    following.child.stdout.destroy();
    await server.call("crm.read");
    expect(await following.ended).toMatchObject({ code: 0, stderr: "" });
  });

  test("a store of keys in an SQLite file is read beside the server that writes it", async () => {
    const server = await serve("stored.mjs");
    await server.call("crm.read");
    await expect
      .poll(() => activity("--config", "stored.mjs", "--json").then(events), { timeout: 30_000 })
      .toMatchObject([{ address: "crm.read" }]);
  });

  const FIX = 'activity: fileActivity({ file: "activity.jsonl" }) keeps it.';
  test.each([
    [["volatile.mjs"], `connecta: nothing is kept beyond the server's process: ${FIX}`],
    [["bounded.mjs"], `connecta: nothing is kept beyond the server's process: ${FIX}`],
    [["none.mjs"], `connecta: the config says activity: false: ${FIX}`],
    [["kept.mjs", "--limit", "0"], "connecta: --limit must be a whole number between 1 and 1000."],
    [["kept.mjs", "--outcome", "bad"], "connecta: --outcome must be ok or failed."],
    [["kept.mjs", "crm"], "connecta: connecta activity: too many arguments"],
    [["kept.mjs", "--port", "1"], "connecta: connecta activity takes no --port"],
  ])("%j is one line and exit code 1", async ([file = "", ...args], line) => {
    const { code, stdout, stderr } = await run(["activity", "--config", file, ...args]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr.split("\n")).toEqual([expect.stringContaining(line), ""]);
  });

  test("a store that cannot be read is one line that names it", async () => {
    const { code, stderr } = await run(["activity", "--config", "spoilt.mjs"]);
    expect(code).toBe(1);
    expect(stderr).toBe(`connecta: ${folder} cannot be read: EISDIR.\n`);
  });

  test("what has recorded nothing yet prints nothing, and makes no file", async () => {
    write(
      "fresh.mjs",
      config(`activity: fileActivity({ file: ${JSON.stringify(path("b.jsonl"))} })`),
    );
    expect(await activity("--config", "fresh.mjs")).toBe("");
    expect(existsSync(path("b.jsonl"))).toBe(false);
  });
});
