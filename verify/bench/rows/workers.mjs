import { fileURLToPath } from "node:url";
import { Client, median, sequence } from "../client.mjs";
import { start } from "../servers.mjs";
import { atMost, timed } from "../table.mjs";

const WORKERS = fileURLToPath(new URL("../workers.mjs", import.meta.url));
const TRIVIAL = "async () => 1";
const CALL = `async () => await connecta.call("crm.get_record", { id: "r7" })`;
const WAIT = `async () => await connecta.call("crm.slow_read", { ms: 400 })`;
const CROWD = 64;

/** The gateway in the Workers runtime: each program has a sandbox that is made for it. */
export async function workers({ sdk, quick }) {
  const server = await start(WORKERS);
  const client = new Client(server.url);
  const floor = new Client(sdk.url);
  try {
    await sequence(() => client.run(TRIVIAL), 100);
    await sequence(() => floor.read(), 500);
    const times = { trivial: [], call: [], floor: [] };
    for (let round = 0; round < (quick ? 3 : 10); round++) {
      times.floor.push(...(await sequence(() => floor.read(), 50)));
      times.trivial.push(...(await sequence(() => client.run(TRIVIAL), 50)));
      times.call.push(...(await sequence(() => client.run(CALL), 50)));
    }
    const failures = [];
    for (let burst = 0; burst < 10; burst++) {
      const ended = await Promise.all(Array.from({ length: CROWD }, () => client.run(WAIT)));
      failures.push(...ended.flatMap(({ failure }) => failure ?? []));
    }
    const after = median(await sequence(() => client.run(TRIVIAL), 50));
    const beside = median(times.floor);
    const rows = [
      timed("workers: trivial", median(times.trivial), 2.8, beside),
      timed("workers: one call", median(times.call), 3.0, beside),
      atMost(`workers: failed of ten bursts of ${CROWD}`, "runs", failures.length, 0),
      timed("workers: trivial after the bursts", after, 2.8, beside),
    ];
    return { rows, raw: { ...times, failures } };
  } finally {
    client.close();
    floor.close();
    await server.stop();
  }
}
