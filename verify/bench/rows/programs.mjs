import { drive, measured } from "../driver.mjs";
import { Client, median, sequence } from "../client.mjs";
import { SERVE, start } from "../servers.mjs";
import { failed, rated, timed } from "../table.mjs";

/** Sequential p50 in ms, for each case of the driver or of {@link EXTRA}. */
const GOALS = {
  exec_trivial: ["trivial", 0.75],
  exec_1call: ["one call", 0.85],
  exec_10seq: ["ten calls in sequence", 1.5],
  exec_batch10: ["batch of ten", 1.2],
  exec_search_call: ["search, then call", 1.0],
  exec_cpu: ["loop of 100,000", 3.8],
  exec_ui_100k: ["view of 100 KB", 1.8],
  exec_ui_1m: ["view of 1 MB", 12],
  exec_ui_3900k: ["view of 3.9 MB", 50],
};

const EXTRA = {
  exec_ui_3900k: `async () => { await connecta.ui("<p>" + "x".repeat(3_899_000) + "</p>"); return 1; }`,
};

const REDUCE = `async () => {
  const rows = await connecta.call("bulk.rows", { bytes: 5_000_000 });
  const byAmount = {};
  for (const { amount } of rows) byAmount[amount % 10] = (byAmount[amount % 10] ?? 0) + amount;
  return { rows: rows.length, byAmount, first: rows.slice(0, 10) };
}`;

/** Programs that compute, call, search and render. */
export async function programs({ folder, ours, sdk, load }) {
  const cases = Object.keys(GOALS);
  const targets = [
    `us=${ours.url};pid=${ours.pid};only=^(${cases.join("|")})$`,
    `sdk=${sdk.url};pid=${sdk.pid};only=^call_read$`,
  ];
  const options = { ...load, cases: `^(call_read|${cases.join("|")})$`, conc: "8" };
  const { results } = await drive(folder, targets, options, EXTRA);
  const floor = measured(results, "sdk", "call_read");
  const rows = cases.map((name) => {
    const [what, goal] = GOALS[name];
    const found = results.us[name];
    if (!found?.seq) return failed(`programs: ${what}`, found?.error ?? "not measured");
    return timed(`programs: ${what}`, found.seq.p50, goal, floor.seq.p50);
  });
  const trivial = results.us.exec_trivial.conc?.[8].rps ?? NaN;
  rows.push(rated("programs: trivial, 8 at once", trivial, 1_500, floor.conc[8].rps));
  return { rows, raw: results };
}

/** A large answer of a connector, reduced to what fits into a conversation. */
export async function reduce({ sdk, quick }) {
  const server = await start(SERVE, { BULK: "1" });
  const client = new Client(server.url);
  const floor = new Client(sdk.url);
  try {
    const count = quick ? 8 : 25;
    await sequence(() => client.run(REDUCE), 3);
    await sequence(() => floor.read(), 500);
    const ours = median(await sequence(() => client.run(REDUCE), count));
    const beside = median(await sequence(() => floor.read(), 200));
    return { rows: [timed("programs: reduce 5 MB to 1 KB", ours, 250, beside)] };
  } finally {
    client.close();
    floor.close();
    await server.stop();
  }
}
