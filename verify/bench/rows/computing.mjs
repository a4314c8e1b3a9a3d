import { Client, median, sequence } from "../client.mjs";
import { atMost, atMostTimes } from "../table.mjs";

const TRIVIAL = "async () => 1";
const CPU_MS = 90;
const loop = (count) =>
  `async () => { let s = 0; for (let i = 0; i < ${count}; i++) s = (s + i * 7) % 1000003; return s; }`;

/** Eight programs on fewer cores, each well within its CPU budget: none may be charged for the others. */
export async function computing({ ours, quick }) {
  const client = new Client(ours.url);
  try {
    const idle = median(await sequence(() => client.run(TRIVIAL), 50));
    const sample = median(await sequence(() => client.run(loop(200_000)), 10));
    const count = Math.round((200_000 * CPU_MS) / (sample - idle));
    const failures = [];
    const rounds = quick ? 2 : 6;
    for (let round = 0; round < rounds; round++) {
      const ended = await Promise.all(Array.from({ length: 8 }, () => client.run(loop(count))));
      failures.push(...ended.flatMap(({ failure }) => (failure === undefined ? [] : [failure])));
    }
    const row = `computing: eight programs of ${CPU_MS} ms CPU, failed of ${rounds * 8}`;
    return { rows: [atMost(row, "runs", failures.length, 0)], raw: { failures, count } };
  } finally {
    client.close();
  }
}

const LOST = {
  waits: `async () => await connecta.call("crm.slow_read", { ms: 2000 })`,
  computes: "async () => { for (;;); }",
};

/** Who cancels must not make the next one pay. */
export async function afterCancelled({ ours, quick }) {
  const client = new Client(ours.url);
  // Cancelling closes a connection; the one that is measured stays open.
  const leaving = new Client(ours.url);
  try {
    await sequence(() => client.run(TRIVIAL), 200);
    const measured = { nothing: [], ...Object.fromEntries(Object.keys(LOST).map((k) => [k, []])) };
    for (let round = 0; round < (quick ? 7 : 25); round++) {
      for (const [how, next] of Object.entries(measured)) {
        const controller = new AbortController();
        // A program is slower after a pause of any kind: the floor has the same pause.
        const lost = how === "nothing" ? undefined : leaving.run(LOST[how], controller.signal);
        await new Promise((resolve) => setTimeout(resolve, 40));
        controller.abort();
        await lost;
        next.push(...(await sequence(() => client.run(TRIVIAL), 1)));
        await sequence(() => client.run(TRIVIAL), 20);
      }
    }
    const idle = median(measured.nothing);
    const rows = Object.keys(LOST).map((how) =>
      atMostTimes(`cancelled: program after one that ${how}`, "ms", median(measured[how]), idle, 2),
    );
    return { rows, raw: measured };
  } finally {
    client.close();
    leaving.close();
  }
}
