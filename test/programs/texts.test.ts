import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Connector } from "../../server/index.ts";
import { ok } from "../../server/shared/failure.ts";
import { fixtureGateway, programs, type Fixture } from "../support/gateway.ts";

/** Texts at the border of JSON, each of which a downstream server could send. */
const TEXTS = [
  ...["", " ", "1", " 1\r\n", "01", "-01", "1.", ".5", "+1", "-", "1e5", "1E+5", "1e", "-0", "00"],
  ...["0x10", "1_000", "123n", "12345678901234567890", "1e-400", "NaN", "Infinity", "undefined"],
  ...[
    "null",
    "nul",
    "true",
    "TRUE",
    "truefalse",
    "None",
    "'a'",
    '"a"',
    '"a',
    "`a`",
    '"\t"',
    '"\n"',
  ],
  ...['"\u0001"', '"\u007f"', '"\u2028"', '"\\x41"', '"\\u00"', '"\\u0041"', '"\\ud800"', '"\\0"'],
  ...['"\\/"', '"\\v"', "[1,]", "[,1]", "[1 2]", "[]", "[1],[2]", "1,2", "[1]]", "[1,2", "]", "}"],
  ...['{"a":1,}', "{a:1}", "{'a':1}", '{"a":1,"a":2}', '{"__proto__":1}', '{"":1}', "{}{}", ":"],
  ...["// c\n1", "1 // c", "\ufeff1", "\u00a01", "\v1", "\f1", "\u20281", "1;", "(1)", "[NaN]"],
  ...['"😀"', '"\\ud83d\\ude00"', "漢字", "~", "~00000002{}", "[[[[1]]]]", '{"ok":false,"id":1}'],
  ...["\u0000", '"\u0000"', "1\u0000", "\ud800", '"\ud800"', '["\udc00"]'],
];

/** JSON of one kind of rows that is exactly so many bytes long. */
function jsonOf(bytes: number, note: string): string {
  const row = (id: number) => `{"id":${id},"note":"${note}"}`;
  const per = Buffer.byteLength(row(100_000)) + 1;
  const count = Math.floor(bytes / per) - 1;
  const list = `[${Array.from({ length: count }, (_, index) => row(100_000 + index)).join()}]`;
  return list + " ".repeat(bytes - Buffer.byteLength(list));
}

const MAX = 8 * 1024 * 1024;
const LARGE: Readonly<Record<string, string>> = {
  full: jsonOf(MAX, "as long as most notes are"),
  object: JSON.stringify({ a: "x".repeat(MAX - 8) }),
  larger: JSON.stringify({ a: "x".repeat(MAX - 7) }),
  wide: jsonOf(MAX, "as löng as möst nötes are"),
  plain: "plain text ".repeat(MAX / 11).padEnd(MAX, "."),
  part: jsonOf(MAX / 10 - 1, "a tenth"),
  tenth: "no JSON".padEnd(MAX / 10 - 1, "."),
};

/** A connector that answers what an MCP server would: texts, or the structure that they hold. */
const down: Connector = {
  id: "down",
  kind: "mcp",
  listTools: async () =>
    ok(
      ["text", "structured"].map((name) => ({
        name,
        description: name,
        inputSchema: { type: "object" },
        annotations: { readOnlyHint: true },
      })),
    ),
  callTool: async (name, args) => {
    const { at, of } = args as { at?: number; of?: string };
    const text = (of === undefined ? TEXTS[at ?? -1] : LARGE[of]) ?? "";
    if (name === "text") return ok({ kind: "mcp", content: [{ type: "text", text }] });
    return ok({ kind: "mcp", content: [], structuredContent: JSON.parse(text) as unknown });
  },
};

let fixture: Fixture;
beforeAll(() => {
  fixture = fixtureGateway({ connectors: [down], execute: { maxHostCalls: 1_000, cpuMs: 5_000 } });
});
afterAll(() => fixture.connecta.close());
const { result, error } = programs(() => fixture);

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** What each text must be, as JSON; the program itself says where it is something else. */
const EXPECTED = JSON.stringify(TEXTS.map((text) => JSON.stringify(parsed(text))));

describe("texts of MCP servers inside a program", () => {
  test.each([
    ["a call", 'connecta.call("down.text", { at })'],
    ["a shortcut", "down.text({ at })"],
  ])("%s gives what JSON.parse gives, or the text", async (_, call) => {
    const code = `const expected = ${EXPECTED}; const wrong = [];
      for (let at = 0; at < expected.length; at++) {
        const got = JSON.stringify(await ${call});
        if (got !== expected[at]) wrong.push([at, got]);
      }
      return [expected.length, wrong]`;
    expect(await result(code)).toEqual([TEXTS.length, []]);
  });

  test("so does a batch, in order, beside values and failures", async () => {
    const code = `const expected = ${EXPECTED}; const wrong = [];
      for (let at = 0; at < expected.length; at += 2) {
        const entries = await connecta.batch([
          { address: "down.text", args: { at } },
          { address: "down.gone" },
          { address: "down.structured", args: { at: 2 } },
          { address: "down.text", args: { at: at + 1 } },
        ]);
        const [one, gone, structured, other] = entries;
        for (const [index, { data }] of [[at, one], [at + 1, other]]) {
          const got = JSON.stringify(data);
          if (got !== (expected[index] ?? '""')) wrong.push([index, got]);
        }
        if (structured.data !== 1 || gone.error.code !== "unknown_tool") wrong.push(entries);
        if (Object.keys(one).join() !== "address,ok,data") wrong.push(one);
      }
      return [expected.length, wrong]`;
    expect(await result(code)).toEqual([TEXTS.length, []]);
  });

  test("a program that changes what everything inherits gets the same", async () => {
    const pollute = `for (const name of ["texts", "text", "at", "chars", "data", "head", "ok", "value"]) {
        Object.defineProperty(Object.prototype, name, { set() { throw new Error(name) }, get: () => [1] });
      }
      Array.prototype[Symbol.iterator] = () => { throw new Error("iterator") };
      String.prototype.slice = String.prototype.charAt = () => "x";
      JSON.parse = () => 0;`;
    const at = TEXTS.indexOf("[[[[1]]]]");
    const code = `${pollute}
      const entries = await connecta.batch([{ address: "down.text", args: { at: ${at} } }]);
      return [await connecta.call("down.text", { at: ${at} }), entries[0].data]`;
    expect(await result(code)).toEqual([[[[[1]]]], [[[[1]]]]]);
  });

  test("nesting that the interpreter cannot take ends the run by name", async () => {
    const deep = fixtureGateway({
      connectors: [
        {
          ...down,
          callTool: async () =>
            ok({ kind: "mcp", content: [{ type: "text", text: "[".repeat(200_000) }] }),
        },
      ],
    });
    try {
      expect(await programs(() => deep).error("return down.text({})")).toMatchObject({
        code: "executor_limit",
        limit: "stack",
      });
    } finally {
      await deep.connecta.close();
    }
  });
});

describe("large answers", () => {
  const reduce = (call: string) => `const rows = await ${call}; return [rows.length, rows.at(-1)]`;
  const last = (text: string) => {
    const rows = JSON.parse(text) as unknown[];
    return [rows.length, rows.at(-1)];
  };

  test.each([
    ["a text that is JSON", 'down.text({ of: "full" })', last(LARGE.full ?? "")],
    ["a wide text that is JSON", 'down.text({ of: "wide" })', last(LARGE.wide ?? "")],
    ["structured content", 'down.structured({ of: "full" })', last(LARGE.full ?? "")],
    ["a text that is none", 'down.text({ of: "plain" })', [MAX, "."]],
  ])("L1: %s of 8 MiB is reduced", async (_, call, expected) => {
    expect(await result(reduce(call))).toEqual(expected);
  });

  test.each(["text", "structured"])("L1: %s of one byte more is not", async (name) => {
    expect(await result(`return (await down.${name}({ of: "object" })).a.length`)).toBe(MAX - 8);
    expect(await error(`return down.${name}({ of: "larger" })`)).toMatchObject({
      code: "result_too_large",
      address: `down.${name}`,
      bytes: MAX + 1,
      maxBytes: MAX,
    });
  });

  test("L1: the answers of a batch share the bound, whatever they are", async () => {
    const batch = (count: number, of: string) =>
      `Array(${count}).fill({ address: "down.text", args: { of: "${of}" } })`;
    const code = `const all = await connecta.batch([...${batch(5, "part")}, ...${batch(5, "tenth")}]);
      return all.map(({ ok, data, error }) => ok ? data.length : error.code)`;
    const rows = (JSON.parse(LARGE.part ?? "") as unknown[]).length;
    const chars = LARGE.tenth?.length;
    expect(await result(code)).toEqual([...Array(5).fill(rows), ...Array(5).fill(chars)]);
    const over = `const all = await connecta.batch([{ address: "down.text", args: { of: "full" } },
        { address: "down.text", args: { at: 2 } }]);
      return all.map(({ ok, data, error }) => ok ? data.length : [error.code, error.bytes])`;
    expect(await result(over)).toEqual([last(LARGE.full ?? "")[0], ["result_too_large", 1]]);
  });
});
