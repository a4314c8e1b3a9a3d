const own = { code: "program_error" };

/** Names of everything that a program could reach the machine by. */
const ABSENT = [
  "process",
  "require",
  "module",
  "fetch",
  "XMLHttpRequest",
  "WebSocket",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "queueMicrotask",
  "performance",
  "WebAssembly",
  "SharedArrayBuffer",
  "Atomics",
  "Worker",
  "Deno",
  "Bun",
  "std",
  "os",
  "gc",
  "print",
  "scriptArgs",
];

/** @type {import("../attacks.mjs").Attack[]} */
export const SURROUNDINGS = [
  {
    title: "everything that leads to the machine, looked for",
    program: `async () => ${JSON.stringify(ABSENT)}.filter((name) => name in globalThis)`,
    code: "ok",
    result: [],
  },
  {
    title: "Atomics that wait",
    program: "async () => Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)",
    ...own,
  },
  {
    title: "a dynamic import",
    program: `async () => import("node:fs")`,
    code: "invalid_program",
  },
  {
    title: "a dynamic import of data",
    program: `async () => import("data:text/javascript,export default 1")`,
    code: "invalid_program",
  },
  {
    title: "an import in evaluated source",
    program: `async () => (0, eval)('import("node:fs")')`,
    ...own,
  },
  {
    title: "an import statement",
    program: `import fs from "node:fs"; return fs`,
    code: "invalid_program",
  },
  {
    title: "the Function constructor, which stays inside",
    program: `async () => {
      const names = ${JSON.stringify(ABSENT)};
      return Function("names", "return names.filter((name) => name in this)").call(globalThis, names);
    }`,
    code: "ok",
    result: [],
  },
  {
    title: "the constructor of a shortcut's function",
    program: `async () => data.read.constructor("return process")()`,
    ...own,
  },
  {
    title: "the constructors of everything lent",
    program: `async () => {
      const found = new Set();
      for (const lent of [connecta.call, connecta.batch, console.log, data.read, connecta, data]) {
        for (let at = lent; at; at = Object.getPrototypeOf(at)) {
          if (typeof at.constructor === "function" && at !== data) found.add(at.constructor.name);
        }
      }
      return [...found].filter((name) => /process|socket|buffer|server/i.test(name));
    }`,
    code: "ok",
    result: [],
  },
  {
    title: "another Date",
    program: `async () => {
      Date.now = () => 0;
      Date.prototype.getTime = () => { throw new Error("no time"); };
      Date.prototype.toJSON = () => "forged";
      globalThis.Date = class { constructor() { throw new Error("no date"); } };
      return (await data.read()).name;
    }`,
    code: "ok",
    result: "a record",
  },
  {
    title: "a date that is none",
    program: "async () => ({ invalid: new Date(NaN), late: new Date(8.64e15) })",
    code: "ok",
    result: { invalid: null, late: "+275760-09-13T00:00:00.000Z" },
  },
  {
    title: "time spent until a date comes",
    program: "async () => { const end = Date.now() + 20_000; while (Date.now() < end); }",
    code: "executor_limit",
    limit: "cpu",
  },
  {
    title: "a Math.random that is another's",
    program: `async () => { Math.random = () => { throw new Error("no chance"); }; return (await data.read()).name; }`,
    code: "ok",
    result: "a record",
  },
  {
    title: "a hundred thousand random numbers, all of them numbers and hardly any twice",
    program: `async () => {
      const all = Array.from({ length: 100_000 }, Math.random);
      return all.every((one) => one >= 0 && one < 1) && new Set(all).size > 99_900;
    }`,
    code: "ok",
    result: true,
  },
  {
    title: "a buffer that shrinks while a typed array is made on it",
    // The pinned engine does not look at the buffer again: programs have no way to shrink one.
    program: `async () => {
      const buffer = new ArrayBuffer(65_536, { maxByteLength: 65_536 });
      const target = new Proxy(function () {}, {
        get(of, name) {
          if (name !== "prototype") return of[name];
          buffer.resize(8);
          return Uint8Array.prototype;
        },
      });
      const view = Reflect.construct(Uint8Array, [buffer], target);
      const all = [];
      for (let i = 0; i < 1_000; i++) all.push({ i });
      view.fill(255);
      for (let i = 0; i < 1_000; i++) all.push([i]);
      return all.length;
    }`,
    code: "program_error",
  },
];
