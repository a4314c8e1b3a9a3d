import {
  expect,
  alike,
  answers,
  each,
  fails,
  mapped,
  resultThat,
  succeeds,
  type Case,
} from "../case.ts";

const at = (path: string) =>
  fails({ code: "not_serializable", path, message: expect.stringContaining(path) });

/** What JSON would lose or refuse, wherever it crosses the bridge. */
const FOREIGN: readonly Case[] = [
  {
    clauses: ["P3", "E1"],
    title: "a returned value outside JSON ends the run, naming its path",
    inputs: each({
      "a cycle": ["const a = { b: [] }; a.b.push(a); return a;", at("result.b[0]")],
      "a cycle of arrays": ["const a = []; a.push([a]); return { a };", at("result.a[0][0]")],
      "a BigInt": ["return { a: [1, 2n] }", at("result.a[1]")],
      "a boxed BigInt": ["return { a: Object(1n) }", at("result.a")],
      "a function": ["return { a: { f() {} } }", at("result.a.f")],
      "a class": ["return [class A {}]", at("result[0]")],
      "a symbol": ["return [Symbol('x')]", at("result[0]")],
      NaN: ["return { n: NaN }", at("result.n")],
      "an infinity": ["return [[1], [Infinity]]", at("result[1][0]")],
      "a negative infinity": ["return -Infinity", at("result")],
      "a Map": ["return { m: new Map([[1, 2]]) }", at("result.m")],
      "a Set": ["return new Set([1])", at("result")],
      "a typed array": ["return { d: { t: new Uint8Array(2) } }", at("result.d.t")],
      "an ArrayBuffer": ["return { d: new ArrayBuffer(2) }", at("result.d")],
      "a promise that was not awaited": [
        "return { p: crm.get_record({ id: 'a' }) }",
        at("result.p"),
      ],
      "a function at the top": ["return () => 1", at("result")],
      "a BigInt at the top": ["return 1n", at("result")],
      "what toJSON answers": ["return { a: { toJSON: () => 1n } }", at("result.a")],
      "an element among many": [
        "return Array.from({ length: 50 }, (_, i) => ({ i, v: i === 37 ? NaN : i }))",
        at("result[37].v"),
      ],
    }),
  },
  {
    clauses: ["P3"],
    title: "a value outside JSON given to the bridge is refused at its path, and can be caught",
    inputs: each({
      "an argument of a call": [
        'return connecta.call("crm.echo", { id: { deep: [1n] } })',
        at("args.id.deep[0]"),
      ],
      "an argument of a shortcut": ["return crm.echo({ when: new Map() })", at("args.when")],
      "an argument in a batch": [
        'return connecta.batch([{ address: "crm.echo" }, { address: "crm.echo", args: { n: NaN } }])',
        at("calls[1].args.n"),
      ],
      "an option of search": ["return connecta.search({ limit: 1n })", at("options.limit")],
      "an option of describe": [
        "return connecta.describe({ addresses: [() => 1] })",
        at("options.addresses[0]"),
      ],
      "a field of a block": [
        'return connecta.emit({ type: "text", text: Symbol("a") })',
        at("block.text"),
      ],
      "a fixed argument of a read": [
        'return connecta.ui("<p>", { reads: { a: { address: "crm.echo", fixedArgs: { n: 1n } } } })',
        at("options.reads.a.fixedArgs.n"),
      ],
      "the page of a view": ["return connecta.ui(() => '<p>')", at("html")],
      "caught, the program goes on": [
        "try { await crm.echo({ n: 1n }) } catch (e) { return [e instanceof Error, e.code, e.path, e.retryable] }",
        answers([true, "not_serializable", "args.n", false]),
      ],
    }),
  },
];

/** What JSON has, crosses as JSON says. */
const JSON_VALUES: readonly Case[] = [
  {
    clauses: ["P3"],
    title: "undefined becomes null at the top and in arrays, and is no property",
    inputs: each({
      "at the top": ["async () => undefined", answers(null)],
      "no return in a function": ["async () => {}", answers(null)],
      "in arrays, holes too": [
        "return [undefined, [undefined], , 1]",
        answers([null, [null], null, 1]),
      ],
      "as a property": [
        "return { a: undefined, b: { c: undefined }, d: [{ e: undefined }] }",
        answers({ b: {}, d: [{}] }),
      ],
      "in arguments": [
        "return crm.echo({ a: undefined, b: [undefined], c: null })",
        answers({ b: [null], c: null }),
      ],
      "as arguments": [
        'return [await connecta.call("crm.echo", undefined), await crm.echo()]',
        answers([{}, {}]),
      ],
      "as the answer of a tool": ["return [await probe.nothing({})]", answers([null])],
    }),
  },
  {
    clauses: ["P3"],
    title: "toJSON is honoured, by what comes out and by what goes to tools",
    inputs: each({
      "a date": ["return { at: new Date(0) }", answers({ at: "1970-01-01T00:00:00.000Z" })],
      "an invalid date": ["return [new Date(NaN)]", answers([null])],
      "a class of the program's own": [
        "class Money { constructor(n) { this.n = n } toJSON() { return { cents: this.n } } }\nreturn [new Money(5)]",
        answers([{ cents: 5 }]),
      ],
      "at the top": ["return { toJSON: () => [1] }", answers([1])],
      "that answers undefined": [
        "return { a: { toJSON: () => undefined }, b: [{ toJSON() {} }] }",
        answers({ b: [null] }),
      ],
      "in arguments": [
        "return crm.echo({ at: new Date(0) })",
        answers({ at: "1970-01-01T00:00:00.000Z" }),
      ],
    }),
  },
  {
    clauses: ["P3"],
    title: "everything that JSON has arrives as it left, in both directions",
    inputs: each({
      scalars: [
        'return crm.echo({ a: [0, -0.5, 1e21, true, null, "", "x"] })',
        answers({ a: [0, -0.5, 1e21, true, null, "", "x"] }),
      ],
      "text beyond one byte": [
        'return crm.echo({ a: "é日本😀\\u2028\\u0000\\n\\"" })',
        answers({ a: 'é日本😀\u2028\u0000\n"' }),
      ],
      "half of a surrogate pair": [
        'return [await crm.echo({ a: "a\\ud800b" }), "\\udc00"]',
        answers([{ a: "a\ud800b" }, "\udc00"]),
      ],
      "names that objects reserve": [
        'const a = JSON.parse(\'{"__proto__":1,"constructor":2,"then":3}\');\nreturn [JSON.stringify(await crm.echo(a)), Object.keys(a)]',
        answers(['{"__proto__":1,"constructor":2,"then":3}', ["__proto__", "constructor", "then"]]),
      ],
      "an instance as its own fields": [
        "class A { #hidden = 1; b = 2; get c() { return 3 } }\nreturn new A()",
        answers({ b: 2 }),
      ],
      "an object without a prototype": [
        "return Object.assign(Object.create(null), { a: 1 })",
        answers({ a: 1 }),
      ],
      "the same object twice, which is no cycle": [
        "const a = { n: 1 }; return [a, { a }]",
        answers([{ n: 1 }, { a: { n: 1 } }]),
      ],
      "nesting of a hundred": [
        "let a = 1; for (let i = 0; i < 100; i++) a = [a];\nreturn crm.echo({ a }).then((b) => JSON.stringify(b.a).length)",
        answers(201),
      ],
    }),
  },
  {
    clauses: ["P3"],
    title: "an own __proto__ of the result stays a property of the JSON text",
    code: 'return JSON.parse(\'{"__proto__":{"a":1}}\')',
    check: ({ content }) => {
      expect(content[0]?.text).toBe('{"result":{"__proto__":{"a":1}}}');
    },
  },
  {
    clauses: ["P3", "E1"],
    title: "a getter or toJSON that throws is the program's own error, at its line",
    inputs: alike(
      {
        "a getter": "return {\n  get a() { throw new TypeError('mine') },\n}",
        "a toJSON": "return {\n  a: { toJSON() { throw new TypeError('mine') } },\n}",
      },
      fails({
        code: "program_error",
        line: 2,
        message: expect.stringContaining("TypeError: mine"),
      }),
    ),
  },
];

/** What tools answer becomes a value in the program. */
const FROM_TOOLS: readonly Case[] = [
  {
    clauses: ["P3"],
    title: "an integration's answer is its structure, else its text, read as JSON when it is",
    inputs: each({
      "structured content": ["return mail.structured()", answers({ unread: 2 })],
      "text that is JSON": [`return mail.said({ say: '{"unread":2}' })`, answers({ unread: 2 })],
      "text that is a JSON scalar": [
        `return [await mail.said({ say: "5" }), await mail.said({ say: " null " }), await mail.said({ say: '"a"' })]`,
        answers([5, null, "a"]),
      ],
      "text that is none": [
        `const texts = ["", "{unread", "undefined", "NaN", "é😀\\u0000\\u2028"];
        const said = [];
        for (const say of texts) said.push(await mail.said({ say }) === say);
        return said`,
        answers([true, true, true, true, true]),
      ],
      "all of them in a batch": [
        `const entries = await connecta.batch([
          { address: "mail.structured" }, { address: "mail.said", args: { say: "[1]" } },
          { address: "mail.refused" }, { address: "mail.said", args: { say: "[1" } },
          { address: "mail.image" }, { address: "mail.texts" }]);
        return entries.map(({ ok, data, error }) => ok ? data : error.code)`,
        answers([
          { unread: 2 },
          [1],
          "connector_call_failed",
          "[1",
          { content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] },
          "first\nsecond",
        ]),
      ],
      "several texts": ["return mail.texts()", answers("first\nsecond")],
      "other blocks": [
        "return mail.image()",
        answers({ content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] }),
      ],
      "an error, as a typed failure with its text": [
        "return mail.refused()",
        fails({
          code: "connector_call_failed",
          message: expect.stringContaining("The mailbox is full."),
          address: "mail.refused",
        }),
      ],
    }),
  },
  {
    clauses: ["P3", "E1"],
    title: "a tool's answer without a JSON form is a typed failure of that call",
    code: "try { return await probe.cyclic() } catch (e) { return e.code }",
    check: answers("not_serializable"),
  },
  {
    clauses: ["P3", "L1"],
    title: "a host call brings back its whole eight mebibytes, and a program reduces them",
    code: "const a = await crm.text({ chars: 8 * 1024 * 1024 - 2 });\nreturn [a.length, a.at(-1)]",
    check: answers([8 * 1024 * 1024 - 2, "x"]),
  },
  {
    clauses: ["P3", "L1"],
    title: "a result of many rows is reduced within the limits that nobody set",
    inputs: alike(
      mapped(
        { "as a value": "crm", "as JSON in a text": "mail" },
        (connector) =>
          `const rows = await ${connector}.rows({ count: 60000 });
        return [rows.length, rows.reduce((sum, { id }) => sum + id, 0), rows.at(-1)]`,
      ),
      answers([60_000, 1_799_970_000, { id: 59_999, name: "Row number 59999", tags: ["a"] }]),
    ),
  },
];

/** What is printed can be anything. */
const PRINTED: readonly Case[] = [
  {
    clauses: ["P3", "R3"],
    title: "what has no JSON form may be logged",
    code: `const cycle = {}; cycle.self = cycle;
      console.log(cycle, 1n, Symbol("s"), () => 1, new Map(), NaN, { toJSON() { throw 1 } });
      return 1`,
    check: (answer) => {
      resultThat((result) => expect(result).toBe(1))(answer);
      expect(answer.structuredContent.logs).toMatch(/1.*Symbol\(s\).*NaN/);
    },
  },
  {
    clauses: ["P3"],
    title: "numbers, texts and booleans may be the whole result",
    inputs: each({
      "a number": ["return 0", answers(0)],
      "an empty text": ["return ''", answers("")],
      "a boolean": ["return false", answers(false)],
      null: ["return null", succeeds({ result: null })],
    }),
  },
];

/** What crosses the bridge, and how. */
export const values: readonly Case[] = [...FOREIGN, ...JSON_VALUES, ...FROM_TOOLS, ...PRINTED];
