import { Client, median } from "../client.mjs";
import { memoryOf, SERVE, start } from "../servers.mjs";
import { atMost, timed } from "../table.mjs";

const TRIVIAL = "async () => 1";
const CALL = `async () => await connecta.call("crm.get_record", { id: "r7" })`;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Memory of the whole process tree: when ready, under load, and some time later. */
export async function memory({ quick }) {
  const server = await start(SERVE);
  const client = new Client(server.url);
  try {
    await client.run(TRIVIAL);
    await pause(2_000);
    const idle = memoryOf(server.pid);
    const until = performance.now() + (quick ? 3_000 : 15_000);
    const lane = async () => {
      while (performance.now() < until) await client.run(CALL);
    };
    await Promise.all(Array.from({ length: 8 }, lane));
    const loaded = memoryOf(server.pid);
    // V8 gives memory back when nothing happened for a while.
    await pause(20_000);
    const later = memoryOf(server.pid);
    return {
      rows: [
        atMost("memory: idle", "MB", idle, 135),
        atMost("memory: after load", "MB", loaded, 220),
        atMost("memory: some time after load, above idle", "MB", later - idle, 45),
      ],
    };
  } finally {
    client.close();
    await server.stop();
  }
}

/** From the start of the process to its first answers. */
export async function coldStart({ sdk, quick }) {
  const lists = [];
  const programs = [];
  for (let round = 0; round < (quick ? 3 : 9); round++) {
    const server = await start(SERVE);
    const client = new Client(server.url);
    try {
      await answered(() => client.send("tools/list", {}));
      lists.push(performance.now() - server.spawnedAt);
      await answered(() => client.run(TRIVIAL));
      programs.push(performance.now() - server.spawnedAt);
    } finally {
      client.close();
      await server.stop();
    }
  }
  const floor = new Client(sdk.url);
  for (let count = 0; count < 500; count++) await floor.read();
  const reads = [];
  for (let count = 0; count < 200; count++) reads.push((await floor.read()).ms);
  floor.close();
  const beside = median(reads);
  return {
    rows: [
      timed("cold start: to the first tools/list", median(lists), 200, beside),
      timed("cold start: to the first program", median(programs), 230, beside),
    ],
    raw: { lists, programs },
  };
}

async function answered(call) {
  const { failure } = await call();
  if (failure !== undefined) throw new Error(`a cold server answered ${failure}`);
}
