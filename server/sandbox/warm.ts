import { Run } from "./run.ts";
import type { Setup } from "./setup.ts";
import type { Spares } from "./spares.ts";
import { FRAME, KIND, type FrameParts } from "./protocol.ts";

/** Enough for the engine to compile what every program uses; more belongs to real programs. */
const WARM_UP_RUNS = 24;

const SETUP: Setup = {
  providers: [{ name: "host", functions: ["echo"], prelude: "const call = host.echo;" }],
  limits: {
    cpuMs: 1_000,
    heapBytes: 64 * 1024 * 1024,
    stackBytes: 256 * 1024,
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

/** Runs a few programs before any real one, so that the first real one runs at full speed. */
export async function warmUp(spares: Spares): Promise<void> {
  const id = 0;
  spares.add(id, SETUP);
  const known = await spares.known(id);
  const interpreter = known && (await spares.take(known));
  if (!interpreter) return;
  for (let at = 0; at < WARM_UP_RUNS; at++) {
    const calls: number[] = [];
    const outbox = {
      queue: ({ type, call = 0 }: FrameParts) => {
        if (type === FRAME.call) calls.push(call);
      },
      flush() {},
    };
    const run = new Run(at, { interpreter, limits: SETUP.limits, outbox, setupMs: 0 });
    run.begin(Buffer.from(PROGRAM));
    for (const call of calls) run.reply(call, KIND.json, Buffer.from('{"a":1,"b":[1,2,3]}'));
    interpreter.restore();
  }
  interpreter.drop();
  await spares.forget(id);
}
