const overBudget = { code: "budget_exceeded" };

/** @type {import("../attacks.mjs").Attack[]} */
export const CALLS = [
  {
    title: "a million promises that never settle",
    program: `async () => {
      const all = [];
      for (let i = 0; i < 1_000_000; i++) all.push(new Promise(() => {}));
      return Promise.all(all);
    }`,
    code: "executor_limit",
  },
  {
    title: "a hundred thousand host calls at once",
    program: `async () => {
      const all = [];
      for (let i = 0; i < 100_000; i++) all.push(data.read());
      return (await Promise.all(all)).length;
    }`,
    ...overBudget,
  },
  {
    title: "a hundred thousand host calls at once whose failures are caught",
    program: `async () => {
      const all = [];
      for (let i = 0; i < 100_000; i++) all.push(data.read().catch(() => null));
      return (await Promise.all(all)).length;
    }`,
    ...overBudget,
  },
  {
    title: "host calls one after the other, far over the budget",
    program: `async () => {
      const codes = [];
      for (let i = 0; i < 25; i++) {
        try { await data.read(); codes.push("ok"); } catch (error) { codes.push(error.code); }
      }
      return codes.join();
    }`,
    code: "ok",
    result: [...Array(20).fill("ok"), ...Array(5).fill("budget_exceeded")].join(),
  },
  {
    title: "host calls over the budget without end",
    program: "async () => { for (;;) await data.read().catch(() => null); }",
    code: "executor_limit",
    limit: "cpu",
  },
  {
    title: "arguments of megabytes, many at once",
    program: `async () => {
      const text = "x".repeat(3_000_000);
      return (await Promise.allSettled(Array.from({ length: 20 }, () => data.keys({ text })))).length;
    }`,
    code: "executor_limit",
    mayCrash: true,
  },
  {
    title: "an argument over its bound",
    program: `async () => data.keys({ text: "x".repeat(5_000_000) })`,
    ...overBudget,
  },
  {
    title: "an answer over its bound",
    program: "async () => (await data.bytes({ count: 9_000_000 })).length",
    code: "result_too_large",
  },
  {
    title: "a host call in a reaction that comes after the end",
    program: `async () => {
      data.read().then(() => data.mark(), () => data.mark());
      Promise.resolve().then(() => Promise.resolve()).then(() => data.mark());
      return "ended";
    }`,
    code: "ok",
    result: "ended",
  },
  {
    title: "a host call in a getter of the result",
    program: `async () => ({ get late() { data.mark(); return "late"; } })`,
    code: "ok",
    result: { late: "late" },
  },
  {
    title: "awaiting what never settles",
    program: "async () => { await new Promise(() => {}); }",
    code: "program_error",
  },
  {
    title: "awaiting itself",
    program: "() => { const own = (async () => { await null; return own; })(); return own; }",
    code: "program_error",
  },
  {
    title: "twenty thousand lines of log",
    program: `async () => { for (let i = 0; i < 20_000; i++) console.log("line", i); return "logged"; }`,
    code: "ok",
    result: "logged",
  },
  {
    title: "two hundred emitted blocks at once, their failures caught",
    program: `async () => {
      const text = "x".repeat(1_000);
      const all = Array.from({ length: 200 }, () =>
        connecta.emit({ type: "text", text }).then(() => "ok", (error) => error.code));
      return (await Promise.all(all)).filter((code) => code === "ok").length;
    }`,
    code: "ok",
    result: 32,
  },
];
