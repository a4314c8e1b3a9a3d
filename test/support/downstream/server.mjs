// A server over stdio that behaves as its one argument, a JSON object, says.
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const how = JSON.parse(process.argv[2] ?? "{}");
const cancelled = [];
const answers = [];
const held = [];

const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const result = (id, value) => send({ jsonrpc: "2.0", id, result: value });
const error = (id, code, message) => send({ jsonrpc: "2.0", id, error: { code, message } });

if (how.stderr) process.stderr.write(how.stderr);
if (how.exit !== undefined) process.exit(how.exit);
for (const line of how.noise ?? []) process.stdout.write(`${line}\n`);
if (how.ignoresEnd) {
  process.on("SIGTERM", () => undefined);
  setInterval(() => undefined, 1_000);
}
/** Whether an earlier process of the same test was here. */
const second = how.marker !== undefined && existsSync(how.marker);
if (how.marker !== undefined) writeFileSync(how.marker, `${process.pid}`);

const NAMES = [
  "answers",
  "big",
  "cancelled",
  "change",
  "crash",
  "echo",
  "env",
  "family",
  "hang",
  "late",
  "pid",
];
const tool = (name) => ({
  name,
  inputSchema: { type: "object" },
  annotations: { readOnlyHint: true },
});
const modern = how.era === "modern" || (how.era === "fixed" && second);
const text = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
const complete = (value) =>
  modern ? { resultType: "complete", ttlMs: 0, cacheScope: "private", ...value } : value;

const methods = {
  "server/discover"(id) {
    if (how.era === "dies") process.exit(0);
    if (how.era === "silent") return;
    const capabilities = { tools: { listChanged: true } };
    if (modern) return result(id, complete({ supportedVersions: ["2026-07-28"], capabilities }));
    if (how.era === "fixed") return result(id, {});
    error(id, -32601, "Method not found");
  },
  initialize(id) {
    if (modern || how.era === "fixed") return error(id, -32022, "Unsupported protocol version");
    if (how.era === "empty") return result(id, {});
    result(id, {
      protocolVersion: "2025-06-18",
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: "fake", version: "1" },
    });
  },
  "notifications/initialized"() {
    if (how.foreign) send({ jsonrpc: "2.0", method: "log", params: { text: "hello" } });
    if (how.foreign) send({ jsonrpc: "2.0", id: "l1", method: "log", params: {} });
    if (how.foreign) send({ jsonrpc: "2.0", id: "r1", method: "roots/list" });
  },
  "notifications/cancelled"(_, { requestId }) {
    cancelled.push(requestId);
    for (const id of held.splice(0)) result(id, complete(text(cancelled)));
  },
  "subscriptions/listen"(id) {
    const _meta = { "io.modelcontextprotocol/subscriptionId": id };
    const notifications = { toolsListChanged: true };
    const method = "notifications/subscriptions/acknowledged";
    send({ jsonrpc: "2.0", method, params: { _meta, notifications } });
  },
  "tools/list"(id) {
    if (how.listFails) return error(id, -32000, how.listFails);
    result(id, complete({ tools: how.tools ?? NAMES.map(tool) }));
  },
  "tools/call"(id, { name, arguments: args }) {
    const call = Object.hasOwn(calls, name) ? calls[name] : undefined;
    if (!call) return error(id, -32602, `Unknown tool ${name}`);
    const value = call(args, id);
    if (value !== undefined) result(id, complete(text(value)));
  },
};

const calls = {
  answers: () => answers,
  big({ bytes }, id) {
    result(id, complete({ content: [{ type: "text", text: "x".repeat(bytes) }] }));
  },
  cancelled: () => cancelled,
  change() {
    send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    return "changed";
  },
  crash() {
    process.stderr.write("about to fall over\n");
    process.exit(3);
  },
  echo: (args) => args,
  env: () => process.env,
  // A helper that outlives its parent unless the whole group is ended.
  family() {
    const script = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)";
    const child = spawn(process.execPath, ["-e", script], { stdio: "ignore" });
    return [process.pid, child.pid];
  },
  hang() {},
  late: (_, id) => void held.push(id),
  pid: () => process.pid,
};

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { id, method, params, ...rest } = JSON.parse(line);
  if (method === undefined) return void answers.push({ id, ...rest });
  if (Object.hasOwn(methods, method)) methods[method](id, params ?? {});
  else if (id !== undefined) error(id, -32601, "Method not found");
});
