import { EXECUTE_LIMITS } from "../shared/limits.ts";
import type { Interpreter } from "./interpreter.ts";
import { Run } from "./run.ts";
import { spentMs, startBurst } from "./spent.ts";
import type { Setup } from "./setup.ts";
import type { Spares } from "./spares.ts";
import { FRAME, KIND, type FrameParts } from "./protocol.ts";

/** Enough for the engine to compile what every program uses; more belongs to real programs. */
const WARM_UP_RUNS = 24;

const SETUP: Setup = {
  providers: [{ name: "host", functions: ["echo"], prelude: "const call = host.echo;" }],
  limits: {
    cpuMs: 1_000,
    heapBytes: EXECUTE_LIMITS.heapBytes.value,
    processHeapBytes: EXECUTE_LIMITS.processHeapBytes.value,
    stackBytes: EXECUTE_LIMITS.stackBytes.value,
    maxArgumentBytes: 1024,
    maxResultBytes: 1024,
  },
};

const PROGRAM = `async () => {
  const [one, two] = await Promise.all([call({ a: 1, b: [1, 2] }), call("text")]);
  const items = Object.entries({ ...one, two }).map(([key, value]) => ({ key, value }));
  let sum = 0;
  for (let i = 0; i < 200; i++) sum += i % 7;
  console.log("sum", sum);
  return { items, sum, text: JSON.stringify(items).replace(/"/g, "'") };
}`;

/** A loop that takes a millisecond or two before its code is optimised. */
const LOOP = "async () => { let sum = 0; for (let i = 0; i < 3000; i++) sum += i; return sum; }";

/** Optimised code is ten times faster; loops stop when it shows twice, or after so many. */
const FASTER = 4;
const MAX_LOOPS = 80;
const PAUSE_MS = 2;

/**
 * Runs a few programs before any real one, so that the first real one finds its code compiled.
 * Answers with the second half of the work, which may go on beside real programs: loops until the
 * engine has optimised the interpreter, because a loop that is running is never optimised itself.
 */
export async function warmUp(spares: Spares): Promise<() => Promise<void>> {
  const id = 0;
  spares.add(id, SETUP);
  const known = await spares.known(id);
  const interpreter = known && (await spares.take(known));
  if (!interpreter) return async () => {};
  for (let at = 0; at < WARM_UP_RUNS; at++) runOnce(interpreter, PROGRAM);
  return async () => {
    const loop = () => runOnce(interpreter, LOOP);
    const cold = Math.min(spentBy(loop), spentBy(loop));
    for (let at = 0; at < MAX_LOOPS; at++) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      if (Math.max(spentBy(loop), spentBy(loop)) < cold / FASTER) break;
    }
    interpreter.drop();
    await spares.forget(id);
  };
}

function runOnce(interpreter: Interpreter, program: string): void {
  const calls: number[] = [];
  const outbox = {
    queue: ({ type, call = 0 }: FrameParts) => {
      if (type === FRAME.call) calls.push(call);
    },
    flush() {},
    glance() {},
  };
  const run = new Run(0, { interpreter, limits: SETUP.limits, outbox, setupMs: 0 });
  run.begin(Buffer.from(program));
  for (const call of calls) run.reply(call, KIND.json, Buffer.from('{"a":1,"b":[1,2,3]}'));
  interpreter.restore();
}

/** What some work takes on its own: CPU time counts other threads, wall time other processes. */
function spentBy(work: () => void): number {
  const burst = startBurst();
  work();
  return spentMs(burst);
}
