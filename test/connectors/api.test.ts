import { describe, expect, test } from "vitest";
import { z } from "zod";
import { api, tool, ToolError, type ApiToolInput } from "../../server/connectors/api.ts";
import { testScope } from "../support/scope.ts";

const READ = { readOnlyHint: true } as const;

function connector(handler: ApiToolInput["handler"], extra: Partial<ApiToolInput> = {}) {
  return api({
    id: "crm",
    tools: {
      get: {
        description: "Get.",
        inputSchema: { type: "object" },
        annotations: READ,
        handler,
        ...extra,
      },
    },
  });
}

describe("api() connectors", () => {
  test("a handler gets its arguments and the call's signal, and its value comes back", async () => {
    const scope = testScope({ now: () => 42 });
    let seen: unknown;
    const crm = connector((args, { signal, now }) => {
      seen = { args, sameSignal: signal === scope.signal, now: now() };
      return { id: "r7" };
    });
    expect(await crm.callTool("get", { a: 1 }, scope)).toEqual({
      ok: true,
      value: { kind: "value", value: { id: "r7" } },
    });
    expect(seen).toEqual({ args: { a: 1 }, sameSignal: true, now: 42 });
  });

  test("a zod schema types the handler, is shown as JSON Schema and fills defaults", async () => {
    const crm = api({
      id: "crm",
      tools: {
        list: tool({
          description: "List.",
          inputSchema: z.object({ limit: z.int().default(5) }),
          annotations: READ,
          handler: ({ limit }) => limit * 2,
        }),
      },
    });
    expect(await crm.callTool("list", {}, testScope())).toMatchObject({ value: { value: 10 } });
    const listed = await crm.listTools(testScope());
    expect(listed).toMatchObject({
      value: [
        { name: "list", inputSchema: { type: "object", properties: { limit: { default: 5 } } } },
      ],
    });
  });

  test("E4: an unexpected throw says its kind and never its text", async () => {
    const crm = connector(() => {
      throw new RangeError("token sk-123 was refused");
    });
    const failed = await crm.callTool("get", {}, testScope());
    expect(failed).toMatchObject({ failure: { code: "connector_call_failed" } });
    expect(JSON.stringify(failed)).toContain("RangeError");
    expect(JSON.stringify(failed)).not.toContain("sk-123");
  });

  test("E2: a ToolError keeps its code, its message and its wait", async () => {
    const crm = connector(() => {
      throw new ToolError("Slow down.", { code: "rate_limited", retryAfterMs: 700 });
    });
    expect(await crm.callTool("get", {}, testScope())).toEqual({
      ok: false,
      failure: { code: "rate_limited", message: "Slow down.", retryable: true, retryAfterMs: 700 },
    });
  });

  test("G7: a connector without tools is refused, naming the option", () => {
    expect(() => api({ id: "crm" } as never)).toThrow("api(crm).tools is missing");
    expect(() => api(undefined as never)).toThrow("api() needs an object with an id");
    expect(() => api({ id: "crm", tools: { get: null as never } })).toThrow("tools.get is no tool");
    expect(() => api({ id: "crm", tools: { "": {} as never } })).toThrow("has an empty name");
  });

  test.each([
    ["a description", { description: " " }, "api(crm).tools.get.description is missing"],
    [
      "an explicit readOnlyHint",
      { annotations: {} as never },
      "annotations.readOnlyHint is missing",
    ],
    [
      "a schema that compiles",
      { inputSchema: { type: "object", properties: { a: { pattern: "(" } } } },
      "inputSchema does not compile",
    ],
    ["a schema of named arguments", { inputSchema: { type: "string" } }, 'not of type "object"'],
  ])("G7: a tool without %s is refused at construction, naming the option", (_, extra, message) => {
    expect(() => connector(() => null, extra)).toThrow(message);
  });
});
