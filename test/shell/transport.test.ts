import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HostTransport } from "../../shell/src/transport.ts";
import { fakeHost, sendFrom, type FakeHost } from "./support/host.ts";

let host: FakeHost;
let transport: HostTransport;
let heard: unknown[];
beforeEach(async () => {
  host = fakeHost();
  transport = new HostTransport(host.window);
  heard = [];
  transport.onmessage = (message) => void heard.push(message);
  await transport.start();
});
afterEach(async () => {
  await transport.close();
  host.close();
});

const call = { jsonrpc: "2.0", method: "tools/call", params: { name: "call_tool" } } as const;

describe("outward", () => {
  test("requests carry ids that differ from those inside and between transports", async () => {
    const other = new HostTransport(host.window);
    await transport.send({ ...call, id: 0 });
    await other.send({ ...call, id: 0 });
    const [first, second] = host.received.map(({ id }) => Number(id));
    expect(first).not.toBe(second);
    for (const id of [first, second]) expect(Number.isSafeInteger(id)).toBe(true);
  });

  test("a cancellation names the request as the host knows it", async () => {
    await transport.send({ ...call, id: 3 });
    const params = { requestId: 3, reason: "late" };
    await transport.send({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    const [request, cancelled] = host.received;
    expect(cancelled?.params).toEqual({ requestId: request?.id, reason: "late" });
  });

  test("answers to the host keep the host's id", async () => {
    await transport.send({ jsonrpc: "2.0", id: "host-1", result: {} });
    expect(host.received).toEqual([{ jsonrpc: "2.0", id: "host-1", result: {} }]);
  });
});

describe("inward", () => {
  test("an answer comes back under the id inside, once", async () => {
    await transport.send({ ...call, id: 5 });
    const [request] = host.received;
    const answer = { jsonrpc: "2.0", id: request?.id, result: { content: [] } };
    host.send(answer);
    host.send(answer);
    expect(heard).toEqual([{ jsonrpc: "2.0", id: 5, result: { content: [] } }]);
  });

  test("an id given back as text is still the same id", async () => {
    await transport.send({ ...call, id: 5 });
    host.send({ jsonrpc: "2.0", id: String(host.received[0]?.id), result: { content: [] } });
    expect(heard).toMatchObject([{ id: 5 }]);
  });

  test("answers under guessed ids are dropped", async () => {
    await transport.send({ ...call, id: 0 });
    for (const id of [0, 1, "0", null, undefined, {}])
      host.send({ jsonrpc: "2.0", id, result: {} });
    expect(heard).toEqual([]);
  });

  test("an id inside a list is no id, however deep", async () => {
    await transport.send({ ...call, id: 5 });
    let id: unknown = host.received[0]?.id;
    for (const depth of [1, 100_000]) {
      for (let level = 0; level < depth; level++) id = [id];
      expect(() => host.send({ jsonrpc: "2.0", id, result: { content: [] } })).not.toThrow();
    }
    expect(heard).toEqual([]);
    host.answer("tools/call", { result: { content: [] } });
    expect(heard).toHaveLength(1);
  });

  test("an answer after the cancellation is dropped", async () => {
    await transport.send({ ...call, id: 1 });
    const params = { requestId: 1 };
    await transport.send({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    host.send({ jsonrpc: "2.0", id: host.received[0]?.id, result: { content: [] } });
    expect(heard).toEqual([]);
  });

  test("messages of any window but the host's are dropped", () => {
    const message = { jsonrpc: "2.0", method: "ui/notifications/tool-cancelled", params: {} };
    for (const source of [window, null, { postMessage() {} }]) sendFrom(source, message);
    expect(heard).toEqual([]);
    host.send(message);
    expect(heard).toEqual([message]);
  });

  test("what is no JSON-RPC is dropped", () => {
    for (const message of [
      null,
      7,
      "text",
      [],
      {},
      { method: "x" },
      { jsonrpc: "1.0", method: "x" },
    ]) {
      host.send(message);
    }
    expect(heard).toEqual([]);
  });

  test("a request keeps its id and method; its parameters are not needed", () => {
    host.send({ jsonrpc: "2.0", id: "t", method: "ui/resource-teardown", params: null });
    expect(heard).toEqual([
      { jsonrpc: "2.0", id: "t", method: "ui/resource-teardown", params: {} },
    ]);
  });

  test("a refusal has a code and a message, however the host words it", async () => {
    await transport.send({ ...call, id: 2 });
    host.answer("tools/call", { error: "busy" });
    expect(heard).toEqual([{ jsonrpc: "2.0", id: 2, error: { code: -32603, message: "busy" } }]);
  });

  test("nothing is heard after closing", async () => {
    await transport.close();
    host.notify("ui/notifications/tool-cancelled", {});
    expect(heard).toEqual([]);
  });
});
