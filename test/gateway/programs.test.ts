import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fixtureGateway, programs, type Fixture } from "../support/gateway.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = fixtureGateway();
});
afterAll(() => fixture.connecta.close());

const { run, result, error } = programs(() => fixture);

describe("a program's calls", () => {
  test("connecta.call, a shortcut and batch reach the same tool", async () => {
    const code = `async () => [
      (await connecta.call("crm.get_record", { id: "a" })).name,
      (await crm.get_record({ id: "b" })).name,
      await connecta.batch([
        { address: "crm.get_record", args: { id: "c" } },
        { address: "crm.get_record", args: { id: "gone" } },
      ]),
    ]`;
    expect(await result(code)).toEqual([
      "Record a",
      "Record b",
      [
        {
          address: "crm.get_record",
          ok: true,
          data: { id: "c", name: "Record c", amount: 137 },
        },
        {
          address: "crm.get_record",
          ok: false,
          error: {
            code: "not_found",
            message: "No such record.",
            retryable: false,
            address: "crm.get_record",
          },
        },
      ],
    ]);
  });

  test("A1, A2: odd names are reached by address and by their sanitized shortcut", async () => {
    expect(await result('return connecta.call("tickets-eu.list-open")')).toEqual([
      { id: 1 },
      { id: 2 },
    ]);
    expect(await result("return tickets_eu.list_open()")).toEqual([{ id: 1 }, { id: 2 }]);
  });

  test("E1: a failed call throws an Error with the failure's fields, and can be caught", async () => {
    const code = `async () => {
      try { await crm.get_record({ id: "gone" }) } catch (e) {
        return [e instanceof Error, e.message, e.code, e.retryable, e.address];
      }
    }`;
    expect(await result(code)).toEqual([
      true,
      "No such record.",
      "not_found",
      false,
      "crm.get_record",
    ]);
  });

  test("E1: uncaught, it keeps its type in the tool result", async () => {
    expect(await error('async () => await crm.get_record({ id: "gone" })')).toMatchObject({
      code: "not_found",
      address: "crm.get_record",
    });
  });

  test("V: writes are refused inside programs, with the way outside", async () => {
    expect(await error('return crm.update_record({ id: "r7" })')).toMatchObject({
      code: "destructive_tool_requires_approval",
      nextAction: { tool: "call_destructive_tool" },
    });
    expect(fixture.written).toEqual([]);
  });

  test("E3: a miss inside leads to connecta.search", async () => {
    expect(await error('return connecta.call("crm.get_recrod")')).toMatchObject({
      code: "unknown_tool",
      nextAction: { function: "connecta.search" },
    });
  });

  test("S1, S6: search and describe answer as documented", async () => {
    const code = `async () => {
      const page = await connecta.search({ query: "record", limit: 1, includeSchemas: true });
      const [known, unknown] = await connecta.describe({ addresses: ["crm.get_record", "crm.nope"] });
      return { tools: page.tools.length, limit: page.limit, required: known.inputSchema.required, ok: unknown.ok, code: unknown.error.code };
    }`;
    expect(await result(code)).toEqual({
      tools: 1,
      limit: 1,
      required: ["id"],
      ok: false,
      code: "unknown_tool",
    });
  });

  test("L1: the twenty-first host call is over budget, naming it", async () => {
    const code = `async () => { for (let i = 0; i < 21; i++) await crm.get_record({ id: "r" + i }); }`;
    expect(await error(code)).toMatchObject({
      code: "budget_exceeded",
      budget: "maxHostCalls",
      remaining: 0,
    });
    expect(await result(code.replace("21", "20"))).toBe(null);
  });

  test("L1: calls at once spend the same budget, by address and by shortcut", async () => {
    for (const one of [
      'connecta.call("crm.get_record", { id: "r" })',
      'crm.get_record({ id: "r" })',
    ]) {
      const code = `return Promise.all(Array.from({ length: 50 }, () => ${one}.then(() => "ran", (e) => e.code)))`;
      const outcomes = (await result(code)) as string[];
      expect(outcomes.filter((outcome) => outcome === "ran")).toHaveLength(20);
      expect(outcomes.filter((outcome) => outcome === "budget_exceeded")).toHaveLength(30);
    }
  });

  test("L1: a batch of eleven is refused whole", async () => {
    const code = `return connecta.batch(Array.from({ length: 11 }, () => ({ address: "crm.get_record", args: { id: "r" } })))`;
    expect(await error(code)).toMatchObject({ code: "budget_exceeded", budget: "maxBatchCalls" });
  });

  test("L1: an argument over its bound is refused, naming address, size and bound", async () => {
    const code = `return connecta.call("crm.get_record", { id: "x".repeat(5000000) })`;
    expect(await error(code)).toMatchObject({
      code: "budget_exceeded",
      budget: "maxArgumentBytes",
      address: "crm.get_record",
      maxBytes: 4_194_304,
    });
  });
});

describe("what a program returns", () => {
  test("R2: a quiet program answers exactly { result }", async () => {
    const answer = await run("async () => ({ n: 1 })");
    expect(answer).toEqual({
      content: [{ type: "text", text: '{"result":{"n":1}}' }],
      structuredContent: { result: { n: 1 } },
    });
  });

  test("R3: logs come in call order, also when the program fails", async () => {
    const code = `async () => { console.log("a", { n: 1 }, [undefined]); console.warn("b"); console.error(new TypeError("c")); `;
    expect((await run(`${code} return 1 }`)).structuredContent).toEqual({
      result: 1,
      logs: 'a {"n":1} [null]\n[warn] b\n[error] TypeError: c',
    });
    const failed = (await run(`${code} throw new Error("no") }`)).structuredContent;
    expect(failed?.logs).toBe('a {"n":1} [null]\n[warn] b\n[error] TypeError: c');
  });

  test("P3: undefined becomes null, toJSON is honoured, properties that are undefined go", async () => {
    expect(await result("async () => undefined")).toBe(null);
    expect(await result("async () => [undefined, { a: undefined, b: new Date(0) }]")).toEqual([
      null,
      { b: "1970-01-01T00:00:00.000Z" },
    ]);
  });

  test.each([
    ["a cycle", "const a = { b: [] }; a.b.push(a); return a;", "result.b[0]"],
    ["a BigInt", "return { a: [1, 2n] }", "result.a[1]"],
    ["a function", "return { a: { f() {} } }", "result.a.f"],
    ["a symbol", "return [Symbol('x')]", "result[0]"],
    ["NaN", "return { n: NaN }", "result.n"],
    ["an infinity", "return [[1], [Infinity]]", "result[1][0]"],
    ["a Map", "return { m: new Map() }", "result.m"],
    ["a Set", "return new Set()", "result"],
    ["a typed array", "return { d: { t: new Uint8Array(2) } }", "result.d.t"],
    ["a promise", "return { p: connecta.search({}) }", "result.p"],
  ])("P3: %s is not_serializable at its path", async (_, body, path) => {
    expect(await error(body)).toMatchObject({ code: "not_serializable", path });
  });

  test("P3: an argument outside JSON is refused at its path", async () => {
    expect(await error("return crm.get_record({ id: { deep: [1n] } })")).toMatchObject({
      code: "not_serializable",
      path: "args.id.deep[0]",
    });
  });

  test("R1: a long return is cut, says its size, and is a success", async () => {
    const answer = await run('async () => "y".repeat(60000)');
    expect(answer.isError).toBeUndefined();
    const cut = answer.structuredContent?.result as Record<string, unknown>;
    expect(cut).toMatchObject({ truncated: true, totalChars: 60_002 });
    expect(JSON.stringify(cut).length).toBeLessThanOrEqual(24_000);
    expect(await result('async () => "y".repeat(23998)')).toBe("y".repeat(23_998));
  });

  test("E1: the program's own throw is program_error with line and column", async () => {
    const code = "async () => {\n  const a = 1;\n  throw new RangeError('bad');\n}";
    const thrown = await error(code);
    expect(thrown).toMatchObject({ code: "program_error", line: 3 });
    expect(thrown.message).toMatch(/^RangeError: bad \(line 3, column \d+\)$/);
    expect(await error("const a = null;\nreturn a.b;")).toMatchObject({ line: 2 });
    expect(await error("throw 'text'")).toMatchObject({ message: "Threw text" });
  });

  test("E1: a syntax error says where", async () => {
    expect(await error("async () => {\n  let 1a;\n}")).toMatchObject({
      code: "invalid_program",
      line: 2,
      column: 8,
      excerpt: "  let 1a;\n       ^",
    });
  });

  test("E2: limits by name", async () => {
    expect(await error("while (true);")).toMatchObject({ code: "executor_limit", limit: "cpu" });
    expect(await error("const f = () => f() + 1; return f();")).toMatchObject({
      code: "executor_limit",
      limit: "stack",
    });
    expect(await result("return 1")).toBe(1);
  });

  test("E2: holding too much memory is executor_limit, naming memory", async () => {
    const small = fixtureGateway({ execute: { heapBytes: 4 * 1024 * 1024 } });
    try {
      const failed = await programs(() => small).error(
        "const a = []; for (;;) a.push(new Uint8Array(100000));",
      );
      expect(failed).toMatchObject({ code: "executor_limit", limit: "memory" });
    } finally {
      await small.connecta.close();
    }
  });

  test("P4: nothing survives a run", async () => {
    await run(
      "globalThis.left = 1; Object.prototype.left = 2; Array.prototype.map = null; return 1",
    );
    expect(await result("return [typeof left, typeof ({}).left, typeof [].map]")).toEqual([
      "undefined",
      "undefined",
      "function",
    ]);
  });

  test("P2: there is nothing else to reach", async () => {
    const names =
      "fetch XMLHttpRequest setTimeout setInterval queueMicrotask process require module global window self WebAssembly navigator performance Buffer structuredClone InternalError";
    expect(
      await result(
        `return "${names}".split(" ").filter((n) => typeof globalThis[n] !== "undefined")`,
      ),
    ).toEqual([]);
  });

  test("R4: diagnostics are numbers only", async () => {
    const answer = await run(
      'async () => (await crm.get_record({ id: "secret-id" })).amount',
      true,
    );
    const diagnostics = answer.structuredContent?.diagnostics as Record<string, unknown>;
    const leaves = JSON.stringify(diagnostics, (_, value: unknown) =>
      typeof value === "string" ? "text" : value,
    );
    expect(leaves).not.toContain("text");
    expect(diagnostics).toMatchObject({ hostCalls: { count: 1 }, sourceBytes: 62 });
  });
});

describe("syntax errors that only the interpreter finds", () => {
  test.each([
    ["a name declared twice", "async () => {\n  let a = 1;\n  let a = 2;\n}"],
    ["a broken regular expression", "async () => {\n  const a = 1;\n  return /(/.test(a);\n}"],
  ])("P1: %s is invalid_program at its line", async (_, code) => {
    const failed = await error(code);
    expect(failed).toMatchObject({ code: "invalid_program", line: 3 });
    expect(failed.message).toMatch(/^Line 3, column \d+: /);
    expect(failed.excerpt).toMatch(/^ {2}(let a = 2|return)/);
  });

  test("E5: control: a SyntaxError that the program throws is its own", async () => {
    expect(await error('throw new SyntaxError("mine")')).toMatchObject({ code: "program_error" });
    expect(await error('return new Function("let a; let a")')).toMatchObject({
      code: "program_error",
    });
  });
});
