import { context, metrics, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type * as Index from "../../server/index.ts";
import { api, ToolError } from "../../server/index.ts";
import { Telemetry } from "../../server/shared/telemetry.ts";
import { ok } from "../../server/shared/failure.ts";
import { fakeConnector, fakeTool } from "../support/catalog.ts";
import { callTool, fixtureGateway, rpc, type Fixture } from "../support/gateway.ts";
import { installSdk, type Installed } from "../support/telemetry.ts";

let sdk: Installed;
let fixture: Fixture;
const seen: { span: string | undefined; baggage: unknown }[] = [];
let failures = 0;

beforeAll(() => {
  fixture = fixtureGateway();
  // A deployment that is older than the SDK is observed all the same.
  sdk = installSdk();
});
afterAll(async () => {
  await fixture.connecta.close();
  await sdk.remove();
});
beforeEach(() => sdk.reset());

const named = (name: string) => {
  const found = sdk.spans().filter((span) => span.name === name);
  const [only] = found;
  if (found.length !== 1 || !only) throw new Error(`${found.length} spans ${name}`);
  return only;
};
const parentOf = (span: ReadableSpan) => span.parentSpanContext?.spanId;
const idOf = (span: ReadableSpan) => span.spanContext().spanId;

describe("spans of OpenTelemetry", () => {
  test("a request, its program, the program's calls and the load they need are one tree", async () => {
    await callTool(fixture.connecta, "execute_code", {
      code: "await crm.get_record({ id: 'r7' }); return connecta.call('tickets-eu.list-open')",
    });
    const request = named("tools/call execute_code");
    const program = named("connecta.run");
    const call = named("execute_tool get_record");
    const other = named("execute_tool list-open");
    const loads = sdk.spans().filter(({ name }) => name === "connecta.catalog.load");
    expect(parentOf(request)).toBeUndefined();
    expect(parentOf(program)).toBe(idOf(request));
    expect(parentOf(call)).toBe(idOf(program));
    expect(parentOf(other)).toBe(idOf(program));
    expect(loads.map(({ attributes }) => attributes["connecta.connector.id"]).toSorted()).toEqual([
      "crm",
      "tickets-eu",
    ]);
    const traces = new Set(sdk.spans().map((span) => span.spanContext().traceId));
    expect(traces.size).toBe(1);
  });

  test("they say what the conventions of MCP and GenAI have names for, and the rest as ours", async () => {
    await callTool(fixture.connecta, "call_tool", { address: "crm.get_record", args: { id: "a" } });
    const request = named("tools/call call_tool");
    const call = named("execute_tool get_record");
    expect(request.kind).toBe(SpanKind.SERVER);
    expect(request.attributes).toEqual({
      "mcp.method.name": "tools/call",
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "call_tool",
      "connecta.request.id": expect.stringMatching(/^[0-9a-f-]{36}$/),
      "connecta.outcome": "ok",
    });
    expect(call.kind).toBe(SpanKind.INTERNAL);
    expect(call.attributes).toEqual({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "get_record",
      "connecta.connector.id": "crm",
      "connecta.source": "call_tool",
      "connecta.attempts": 1,
      "connecta.request.id": request.attributes["connecta.request.id"],
      "connecta.outcome": "ok",
    });
    expect(call.status.code).toBe(SpanStatusCode.UNSET);
  });

  test("a failure is its code, on the call and on the request", async () => {
    const args = { address: "crm.get_record", args: { id: "gone" } };
    await callTool(fixture.connecta, "call_tool", args);
    for (const name of ["tools/call call_tool", "execute_tool get_record"]) {
      const { attributes, status, events } = named(name);
      expect(attributes).toMatchObject({ "error.type": "not_found", "connecta.outcome": "failed" });
      expect(status).toEqual({ code: SpanStatusCode.ERROR });
      expect(events).toEqual([]);
    }
  });

  test.each([
    ["call_tool", { address: "crm.update_record" }, "call_tool"],
    ["call_destructive_tool", { address: "crm.update_record" }, "call_destructive_tool"],
    ["execute_code", { code: "return crm.update_record({})" }, "execute_code"],
  ])("a call through %s says so", async (tool, args, source) => {
    await callTool(fixture.connecta, tool, args);
    expect(named("execute_tool update_record").attributes).toMatchObject({
      "connecta.source": source,
    });
  });

  test("an address that leads nowhere is a call without connector, tool or attempt", async () => {
    await callTool(fixture.connecta, "call_tool", { address: "nothing.at_all" });
    const { attributes } = named("execute_tool");
    expect(attributes).toMatchObject({ "error.type": "unknown_address", "connecta.attempts": 0 });
    expect(Object.keys(attributes)).not.toContain("connecta.connector.id");
    expect(Object.keys(attributes)).not.toContain("gen_ai.tool.name");
  });

  test("the caller's span is the parent, and nothing else of what it sends is taken over", async () => {
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const _meta = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, baggage: "sk-baggage" };
    await rpc(watching, "tools/call", {
      name: "call_tool",
      arguments: { address: "watch.see" },
      _meta,
    });
    const request = named("tools/call call_tool");
    expect(request.spanContext().traceId).toBe(traceId);
    expect(request.parentSpanContext).toMatchObject({ spanId: "b7ad6b7169203331", isRemote: true });
    expect(seen.at(-1)).toEqual({ span: idOf(named("execute_tool see")), baggage: undefined });
  });

  test("control: the propagator in this process would hand the baggage on", () => {
    const sent = {
      traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01`,
      baggage: "sk-baggage",
    };
    const extracted = propagation.extract(context.active(), sent);
    expect(propagation.getBaggage(extracted)?.getAllEntries()).toHaveLength(1);
  });

  test.each([{ traceparent: 5 }, { traceparent: "00-0-0-00" }, {}])(
    "a _meta of %j is no parent",
    async (_meta) => {
      const params = { name: "skills", arguments: {} };
      await rpc(fixture.connecta, "tools/call", { ...params, _meta });
      expect(parentOf(named("tools/call skills"))).toBeUndefined();
    },
  );

  test("a span around the request, of the web server's, is its parent, or a link of it", async () => {
    const around = trace.getTracer("http").startSpan("POST");
    const within = <T>(work: () => Promise<T>) =>
      context.with(trace.setSpan(context.active(), around), work);
    const params = { name: "skills", arguments: {} };
    await within(() => rpc(fixture.connecta, "tools/call", params));
    expect(parentOf(named("tools/call skills"))).toBe(around.spanContext().spanId);
    sdk.reset();
    const _meta = { traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01` };
    await within(() => rpc(fixture.connecta, "tools/call", { ...params, _meta }));
    const request = named("tools/call skills");
    expect(parentOf(request)).toBe("2".repeat(16));
    expect(request.links.map((link) => link.context.spanId)).toEqual([around.spanContext().spanId]);
    around.end();
  });

  test("an integration's own word for its failure is no code of ours", async () => {
    const answer = await callTool(watching, "call_tool", { address: "far.fail" });
    expect(answer.structuredContent).toEqual({ error: { code: "E_FULL" } });
    for (const name of ["tools/call call_tool", "execute_tool fail"]) {
      expect(named(name).attributes).toMatchObject({ "error.type": "connector_call_failed" });
    }
  });

  test("retries count as attempts of one call", async () => {
    failures = 1;
    await callTool(watching, "call_tool", { address: "watch.fail", maxRetries: 2 });
    expect(named("execute_tool fail").attributes).toMatchObject({
      "connecta.attempts": 2,
      "connecta.outcome": "ok",
    });
  });
});

describe("metrics of OpenTelemetry", () => {
  test("durations of requests, runs, calls, loads and waits, by few values each", async () => {
    await callTool(fixture.connecta, "execute_code", { code: "return crm.get_record({id:'r'})" });
    await callTool(fixture.connecta, "call_tool", {
      address: "crm.get_record",
      args: { id: "gone" },
    });
    const found = await sdk.metrics();
    expect(found.map(({ descriptor }) => descriptor.name).toSorted()).toEqual([
      "connecta.admission.wait",
      "connecta.call.duration",
      "connecta.catalog.load.duration",
      "connecta.run.duration",
      "mcp.server.operation.duration",
    ]);
    const calls = found.find(({ descriptor }) => descriptor.name === "connecta.call.duration");
    expect(calls?.descriptor.unit).toBe("s");
    const attributes = calls?.dataPoints.map((point) => point.attributes);
    expect(attributes).toContainEqual({
      "gen_ai.operation.name": "execute_tool",
      "connecta.connector.id": "crm",
      "connecta.source": "call_tool",
      "error.type": "not_found",
    });
    const keys = new Set(
      found.flatMap(({ dataPoints }) => dataPoints.flatMap((p) => Object.keys(p.attributes))),
    );
    expect([...keys].toSorted()).toEqual([
      "connecta.connector.id",
      "connecta.queue",
      "connecta.source",
      "error.type",
      "gen_ai.operation.name",
      "gen_ai.tool.name",
      "mcp.method.name",
    ]);
  });
});

/** A connector that looks at what an instrumented library would see, and one that needs retries. */
const { connecta: watching } = fixtureGateway({
  connectors: [
    fakeConnector("far", [fakeTool("fail")], {
      callTool: () =>
        Promise.resolve(
          ok({
            kind: "mcp",
            content: [],
            structuredContent: { error: { code: "E_FULL" } },
            isError: true,
          }),
        ),
    }),
    api({
      id: "watch",
      tools: {
        see: {
          description: "Look around.",
          inputSchema: { type: "object" },
          annotations: { readOnlyHint: true },
          handler: () => {
            const span = trace.getActiveSpan()?.spanContext().spanId;
            seen.push({ span, baggage: propagation.getActiveBaggage() });
            return null;
          },
        },
        fail: {
          description: "Fail as often as told.",
          inputSchema: { type: "object" },
          annotations: { readOnlyHint: true },
          handler: () => {
            if (failures-- > 0) {
              throw new ToolError("Not now.", { code: "unavailable", retryAfterMs: 1 });
            }
            return null;
          },
        },
      },
    }),
  ],
});
afterAll(() => watching.close());

describe("the API that stands for an SDK", () => {
  test("is the SDK's own for the built server, which holds a copy of it", async () => {
    const href = new URL("../../dist/server/index.js", import.meta.url).href;
    const built = (await import(/* @vite-ignore */ href)) as typeof Index;
    const executor = { execute: () => Promise.resolve({ result: null }) };
    const connecta = built.createConnecta({ connectors: [], executor });
    await callTool(connecta, "skills");
    await connecta.close();
    expect(named("tools/call skills").instrumentationScope).toMatchObject({ name: "connecta" });
  });

  test("needs nothing of Node", () => {
    const main = createRequire(import.meta.url).resolve("@opentelemetry/api");
    const files = readdirSync(dirname(main), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".js"))
      .map((file) => readFileSync(join(dirname(main), file), "utf8"));
    expect(files.length).toBeGreaterThan(20);
    const needs = files.flatMap((text) => [...text.matchAll(/require\("([^."][^"]*)"\)/g)]);
    expect(needs.map(([, specifier]) => specifier)).toEqual([]);
  });

  test("without one and without anybody else who listens nothing is observed at all", async () => {
    await sdk.remove();
    expect(new Telemetry("1", []).trace({})).toBeUndefined();
    expect(new Telemetry("1", [() => undefined]).trace({})).toBeDefined();
    sdk = installSdk();
    expect(new Telemetry("1", []).trace({})).toBeDefined();
  });

  test("does nothing without one, and all that it does with one that comes later", async () => {
    const before = metrics.getMeterProvider();
    await sdk.remove();
    expect(metrics.getMeterProvider()).not.toBe(before);
    await callTool(fixture.connecta, "call_tool", { address: "crm.get_record", args: { id: "a" } });
    expect(sdk.spans()).toEqual([]);
    sdk = installSdk();
    await callTool(fixture.connecta, "call_tool", { address: "crm.get_record", args: { id: "a" } });
    expect(sdk.spans()).toHaveLength(2);
    expect((await sdk.metrics()).length).toBeGreaterThan(0);
  });
});
