/**
 * Speed and memory of the sandbox alone, without HTTP or MCP.
 *
 *     node verify/bench/sandbox.mjs            # the built server
 *     node verify/bench/sandbox.mjs --json     # one JSON object instead of the table
 */
import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

const built = process.env.SANDBOX_MODULE ?? "connecta/node";
const { quickjsExecutor } = await import(built);

const rows = [];
const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
const round = (value) => Math.round(value * 1000) / 1000;

/** PSS of the sandbox processes in MB; RSS is not it, since they share Node's own pages. */
function memory(pids) {
  let kilobytes = 0;
  for (const pid of pids) {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    kilobytes += Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0);
  }
  return round(kilobytes / 1024);
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const items = Array.from({ length: 22_000 }, (_, id) => ({
  id,
  name: `item ${id}`,
  description: "a sentence of ordinary length about an item of a downstream list",
  tags: ["a", "b", "c"],
  price: id * 1.5,
  nested: { x: 1, y: "two", z: null },
  text: "x".repeat(60),
}));
const large = JSON.stringify(items);
const largeValue = JSON.parse(large);

const providers = [
  {
    name: "host",
    fns: {
      echo: async (value) => value,
      sink: async (value) => (typeof value === "string" ? value.length : 0),
      large: async () => largeValue,
      slow: () => new Promise((resolve) => setTimeout(() => resolve("done"), 400)),
    },
    prelude: "const call = (value) => host.echo(value);",
  },
];

const cold = performance.now();
const pool = quickjsExecutor({ processes: 2 });
await pool.ready();
const readyMs = performance.now() - cold;

async function run(code) {
  const { result, error } = await pool.execute(code, providers);
  if (error !== undefined) throw new Error(error);
  return result;
}

const firstStart = performance.now();
await run("async () => 1");
const firstMs = performance.now() - firstStart;
await pool.warm();
const warmMs = performance.now() - cold;

async function measure(name, times, code, expected) {
  for (let at = 0; at < Math.min(times, 300); at++) await run(code);
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const took = [];
  for (let at = 0; at < times; at++) {
    const start = performance.now();
    const result = await run(code);
    took.push(performance.now() - start);
    if (expected !== undefined && result !== expected) throw new Error(`${name}: ${result}`);
  }
  loop.disable();
  took.sort((a, b) => a - b);
  rows.push({
    name,
    p50: round(quantile(took, 0.5)),
    p95: round(quantile(took, 0.95)),
    stall: round(loop.max / 1e6),
  });
}

const idle = memory(pool.pids);
await measure("trivial", 2000, "async () => 1", 1);
await measure("one host call", 1500, "async () => (await call({ a: 1 })).a", 1);
await measure(
  "ten host calls in sequence",
  500,
  "async () => { let n = 0; for (let i = 0; i < 10; i++) n += (await call({ a: 1 })).a; return n; }",
  10,
);
await measure(
  "ten host calls at once",
  500,
  "async () => (await Promise.all(Array.from({ length: 10 }, () => call({ a: 1 })))).length",
  10,
);
await measure(
  "loop of 100,000",
  200,
  "async () => { let sum = 0; for (let i = 0; i < 100000; i++) sum += i; return sum; }",
);
await measure(
  "argument of 100 KB",
  500,
  "async () => host.sink('<p>some text</p>\\n'.repeat(6000))",
  102_000,
);
await measure(
  "argument of 4 MB",
  30,
  "async () => host.sink('<p>some text</p>\\n'.repeat(235000))",
  3_995_000,
);
await measure(
  "argument of 4 MB, not ASCII",
  20,
  "async () => host.sink('<p>some téxt €</p>\\n'.repeat(181000))",
);
await measure(
  `host result of ${(large.length / 1e6).toFixed(1)} MB, parsed and reduced`,
  15,
  "async () => (await host.large()).reduce((sum, { price }) => sum + price, 0)",
);

async function throughput(concurrency, runs, code) {
  let left = runs;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (left-- > 0) await run(code);
    }),
  );
  return Math.round((runs / (performance.now() - start)) * 1000);
}
const perSecond = await throughput(8, 6000, "async () => 1");

const before = memory(pool.pids);
const start = performance.now();
const waiting = Promise.all(Array.from({ length: 64 }, () => run("async () => host.slow()")));
await pause(200);
const during = memory(pool.pids);
const trivialStart = performance.now();
await run("async () => 1");
const trivialMs = performance.now() - trivialStart;
await waiting;
const waitingMs = performance.now() - start;

const controller = new AbortController();
const cancelled = pool.execute("async () => host.slow()", providers, { signal: controller.signal });
await pause(20);
controller.abort();
await cancelled;
const afterStart = performance.now();
await run("async () => 1");
const afterCancel = performance.now() - afterStart;

await pause(3000);
const figures = {
  readyMs: round(readyMs),
  bothWarmMs: round(warmMs),
  firstRunMs: round(firstMs),
  trivialPerSecondAtEight: perSecond,
  waiting64Ms: round(waitingMs),
  trivialWhile64WaitMs: round(trivialMs),
  mbPerWaitingRun: round((during - before) / 64),
  afterCancelMs: round(afterCancel),
  idleMb: idle,
  afterLoadMb: memory(pool.pids),
};
await pool.close();

if (process.argv.includes("--json")) console.log(JSON.stringify({ rows, figures }));
else {
  console.log("ms".padStart(48), "p50".padStart(9), "p95".padStart(9), "loop max".padStart(9));
  for (const { name, p50, p95, stall } of rows) {
    console.log(
      name.padStart(48),
      String(p50).padStart(9),
      String(p95).padStart(9),
      String(stall).padStart(9),
    );
  }
  for (const [name, value] of Object.entries(figures)) {
    console.log(name.padStart(48), String(value).padStart(9));
  }
}
