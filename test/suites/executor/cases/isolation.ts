import { expect, answers, each, fails, resultThat, type Case } from "../case.ts";

/** Globals of the language itself, in any engine. */
const LANGUAGE = (
  "globalThis Infinity NaN undefined eval isFinite isNaN parseFloat parseInt decodeURI " +
  "decodeURIComponent encodeURI encodeURIComponent escape unescape AggregateError Array ArrayBuffer " +
  "Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date Error EvalError " +
  "FinalizationRegistry Float16Array Float32Array Float64Array Function Int8Array Int16Array " +
  "Int32Array Intl Iterator JSON Map Math Number Object Promise Proxy RangeError ReferenceError " +
  "Reflect RegExp Set String SuppressedError Symbol SyntaxError TypeError URIError Uint8Array " +
  "Uint8ClampedArray Uint16Array Uint32Array WeakMap WeakRef WeakSet DisposableStack " +
  "AsyncDisposableStack"
).split(" ");

const ELSEWHERE =
  "fetch XMLHttpRequest WebSocket Request Response setTimeout setInterval setImmediate queueMicrotask " +
  "process require module exports global window self WebAssembly navigator performance crypto Buffer " +
  "structuredClone caches Deno Bun __dirname SharedArrayBuffer InternalError";

/** What a program has, and that it has nothing else. */
const CAPABILITIES: readonly Case[] = [
  {
    clauses: ["P2"],
    title: "a program's globals are those of the language, connecta, console and one per connector",
    code: "return Object.getOwnPropertyNames(globalThis).sort()",
    check: resultThat((names: readonly string[]) => {
      const added = names.filter((name) => !LANGUAGE.includes(name));
      expect(added.sort()).toEqual(
        ["connecta", "console", "crm", "mail", "new_", "odd", "probe", "tickets_eu"].sort(),
      );
    }),
  },
  {
    clauses: ["P2"],
    title: "no network, timer, process, module, clock or environment is in reach",
    code: `const names = ${JSON.stringify(ELSEWHERE)}.split(" ");
      let hidden = () => "undefined";
      try { hidden = new Function("name", "return typeof globalThis[name]") } catch {} // no text becomes code
      return names.filter((name) => typeof globalThis[name] !== "undefined" || hidden(name) !== "undefined")`,
    check: answers([]),
  },
  {
    clauses: ["P2"],
    title: "connecta has six functions and console five, all of which are functions",
    code: `const kinds = (object) => Object.entries(Object.getOwnPropertyDescriptors(object))
        .map(([name, { value }]) => name + ":" + typeof value).sort();
      return [kinds(connecta), kinds(console)]`,
    check: answers([
      ["batch", "call", "describe", "emit", "search", "ui"].map((name) => `${name}:function`),
      ["debug", "error", "info", "log", "warn"].map((name) => `${name}:function`),
    ]),
  },
  {
    clauses: ["P2"],
    title: "a dynamic import reaches nothing",
    inputs: each({
      "as written": [
        "const name = 'node:fs';\nreturn await import(name)",
        fails({ code: "invalid_program", line: 2, column: 14 }),
      ],
      "of the module itself": [
        "return import.meta",
        fails({ code: "invalid_program", line: 1, column: 8 }),
      ],
      "made of a text": [
        `const outcomes = [];
        const load = async (name) => Function("name", "return import(name)")(name);
        for (const name of ["node:fs", "fs", "./a.js", "https://example.com/a.js", "data:text/javascript,export default 1"]) {
          outcomes.push(await load(name).then(() => "loaded", () => "refused"));
        }
        return [...new Set(outcomes)]`,
        answers(["refused"]),
      ],
    }),
  },
  {
    clauses: ["X3"],
    title: "a program sees neither the environment nor a path of the machine that it runs on",
    code: `let outside = [typeof process, typeof require, typeof module];
      try { outside = Function("return [typeof process, typeof require, typeof module]")() } catch {}
      return [...outside, /node:|file:|[/\\\\]/.test(new Error().stack), typeof globalThis.env]`,
    check: answers(["undefined", "undefined", "undefined", false, "undefined"]),
  },
  {
    clauses: ["P2"],
    title: "Date is a clock that goes, and Math.random does not repeat itself from run to run",
    script: async (gateway) => {
      const code = "return [Date.now(), new Date().getUTCFullYear(), Math.random()]";
      const runs = [await gateway.run(code), await gateway.run(code)].map(
        ({ structuredContent }) => structuredContent.result as [number, number, number],
      );
      for (const [now, year, random] of runs) {
        expect(Math.abs(now - Date.now())).toBeLessThan(60_000);
        expect(year).toBeGreaterThan(2_024);
        expect(random).toBeGreaterThanOrEqual(0);
        expect(random).toBeLessThan(1);
      }
      expect(runs[0]?.[2]).not.toBe(runs[1]?.[2]);
    },
  },
  {
    clauses: ["P2", "E5"],
    title: "what the gateway lends cannot be replaced, extended or looked through",
    code: `const tries = [
        () => { connecta.call = () => 1 },
        () => { connecta.more = 1 },
        () => { delete connecta.emit },
        () => { Object.setPrototypeOf(connecta, { x: 1 }) },
        () => { connecta = {} },
      ];
      const refused = tries.filter((attempt) => { try { attempt(); return false } catch { return true } });
      return [refused.length, typeof $connecta, await connecta.call("crm.echo", { a: 1 })]`,
    check: answers([5, "undefined", { a: 1 }]),
  },
];

const LEAVE_BEHIND = `
  globalThis.left = 1;
  var also = 2;
  Object.prototype.left = 3;
  Array.prototype.map = null;
  Promise.prototype.then = null;
  JSON.stringify = () => "no";
  Math.random = () => 0.5;
  console.log = null;
  try { crm = undefined } catch {}
  try { connecta.left = 4 } catch {}
  Symbol.left = 5;
  /(a)/.exec("a");`;

const LOOK = `return [typeof left, typeof also, typeof ({}).left, typeof [].map, typeof Promise.prototype.then,
  JSON.stringify([1]), Math.random() === 0.5, typeof console.log, typeof crm, typeof Symbol.left]`;

const UNTOUCHED = [
  "undefined",
  "undefined",
  "undefined",
  "function",
  "function",
  "[1]",
  false,
  "function",
  "object",
  "undefined",
];

/** What one run does stays in it. */
const RUNS: readonly Case[] = [
  {
    clauses: ["P4"],
    title: "no global, prototype change or replaced built-in reaches the next program",
    script: async (gateway) => {
      for (let i = 0; i < 3; i++) {
        await gateway.run(`${LEAVE_BEHIND}\nreturn 1`);
        await gateway.run(`${LEAVE_BEHIND}\nthrow new Error("no")`);
        answers(UNTOUCHED)(await gateway.run(LOOK));
      }
    },
  },
  {
    clauses: ["P4"],
    title: "programs that run at the same time see nothing of each other",
    script: async (gateway) => {
      const code = (name: string) => `
        globalThis.mine = "${name}"; Object.prototype.mine = "${name}";
        await probe.meet({ key: "apart", count: 2 });
        return [mine, ({}).mine]`;
      const [first, second] = await Promise.all([gateway.run(code("a")), gateway.run(code("b"))]);
      answers(["a", "a"])(first);
      answers(["b", "b"])(second);
    },
  },
  {
    clauses: ["P4", "E5"],
    title: "a program that breaks every prototype harms itself alone",
    script: async (gateway) => {
      const broken = await gateway.run(`
        for (const C of [Object, Array, Promise, Error, String, Function, RegExp, Map, WeakMap, Proxy, Date]) {
          for (const target of [C, C.prototype ?? {}]) {
            for (const name of Object.getOwnPropertyNames(target)) {
              try { target[name] = () => { throw 1 } } catch {}
            }
          }
        }
        return connecta.search({ query: "x" })`);
      expect(["result", "error"]).toContain(Object.keys(broken.structuredContent)[0]);
      answers(2)(await gateway.run("return 2"));
    },
  },
];

/** What a program can reach, and what remains of it. */
export const isolation: readonly Case[] = [...CAPABILITIES, ...RUNS];
