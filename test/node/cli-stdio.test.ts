import { spawn } from "node:child_process";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { describe, expect, test } from "vitest";
import { BIN, CONNECTA, commandFolder } from "../support/command.ts";
import { exercise } from "../support/exercise.ts";

const { folder, start } = commandFolder({
  "connecta.config.mjs": `import { api } from "${CONNECTA}";
    console.log("a word of the config");
    process.stdout.write("and another one\\n");
    const handler = ({ hang = false }, { signal }) => {
      console.log("a word of a tool");
      if (!hang) return 7;
      console.error("hangs");
      return new Promise((_, no) => signal.addEventListener("abort", () => { console.error("cancelled"); no(signal.reason) }));
    };
    export default { auth: { bearer: "correct-horse-battery" }, connectors: [api({ id: "crm", tools: { get: {
      description: "Get.", annotations: { readOnlyHint: true }, handler,
      inputSchema: { type: "object", properties: { hang: { type: "boolean" } } } } } })] };`,
});
const LAUNCH = { command: process.execPath, args: [BIN, "stdio"], cwd: folder };
const INFO = { name: "test", version: "1" };
const OPENING = `${JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: INFO },
})}\n`;

describe("connecta stdio", { timeout: 30_000 }, () => {
  test("serves the client of today as it comes, config and tools that write to stdout included", async () => {
    const client = new Client(INFO);
    const faults: Error[] = [];
    client.onerror = (error) => faults.push(error);
    await client.connect(new StdioClientTransport({ ...LAUNCH, stderr: "ignore" }));
    await exercise(client, "await crm.get() + 1", 8);
    await client.close();
    expect(faults).toEqual([]);
  });

  test("serves a client of the 2026-07-28 generation", async () => {
    const client = new Client(INFO, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
    await client.connect(new StdioClientTransport({ ...LAUNCH, stderr: "ignore" }));
    expect(client.getProtocolEra()).toBe("modern");
    await exercise(client, "await crm.get() + 1", 8);
    await client.close();
  });

  test("serves a client of the 2025 generation", async () => {
    const client = new OldClient(INFO);
    await client.connect(new OldTransport({ ...LAUNCH, stderr: "ignore" }));
    await exercise(client, "await crm.get() + 1", 8);
    await client.close();
  });

  test("writes the protocol alone to stdout, and ends with 0 when stdin does", async () => {
    const started = start(["stdio"]);
    started.child.stdin?.write(OPENING);
    await started.said(/\n/);
    started.child.stdin?.end();
    const { code, stdout, stderr } = await started.ended;
    expect(code).toBe(0);
    const lines = stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ id: 1, result: { serverInfo: {} } });
    expect(stderr).toContain("a word of the config\nand another one\n");
  });

  test("a call that the client cancels ends at the tool", async () => {
    const started = start(["stdio"]);
    const params = { name: "call_tool", arguments: { address: "crm.get", args: { hang: true } } };
    const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params };
    started.child.stdin?.write(`${OPENING}${JSON.stringify(call)}\n`);
    await started.said(/hangs/, "stderr");
    const cancel = { method: "notifications/cancelled", params: { requestId: 2 } };
    started.child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...cancel })}\n`);
    await started.said(/cancelled/, "stderr");
  });

  test("ends with the process that started it, even while stdin stays open", async () => {
    // The pipe of this test outlives the shell, so that stdin never ends.
    const script = `exec 3<&0; "${process.execPath}" "${BIN}" stdio <&3 & wait`;
    const child = spawn("sh", ["-c", script], { cwd: folder });
    child.stdin.write(OPENING);
    await new Promise((resolve) => child.stdout.once("data", resolve));
    // Its stdout is open for as long as anybody lives who could write to it.
    const closed = new Promise((resolve) => child.stdout.once("close", resolve));
    child.kill("SIGKILL");
    await closed;
    child.stdin.destroy();
  });

  test("a mistake is one line on stderr and exit code 1", async () => {
    const { code, stdout, stderr } = await start(["stdio", "--config", "none.mjs"]).ended;
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      "connecta: none.mjs does not exist: write one, or name another with --config.\n",
    );
  });
});
