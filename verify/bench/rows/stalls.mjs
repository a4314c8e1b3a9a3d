import { Client, median, sequence } from "../client.mjs";
import { SERVE, start } from "../servers.mjs";
import { atMost } from "../table.mjs";

/** How long one large program may keep the server from answering others, in ms. */
const BOUND_MS = 50;

const REDUCE = `async () => {
  const rows = await connecta.call("bulk.rows", { bytes: 8_380_000 });
  let sum = 0;
  for (const { amount } of rows) sum += amount;
  return { rows: rows.length, sum };
}`;

const STATEMENT = "n = f(n);";
const SOURCE_BYTES = 1024 * 1024 - 100;
const SOURCE = `async () => {
  let n = 0;
  const f = (x) => x + 1;
  ${STATEMENT.repeat(SOURCE_BYTES / STATEMENT.length)}
  return n;
}`;

/** A large answer or a large program holds up nobody: the slowest of the calls made meanwhile. */
export async function stalls({ quick }) {
  const server = await start(SERVE, { BULK: "1" });
  const [working, calling] = [new Client(server.url), new Client(server.url)];
  try {
    const idle = median(await sequence(() => calling.read(), 300));
    const rounds = quick ? 4 : 12;
    const row = async (what, program) => {
      await meanwhile(working, calling, program);
      const found = [];
      for (let round = 0; round < rounds; round++) {
        found.push(await meanwhile(working, calling, program));
      }
      const ours = median(found);
      const measured = atMost(`stalls: call_tool during ${what}`, "ms", ours, BOUND_MS);
      return { ...measured, floor: idle, ratio: ours / idle };
    };
    return {
      rows: [
        await row("a reduction of 8 MiB", REDUCE),
        await row("the reading of 1 MiB of source", SOURCE),
      ],
    };
  } finally {
    working.close();
    calling.close();
    await server.stop();
  }
}

/** Milliseconds of the slowest call while a program runs. */
async function meanwhile(working, calling, program) {
  const run = { ended: false, failure: undefined };
  const done = working.run(program).then(({ failure }) => {
    run.ended = true;
    run.failure = failure;
  });
  let longest = 0;
  while (!run.ended) {
    const [ms] = await sequence(() => calling.read(), 1);
    longest = Math.max(longest, ms);
  }
  await done;
  if (run.failure !== undefined) throw new Error(`the large program failed: ${run.failure}`);
  return longest;
}
