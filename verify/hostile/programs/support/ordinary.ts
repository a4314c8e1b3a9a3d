import { expect } from "vitest";
import type { Gateway } from "./gateway.ts";
import { residentMb, settled } from "./processes.ts";

/** Programs as they come on an ordinary day, large answers and views among them. */
const ORDINARY = [
  "async () => 42",
  "async () => (await data.read()).items.map((n) => n * 2)",
  `async () => connecta.batch(Array.from({ length: 10 }, () => ({ address: "data.read" })))`,
  "async () => (await data.bytes({ count: 4_000_000 })).length",
  `async () => { await connecta.ui("<p>" + "x".repeat(1_000_000)); return "shown"; }`,
  "async () => { let sum = 0; for (let i = 0; i < 200_000; i++) sum += i % 7; return sum; }",
  "async () => { const all = Array.from({ length: 200_000 }, (_, id) => ({ id })); return all.length; }",
  `async () => connecta.search({ query: "record" })`,
];

const ROUNDS = 12;
const AT_ONCE = 4;

/** Runs ordinary programs until the server is as large as they make it. */
export async function warmUp(gateway: Gateway): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const programs = ORDINARY.flatMap((program) => Array<string>(AT_ONCE).fill(program));
    const ended = await Promise.all(programs.map((program) => gateway.run(program)));
    expect(ended.map(({ code }) => code)).toEqual(programs.map(() => "ok"));
  }
}

/** How much larger the process tree may stay than ordinary programs have made it. */
const TIMES = 1.2;

/** Longer than the server takes to give back what it can; a condition ends the wait, not the time. */
const LOOK_MS = 20_000;

/** Memory at most 20% above what it was, in MB, once it has come down. */
export async function expectMemoryBack(pid: number, beforeMb: number): Promise<void> {
  const most = TIMES * beforeMb;
  const nowMb = await settled(
    () => residentMb(pid),
    (mb) => mb <= most,
    LOOK_MS,
  );
  expect(nowMb, `MB resident, ${beforeMb.toFixed(0)} before`).toBeLessThanOrEqual(most);
}
