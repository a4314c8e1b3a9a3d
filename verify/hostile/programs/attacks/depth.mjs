const stack = { code: "executor_limit", limit: "stack" };

const nested = (levels) =>
  `let nested = []; for (let i = 0; i < ${levels}; i++) nested = [nested];`;

/** @type {import("../attacks.mjs").Attack[]} */
export const DEPTH = [
  {
    title: "recursion without end",
    program: "async () => { const deeper = () => deeper() + 1; return deeper(); }",
    ...stack,
    lands: "breaks",
  },
  {
    title: "recursion through a getter of the result",
    program: "async () => ({ get deeper() { return [this.deeper]; } })",
    ...stack,
  },
  {
    title: "deep JSON that is parsed",
    program: `async () => JSON.parse("[".repeat(1_000_000) + "]".repeat(1_000_000))`,
    ...stack,
    lands: "breaks",
  },
  {
    title: "deep JSON that is written",
    program: `async () => { ${nested(100_000)} return JSON.stringify(nested).length; }`,
    ...stack,
    lands: "breaks",
  },
  {
    title: "a proxy around a proxy, a hundred thousand times",
    program: `async () => {
      let inner = {};
      for (let i = 0; i < 100_000; i++) inner = new Proxy(inner, {});
      return inner.any;
    }`,
    ...stack,
  },
  {
    title: "source nested so deeply that compiling it aborts the interpreter",
    program: `async () => {
      try { return (0, eval)("[".repeat(100_000) + "]".repeat(100_000)); } catch { return "caught"; }
    }`,
    ...stack,
  },
  {
    title: "a program nested a hundred thousand times",
    program: () => `async () => ${"[".repeat(100_000)}${"]".repeat(100_000)}`,
    code: "invalid_program",
  },
  {
    title: "a result nested a thousand times",
    program: `async () => { ${nested(1_000)} return nested; }`,
    code: "ok",
    result: Array.from({ length: 1_000 }).reduce((inner) => [inner], []),
  },
  {
    title: "a chain of a million promises",
    program: `async () => {
      let last = Promise.resolve(1);
      for (let i = 0; i < 1_000_000; i++) last = last.then((value) => value);
      return last;
    }`,
    code: "executor_limit",
  },
  {
    title: "promises that wait for each other, a hundred thousand deep",
    program: `async () => {
      let last = Promise.resolve(1);
      for (let i = 0; i < 100_000; i++) { const before = last; last = new Promise((resolve) => resolve(before)); }
      return last;
    }`,
    code: "executor_limit",
  },
  {
    title: "stack exhaustion inside an argument of a host call",
    program: `async () => {
      const deeper = () => [deeper()];
      return data.echo({ get deep() { return deeper(); } });
    }`,
    ...stack,
  },
  {
    title: "host calls made where the stack ends",
    program: `async () => {
      const made = [];
      const deeper = () => { try { deeper(); } catch { if (made.length < 5) made.push(data.read()); } };
      deeper();
      const settled = await Promise.allSettled(made);
      return (await data.read()).name;
    }`,
    code: "ok",
    result: "a record",
  },
];
