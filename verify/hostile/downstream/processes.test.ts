import { afterEach, describe, expect, test } from "vitest";
import { stdioMcp, type StdioMcpOptions } from "../../../server/node/index.ts";
import { closeAll, closing } from "./support/attacked.ts";
import { gateway } from "./support/gateway.ts";

afterEach(closeAll);

/** A server as a process that answers calls with this code; `id` is the call's. */
const SERVER = `
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const tools = [{ name: "echo", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }];
const answers = {
  initialize: () => ({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } }),
  "tools/list": () => ({ tools }),
};
let calls = 0;
const handle = (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "tools/call" && ++calls === 1) return attack(id);
  const result = method === "tools/call" ? { content: [] } : answers[method]?.();
  send(result ? { id, result } : { id, error: { code: -32601, message: "Method not found" } });
};
let turn = Promise.resolve();
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  turn = turn.then(() => handle(line));
});
`;

function attackedBy(attack: string, options: Partial<StdioMcpOptions> = {}) {
  const script = `${SERVER}\nfunction attack(id) { ${attack} }`;
  const args = ["-e", script];
  const crm = stdioMcp({ id: "crm", command: process.execPath, args, ...options });
  return { crm, front: closing(gateway(crm)) };
}

const LIMIT = { maxResponseBytes: 1_000_000 };

describe("a process", () => {
  test("that writes a line without an end takes little memory, and answers to others come behind it", async () => {
    const flood = `return new Promise((resolve) => {
      const part = "x".repeat(65536);
      let left = 3000;
      const more = () => {
        if (left-- > 0) process.stdout.write(part, more);
        else process.stdout.write("\\n", resolve);
      };
      more();
    });`;
    const { front } = attackedBy(flood, LIMIT);
    await front.call("search_tools");
    const before = process.memoryUsage().arrayBuffers;
    const call = front.codeOf("crm.echo");
    // Answered behind the flood: by then all of it was read.
    expect(await front.codeOf("crm.echo")).toBe("ok");
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(60_000_000);
    await front.close();
    expect(["cancelled", "unavailable"]).toContain(await call);
  });

  test("that answers with a line above the bound fails that call at once", async () => {
    const { front } = attackedBy(
      "send({ id, result: { content: [{ type: 'text', text: 'x'.repeat(2000000) }] } });",
      LIMIT,
    );
    expect(await front.codeOf("crm.echo")).toBe("result_too_large");
    expect(await front.codeOf("crm.echo")).toBe("ok");
  });

  test("control: a line below the bound is an answer", async () => {
    const { front } = attackedBy(
      "send({ id, result: { content: [{ type: 'text', text: 'x'.repeat(900000) }] } });",
      LIMIT,
    );
    expect(await front.codeOf("crm.echo")).toBe("ok");
  });

  test("that floods its error output is answered nevertheless, and little of it is kept", async () => {
    const { crm, front } = attackedBy(
      "for (let i = 0; i < 200; i++) process.stderr.write('y'.repeat(65536)); send({ id, result: { content: [] } });",
    );
    expect(await front.codeOf("crm.echo")).toBe("ok");
    expect((crm.errorOutput?.() ?? "").length).toBeLessThanOrEqual(8_192);
  });

  test.each([
    [
      "answers other ids first",
      "send({ id: id + 7, result: {} }); send({ id: 'x', result: {} }); send({ id: null, result: {} }); send({ id, result: { content: [] } });",
    ],
    [
      "answers twice",
      "send({ id, result: { content: [] } }); send({ id, result: { content: [] } });",
    ],
    [
      "asks a thousand questions first",
      "for (let i = 0; i < 1000; i++) send({ id: 'q' + i, method: 'sampling/createMessage', params: {} }); send({ id, result: { content: [] } });",
    ],
    [
      "tells a hundred thousand things first",
      "for (let i = 0; i < 100000; i++) send({ method: 'notifications/message', params: { data: i } }); send({ id, result: { content: [] } });",
    ],
    [
      "writes what is no JSON first",
      'process.stdout.write(\'{\\n[\\n\\u0000\\n{"jsonrpc":"2.0"}\\n{"jsonrpc":"2.0","id":{}}\\n\'); send({ id, result: { content: [] } });',
    ],
    [
      "answers in two halves",
      "const text = JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } }); process.stdout.write(text.slice(0, 20)); setImmediate(() => process.stdout.write(text.slice(20) + '\\n'));",
    ],
  ])("that %s is understood", async (_, attack) => {
    const { front } = attackedBy(attack);
    expect(await front.codeOf("crm.echo")).toBe("ok");
    expect(await front.codeOf("crm.echo")).toBe("ok");
  });

  test.each([
    [
      "ends within an answer",
      'process.stdout.write(\'{"jsonrpc":"2.0","id":\', () => process.exit(0));',
    ],
    ["ends without an answer", "process.exit(1);"],
    ["is killed", "process.kill(process.pid, 'SIGKILL');"],
    [
      "closes its output",
      "process.stdout.end(); process.stdout.destroy(); setTimeout(() => process.exit(0), 10);",
    ],
  ])(
    "that %s fails the call at once, and the next one finds another process",
    async (_, attack) => {
      const { front } = attackedBy(attack);
      expect(await front.codeOf("crm.echo")).toBe("unavailable");
      // The new process attacks its own first call: the list shows that it runs.
      const found = await front.call("search_tools", { query: "echo" });
      expect(JSON.stringify(found.structuredContent)).toContain("crm.echo");
    },
  );

  test("that answers with what is no result fails that call", async () => {
    const { front } = attackedBy("send({ id, result: { content: 'text' } });");
    expect(await front.codeOf("crm.echo")).toBe("connector_call_failed");
    expect(await front.codeOf("crm.echo")).toBe("ok");
  });
});
