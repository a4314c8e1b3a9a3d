const unknownTool = { code: "unknown_tool" };
const unknownAddress = { code: "unknown_address" };

/** What a tool saw of arguments whose names objects inherit: own members and nothing else. */
const seen = (...keys) => ({ keys, ordinary: true, polluted: false });

/** @type {import("../attacks.mjs").Attack[]} */
export const NAMES = [
  {
    title: "tools under names that objects inherit",
    program: `async () => {
      const names = ["__proto__", "constructor", "toString", "then", "toJSON"];
      return Promise.all(names.map((name) => connecta.call("inherited." + name)));
    }`,
    code: "ok",
    result: ["tool __proto__", "tool constructor", "tool toString", "tool then", "tool toJSON"],
  },
  {
    title: "shortcuts under names that objects inherit",
    program: `async () => [
      await inherited.__proto__(), await inherited.constructor(), await inherited.toString(),
    ]`,
    code: "ok",
    result: ["tool __proto__", "tool constructor", "tool toString"],
  },
  ...["__proto__", "constructor", "toString", "hasOwnProperty"].flatMap((name) => [
    {
      title: `${name} as a tool that does not exist`,
      program: `async () => connecta.call("data.${name}")`,
      ...unknownTool,
    },
    {
      title: `${name} as a shortcut that does not exist`,
      program: `async () => data["${name}"]()`,
      ...unknownTool,
    },
    {
      title: `${name} as a connector`,
      program: `async () => connecta.call("${name}.${name}")`,
      ...unknownAddress,
    },
  ]),
  {
    title: "an address that is no text",
    program: `async () => connecta.call(["data.read"])`,
    code: "invalid_args",
  },
  {
    title: "an address of a megabyte",
    program: `async () => connecta.call("data." + "read.".repeat(200_000))`,
    ...unknownTool,
  },
  {
    title: "a tool that writes",
    program: "async () => data.write()",
    code: "destructive_tool_requires_approval",
  },
  {
    title: "a tool that writes, by its address in a batch",
    program: `async () => (await connecta.batch([{ address: "data.write" }]))[0].error.code`,
    code: "ok",
    result: "destructive_tool_requires_approval",
  },
  {
    title: "arguments under names that objects inherit",
    program: `async () => data.keys({ ["__proto__"]: { polluted: 1 }, constructor: 1, toString: 2 })`,
    code: "ok",
    result: seen("__proto__", "constructor", "toString"),
  },
  {
    title: "arguments with a prototype of their own",
    program: `async () => data.keys(Object.create({ polluted: 1 }, { own: { value: 1, enumerable: true } }))`,
    code: "ok",
    result: seen("own"),
  },
  ...["__proto__", "constructor", "toString"].map((name) => ({
    title: `${name} as an argument that the schema does not know`,
    program: `async () => data.strict({ ["${name}"]: "x" })`,
    code: "invalid_args",
  })),
  {
    title: "a result with own members under names that objects inherit",
    program: `async () => JSON.stringify(await data.echo({ ["__proto__"]: { a: 1 }, constructor: { prototype: 1 } }))`,
    code: "ok",
    result: '{"__proto__":{"a":1},"constructor":{"prototype":1}}',
  },
  {
    title: "options of discovery under names that objects inherit",
    program: `async () => connecta.search({ ["__proto__"]: { limit: 1e9 }, constructor: 1 })`,
    code: "invalid_args",
  },
  {
    title: "a batch entry with members that it inherits",
    program: `async () => (await connecta.batch([Object.create({ address: "data.write" })])).length`,
    code: "invalid_args",
  },
];
