const own = { code: "program_error" };
const outside = { code: "not_serializable" };

/** Reads back what a tool echoes, and whether nothing of it changed. */
const roundTrip = (text) => `async () => {
  const text = ${text};
  const { echoed } = await data.echo({ echoed: text });
  return echoed === text;
}`;

/** @type {import("../attacks.mjs").Attack[]} */
export const VALUES = [
  {
    title: "a result with a getter that throws",
    program: `async () => ({ get broken() { throw new Error("no value"); } })`,
    ...own,
  },
  {
    title: "a result with a getter that throws nothing at all",
    program: `async () => ({ get broken() { throw undefined; } })`,
    ...own,
  },
  {
    title: "a result whose toJSON throws a value without text",
    program: `async () => ({ toJSON() { throw { toString() { throw 1; } }; } })`,
    ...own,
  },
  {
    title: "a proxy that throws from every trap",
    program: `async () => new Proxy({}, new Proxy({}, { get() { throw new Error("no trap"); } }))`,
    ...own,
  },
  {
    title: "a revoked proxy",
    program:
      "async () => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return { proxy }; }",
    ...own,
  },
  {
    title: "a throw of a revoked proxy",
    program:
      "async () => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy; }",
    ...own,
  },
  {
    title: "a throw of nothing",
    program: "async () => { throw undefined; }",
    ...own,
  },
  { title: "a cycle", program: "async () => { const a = {}; a.a = [a]; return a; }", ...outside },
  { title: "a BigInt", program: "async () => ({ big: 1n })", ...outside },
  {
    title: "an array that says that it is endless",
    program:
      "async () => new Proxy([], { get: (of, name) => (name === 'length' ? 2 ** 53 - 1 : 1) })",
    code: "executor_limit",
  },
  {
    title: "halves of surrogate pairs in a result",
    program: String.raw`async () => ["\ud800", "\udc00\ud800", "a\udfff", { "\ud800": "\udbff" }]`,
    code: "ok",
    result: ["\ud800", "\udc00\ud800", "a\udfff", { "\ud800": "\udbff" }],
  },
  {
    title: "halves of surrogate pairs in an argument",
    program: roundTrip(String.raw`"\ud800\udc00\udc00\ud800x\udfff"`),
    code: "ok",
    result: true,
  },
  {
    title: "every two-byte unit there is, there and back",
    program: roundTrip(
      "Array.from({ length: 65_536 }, (_, unit) => String.fromCharCode(unit)).join('')",
    ),
    code: "ok",
    result: true,
  },
  {
    title: "every unit in the order that makes no pair, there and back",
    program: roundTrip(
      "Array.from({ length: 65_536 }, (_, unit) => String.fromCharCode(65_535 - unit)).join('')",
    ),
    code: "ok",
    result: true,
  },
  {
    title: "half of a pair as an error's message",
    program: String.raw`async () => { throw new Error("\ud800 \0 \udc00"); }`,
    ...own,
  },
  {
    title: "half of a pair as an address",
    program: String.raw`async () => connecta.call("data.\ud800")`,
    code: "unknown_tool",
  },
  {
    title: "half of a pair in the source itself",
    program: 'async () => "\ud800".length',
    code: "ok",
    result: 1,
  },
  {
    title: "NUL in a result, a log and an argument",
    program: String.raw`async () => {
      console.log("before\0after");
      return (await data.echo({ "a\0b": "\0" }))["a\0b"] + "\0";
    }`,
    code: "ok",
    result: "\0\0",
  },
  {
    title: "NUL in the source itself",
    program: 'async () => "a\0b".length',
    code: "ok",
    result: 3,
  },
  {
    title: "four megabytes of source in a single line",
    program: () => `async () => "${"x".repeat(4_000_000)}".length`,
    code: "budget_exceeded",
  },
  {
    title: "a megabyte of source in a single line",
    program: () => `async () => "${"x".repeat(1_000_000)}".length`,
    code: "ok",
    result: 1_000_000,
  },
  {
    title: "a megabyte of statements in a single line",
    program: () => `async () => { ${"1;".repeat(450_000)} return "read"; }`,
    code: "ok",
    result: "read",
  },
  {
    title: "a megabyte of mistakes in a single line",
    program: () => `async () => { ${"x y ".repeat(250_000)} }`,
    code: "invalid_program",
  },
  {
    title: "a typed array",
    program: "async () => ({ bytes: new Uint8Array(8) })",
    ...outside,
  },
  {
    title: "a symbol under a key",
    program: "async () => ({ list: [Symbol.iterator] })",
    ...outside,
  },
];
