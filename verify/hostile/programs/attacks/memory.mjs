const memory = { code: "executor_limit", limit: "memory", lands: "grows" };

/** @type {import("../attacks.mjs").Attack[]} */
export const MEMORY = [
  {
    title: "arrays without end",
    program: "async () => { const all = []; for (;;) all.push(new Array(10_000).fill(1)); }",
    ...memory,
  },
  {
    title: "strings without end",
    program:
      "async () => { const all = []; for (let i = 0; ; i++) all.push(`${i}`.repeat(100_000)); }",
    ...memory,
  },
  {
    title: "typed arrays without end",
    program: "async () => { const all = []; for (;;) all.push(new Uint8Array(1_000_000)); }",
    ...memory,
  },
  {
    title: "closures without end",
    program: `async () => {
      let all;
      for (;;) { const before = all; const held = new Array(2_000).fill(0); all = () => [before, held]; }
    }`,
    ...memory,
  },
  {
    title: "a Map without end",
    program: `async () => {
      const all = new Map();
      for (let i = 0; ; i++) all.set({ i }, new Array(500).fill(i));
    }`,
    ...memory,
  },
  {
    title: "one typed array of two gigabytes",
    program: "async () => new Uint8Array(2 ** 31 - 1).length",
    code: "executor_limit",
    limit: "memory",
  },
  {
    title: "one string of half a gigabyte",
    program: `async () => "a".padStart(2 ** 29, "b").length`,
    code: "executor_limit",
    limit: "memory",
  },
  {
    title: "slow growth near the limit",
    program: `async () => {
      const all = [];
      for (let i = 0; i < 50; i++) all.push(new Uint8Array(1_000_000));
      for (let i = 0; ; i++) { await null; all.push("x".repeat(20_000) + i); }
    }`,
    ...memory,
  },
  {
    title: "growth that goes on after every refusal",
    program: `async () => {
      const all = [];
      for (let size = 1_000_000; size > 100; size = Math.floor(size / 2)) {
        try { for (;;) all.push(new Uint8Array(size)); } catch {}
      }
      return "survived";
    }`,
    ...memory,
  },
  {
    title: "growth in toJSON of the result",
    program: `async () => ({
      toJSON() { const all = []; for (;;) all.push(new Uint8Array(1_000_000)); },
    })`,
    code: "executor_limit",
    limit: "memory",
  },
];
