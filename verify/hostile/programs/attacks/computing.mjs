/** What every attack on processor time comes to. */
const cpu = { code: "executor_limit", limit: "cpu" };

/** In a native call that nothing inside the interpreter can stop. */
const stuck = { ...cpu, mayCrash: true, lands: "hangs" };

const ENDLESS = "{ length: 2 ** 53 - 1 }";

/** @type {import("../attacks.mjs").Attack[]} */
export const COMPUTING = [
  { title: "an infinite loop", program: "async () => { for (;;); }", ...cpu },
  {
    title: "indexOf on an array-like of length 2^53-1",
    program: `async () => Array.prototype.indexOf.call(${ENDLESS}, 1)`,
    ...stuck,
  },
  {
    title: "includes on an array-like of length 2^53-1",
    program: `async () => Array.prototype.includes.call(${ENDLESS}, 1)`,
    ...stuck,
  },
  {
    title: "reverse on an array-like of length 2^53-1",
    program: `async () => Array.prototype.reverse.call(${ENDLESS})`,
    ...stuck,
  },
  {
    title: "join on an array-like of length 2^53-1",
    program: `async () => Array.prototype.join.call(${ENDLESS}, "")`,
    ...stuck,
  },
  {
    title: "a megabyte needle in a string of megabytes",
    program: `async () => "a".repeat(2 ** 21).indexOf("a".repeat(2 ** 20) + "b")`,
    ...stuck,
  },
  {
    title: "a regular expression that tries every way",
    program: `async () => /^(?:a+)+$/.test("a".repeat(64) + "b")`,
    ...cpu,
    mayCrash: true,
  },
  {
    title: "a loop in a getter of the result",
    program: "async () => ({ get endless() { for (;;); } })",
    ...cpu,
  },
  {
    title: "a loop in a getter of an argument",
    program: "async () => data.echo({ get endless() { for (;;); } })",
    ...cpu,
  },
  {
    title: "a loop in toJSON of the result",
    program: "async () => ({ toJSON() { for (;;); } })",
    ...cpu,
  },
  {
    title: "a loop in the name of what it throws",
    program:
      "async () => { throw Object.defineProperty(new Error(), 'name', { get() { for (;;); } }) }",
    ...cpu,
  },
  {
    title: "a loop in the text of what it logs",
    program: "async () => console.log({ toJSON() { for (;;); } })",
    ...cpu,
  },
  {
    title: "a loop in the then of what it returns",
    program: "async () => ({ then() { for (;;); } })",
    ...cpu,
  },
  {
    title: "a loop in a trap of a proxy that it returns",
    program: "async () => new Proxy({}, { ownKeys() { for (;;); } })",
    ...cpu,
  },
  {
    title: "a chain of promises that never stalls",
    program: "async () => { for (;;) await null; }",
    ...cpu,
  },
  {
    title: "a promise that every reaction makes anew",
    program: "async () => { const again = () => Promise.resolve().then(again); return again(); }",
    ...cpu,
  },
  {
    title: "a loop that swallows what interrupts it",
    program: "async () => { for (;;) { try { for (;;); } catch {} finally { for (;;); } } }",
    ...cpu,
  },
  {
    title: "a loop that calls async functions, which swallow what interrupts them",
    program: "async () => { const endless = async () => { for (;;); }; for (;;) endless(); }",
    ...cpu,
  },
  {
    title: "a loop that makes promises, which swallow what interrupts them",
    program: "async () => { for (;;) new Promise(() => { for (;;); }); }",
    ...cpu,
  },
  {
    title: "a loop that resolves with thenables, which swallow what interrupts them",
    program: "async () => { for (;;) Promise.resolve({ get then() { for (;;); } }); }",
    ...cpu,
  },
  {
    title: "a loop that leaves iterators, which swallow what interrupts them",
    program: `async () => {
      const endless = { [Symbol.iterator]: () => ({ next: () => ({}), return() { for (;;); } }) };
      for (;;) { try { for (const _ of endless) throw 1; } catch {} }
    }`,
    ...cpu,
  },
  {
    title: "native calls without a loop that could be stopped, one after the other",
    program: `async () => {
      const text = "x".repeat(5_000_000);
      for (let i = 0; i < 200; i++) text.replaceAll("x", "y");
    }`,
    ...cpu,
    mayCrash: true,
  },
  {
    title: "a loop after a host call, in small pieces",
    program: `async () => {
      for (;;) {
        await data.read().catch(() => null);
        for (let i = 0; i < 10_000; i++);
      }
    }`,
    ...cpu,
  },
];
