import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  api,
  tool,
  ToolError,
  type ApiOptions,
  type ApiToolInput,
} from "../../server/connectors/api.ts";
import type { JsonSchema } from "../../server/shared/contracts.ts";
import { Notice } from "../../server/shared/notice.ts";
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

describe("the answer of a handler that declares an outputSchema", () => {
  const ROW = z.object({ id: z.string(), amount: z.int().optional() });
  const JSON_ROW: JsonSchema = {
    type: "object",
    properties: { id: { type: "string" }, at: { type: "string" }, rows: { type: "array" } },
    required: ["id"],
  };

  /** What a call comes to when the handler answers so, and what the operator hears of it. */
  async function answering(outputSchema: JsonSchema | z.ZodType, answer: unknown) {
    const told: unknown[] = [];
    const crm = connector(() => answer, { outputSchema });
    const scope = testScope({ report: (error) => void told.push(error) });
    return { outcome: await crm.callTool("get", {}, scope), told };
  }

  test.each([
    ["a zod schema", ROW, { id: "r7", amount: 1 }],
    ["a JSON Schema", JSON_ROW, { id: "r7", rows: [1] }],
    ["a JSON Schema, once it is JSON", JSON_ROW, { id: "r7", at: new Date(0), rows: undefined }],
  ])("passes as it is when it is what %s says", async (_, schema, answer) => {
    const { outcome, told } = await answering(schema, answer);
    expect(outcome).toEqual({ ok: true, value: { kind: "value", value: answer } });
    expect(told).toEqual([]);
  });

  test.each([
    ["a zod schema", ROW],
    ["a JSON Schema", JSON_ROW],
  ])(
    "fails the call when it breaks %s, by place and rule and never by value",
    async (_, schema) => {
      const { outcome, told } = await answering(schema, { id: 12345 });
      expect(outcome).toMatchObject({
        ok: false,
        failure: { code: "connector_call_failed", findings: [{ path: "id", expected: "string" }] },
      });
      expect(outcome).toMatchObject({
        failure: { message: expect.stringContaining("crm.get ran") },
      });
      expect(told).toHaveLength(1);
      expect(told[0]).toBeInstanceOf(Notice);
      expect(JSON.stringify(outcome) + String(told[0])).not.toContain("12345");
    },
  );

  test("names the answer itself when it is no object at all", async () => {
    for (const schema of [ROW, JSON_ROW]) {
      const { outcome } = await answering(schema, null);
      expect(outcome).toMatchObject({ failure: { findings: [{ path: "answer" }] } });
    }
  });

  test("leaves behind what a zod schema does not declare", async () => {
    const { outcome } = await answering(ROW, { id: "r7", password: "s3cret" });
    expect(outcome).toEqual({ ok: true, value: { kind: "value", value: { id: "r7" } } });
  });

  test("of very many values is not held against a JSON Schema", async () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => i);
    expect((await answering(JSON_ROW, { id: 7, rows })).outcome.ok).toBe(true);
    expect((await answering(JSON_ROW, { id: 7, rows: rows.slice(100) })).outcome.ok).toBe(false);
  });

  test("is typed by a zod schema", () => {
    const rest = { description: "Get.", inputSchema: z.object({}), annotations: READ };
    tool({ ...rest, outputSchema: ROW, handler: () => ({ id: "r7" }) });
    // @ts-expect-error: a row has an id that is text
    tool({ ...rest, outputSchema: ROW, handler: () => ({ id: 7 }) });
    tool({ ...rest, handler: () => ({ id: 7 }) });
  });
});

describe("the fetch of an api() handler", () => {
  test("belongs to its connector's base URL, and what it refuses is typed", async () => {
    const crm = api({
      id: "crm",
      baseUrl: "http://127.0.0.1:9/v1",
      fetch: { timeoutMs: 1_000 },
      tools: {
        get: {
          description: "Get.",
          inputSchema: { type: "object" },
          annotations: READ,
          handler: (_: never, { fetch }) => fetch("../admin"),
        },
      },
    });
    expect(await crm.callTool("get", {}, testScope())).toMatchObject({
      failure: {
        code: "invalid_args",
        message: "The arguments lead outside of what crm may ask for.",
      },
    });
  });

  test("ends with the handler that it was given to", async () => {
    let kept: ((input: string) => Promise<Response>) | undefined;
    const crm = connector((_, { fetch }) => void (kept = fetch));
    await crm.callTool("get", {}, testScope());
    await expect(kept?.("http://127.0.0.1:9/")).rejects.toThrow("This call has ended");
  });

  test.each([
    [{ baseUrl: "crm.example" }, "api(crm).baseUrl is no http or https address"],
    [{ fetch: { timeoutMs: 0 } }, "api(crm).fetch.timeoutMs must be a whole number"],
    [
      { fetch: { maxResponseBytes: 2 ** 31 } },
      "api(crm).fetch.maxResponseBytes must be a whole number",
    ],
    [{ fetch: { retries: 1 } as never }, "api(crm).fetch.retries is no option"],
    [{ readOnly: ["get"] } as never, "api(crm).readOnly is no option; there are: id, title"],
  ])("G7: %j is refused, naming the option", (options: Partial<ApiOptions>, message) => {
    expect(() => api({ id: "crm", tools: {}, ...options })).toThrow(message);
  });
});

describe("E2: a response that a handler turns into an error", () => {
  test.each([
    [404, {}, "not_found", undefined],
    [410, {}, "not_found", undefined],
    [400, {}, "invalid_args", undefined],
    [401, {}, "connector_call_failed", undefined],
    [429, { "retry-after": "3" }, "rate_limited", 3_000],
    [503, { "retry-after": "" }, "unavailable", undefined],
    [503, { "retry-after": "soon" }, "unavailable", undefined],
    [500, { "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, "unavailable", 0],
    [503, { "retry-after": "0x10" }, "unavailable", undefined],
  ])("%i with %j is %s", async (status, headers, code, retryAfterMs) => {
    const response = new Response("the token s3cret is bad", { status, headers });
    const error = ToolError.fromResponse(response, "The CRM");
    expect(error).toMatchObject({ code, retryAfterMs, message: `The CRM answered ${status}.` });
  });

  test("a Retry-After that is a date is the time until then", () => {
    const soon = new Date(Date.now() + 3_600_000).toUTCString();
    const response = new Response(null, { status: 429, headers: { "retry-after": soon } });
    const { retryAfterMs = 0 } = ToolError.fromResponse(response);
    expect(Math.round(retryAfterMs / 60_000)).toBe(60);
  });
});
