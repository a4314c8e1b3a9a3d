import { expect, test, vi } from "vitest";
import { api, createConnecta, type ConnectaConfig, type Executor } from "../../server/index.ts";
import { serve } from "../../server/worker/handler.ts";
import { callTool } from "../support/gateway.ts";

const executor: Executor = { execute: () => Promise.resolve({ result: "" }) };
const crm = api({
  id: "crm",
  tools: {
    hello: {
      description: "Greets.",
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      handler: () => "hello",
    },
  },
});

test("a deployment is assembled with the first request, from its bindings, and once", async () => {
  const configure = vi.fn<(env: { name: string }) => ConnectaConfig>(({ name }) => {
    return { name, connectors: [crm], executor };
  });
  const handler = serve(configure);
  expect(configure).not.toHaveBeenCalled();
  const waitUntil = () => undefined;
  const fetch = (request: Request) => handler.fetch(request, { name: "mine" }, { waitUntil });
  for (let turn = 0; turn < 2; turn++) {
    const answer = await callTool({ fetch }, "call_tool", { address: "crm.hello" });
    expect(answer.structuredContent).toEqual({ ok: true, data: "hello" });
  }
  expect(configure.mock.calls).toEqual([[{ name: "mine" }]]);
});

test("every call is kept alive behind its answer, and can end what it began", async () => {
  const handler = serve(() => ({ connectors: [crm], executor }));
  const kept: Promise<unknown>[] = [];
  const context = { waitUntil: (task: Promise<unknown>) => void kept.push(task) };
  const fetch = (request: Request) => handler.fetch(request, {}, context);
  await callTool({ fetch }, "call_tool", { address: "crm.hello" });
  expect(kept.length).toBeGreaterThan(0);
  await expect(Promise.all(kept)).resolves.toBeDefined();
});

test("the platform's own context serves as it is, whose methods work on nothing else", async () => {
  class Context {
    readonly #kept: Promise<unknown>[] = [];
    waitUntil(task: Promise<unknown>): void {
      this.#kept.push(task);
    }
    get count(): number {
      return this.#kept.length;
    }
  }
  const { waitUntil } = new Context();
  expect(() => waitUntil(Promise.resolve())).toThrow(TypeError);
  const context = new Context();
  const deployment = createConnecta({ connectors: [crm], executor });
  const fetch = (request: Request) => deployment.fetch(request, context);
  const answer = await callTool({ fetch }, "call_tool", { address: "crm.hello" });
  expect(answer.structuredContent).toEqual({ ok: true, data: "hello" });
  expect(context.count).toBeGreaterThan(0);
});

test("a mistake in the config fails the request, in words for the log", async () => {
  const handler = serve(() => ({ connectors: [crm, crm], executor }));
  const request = new Request("http://127.0.0.1/health");
  await expect(handler.fetch(request, {}, { waitUntil: () => undefined })).rejects.toThrow(
    "connectors[1].id crm is used twice",
  );
});
