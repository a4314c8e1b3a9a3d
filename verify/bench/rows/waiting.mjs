import { Client, median, sequence } from "../client.mjs";
import { memoryOf } from "../servers.mjs";
import { atMost, atMostTimes } from "../table.mjs";

const AT_ONCE = 64;
const TRIVIAL = "async () => 1";
const waiting = (ms) => `async () => await connecta.call("crm.slow_read", { ms: ${ms} })`;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Programs that wait for an integration cost a context, not a process, and hold up nobody. */
export async function waitingPrograms({ ours, quick }) {
  const client = new Client(ours.url);
  try {
    await burst(client, AT_ONCE, 400);
    const rounds = quick ? 2 : 5;
    const bursts = [];
    for (let round = 0; round < rounds; round++) bursts.push(await burst(client, AT_ONCE, 400));
    const all = bursts.map(({ ms }) => ms);
    const failures = bursts.reduce((sum, { failures }) => sum + failures.length, 0);
    const idle = await both(client, 200);
    const busy = await meanwhile(client, rounds);
    return {
      rows: [
        atMost("waiting: 64 programs on a 400 ms call, all done", "ms", median(all), 1_000),
        atMost("waiting: of these, failed", "runs", failures, 0),
        atMostTimes("waiting: a trivial program meanwhile", "ms", busy.program, idle.program, 3),
        atMostTimes("waiting: call_tool meanwhile", "ms", busy.call, idle.call, 3),
        atMost("waiting: memory of one", "MB", await memoryOfOne(client, ours.pid), 2),
      ],
      raw: { bursts, idle, busy },
    };
  } finally {
    client.close();
  }
}

async function burst(client, count, ms) {
  const since = performance.now();
  const runs = Array.from({ length: count }, () => client.run(waiting(ms)));
  const ended = await Promise.all(runs);
  const failures = ended.flatMap(({ failure }) => (failure === undefined ? [] : [failure]));
  return { ms: performance.now() - since, failures };
}

async function both(client, count) {
  const program = median(await sequence(() => client.run(TRIVIAL), count));
  const call = median(await sequence(() => client.read(), count));
  return { program, call };
}

/** All but one of the runs that may live at once wait; the last place is the trivial program's. */
async function meanwhile(client, rounds) {
  const found = [];
  for (let round = 0; round < rounds; round++) {
    const held = burst(client, AT_ONCE - 1, 1_500);
    await pause(600);
    found.push(await both(client, 50));
    await held;
  }
  return {
    program: median(found.map(({ program }) => program)),
    call: median(found.map(({ call }) => call)),
  };
}

async function memoryOfOne(client, pid) {
  await pause(1_000);
  const before = memoryOf(pid);
  const held = burst(client, AT_ONCE, 2_500);
  await pause(1_500);
  const during = memoryOf(pid);
  await held;
  return (during - before) / AT_ONCE;
}
