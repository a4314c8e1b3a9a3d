import { fileURLToPath } from "node:url";
import { GROUPS, sourceOf } from "../../hostile/programs/attacks.mjs";
import { Client, median, sequence } from "../client.mjs";
import { start } from "../servers.mjs";
import { atMost, atMostTimes } from "../table.mjs";

const CLI = fileURLToPath(new URL("../../../scripts/connecta.mjs", import.meta.url));
const CONFIG = fileURLToPath(
  new URL("../../hostile/programs/connecta.config.mjs", import.meta.url),
);
const TRIVIAL = "async () => 1";
const WARM_UP = 500;

/** Hostile programs must not leave the next one a slower server. */
export async function hostile({ quick }) {
  const server = await start(CLI, {}, ["serve", "--config", CONFIG]);
  const client = new Client(server.url);
  const count = quick ? 100 : 400;
  const p50 = async () => median(await sequence(() => client.run(TRIVIAL), count));
  try {
    await ready(client);
    await sequence(() => client.run(TRIVIAL), WARM_UP);
    const before = await p50();
    const wrong = [];
    for (const attack of GROUPS.flatMap(({ attacks }) => attacks)) {
      const { failure = "ok" } = await client.run(sourceOf(attack));
      if (failure !== attack.code) wrong.push(`${attack.title}: ${failure}`);
    }
    await ready(client);
    const after = await p50();
    return {
      rows: [
        atMostTimes("hostile: trivial program after the hostile set", "ms", after, before, 1.2),
        atMost("hostile: programs that ended otherwise than they should", "runs", wrong.length, 0),
      ],
      raw: { before, after, wrong },
    };
  } finally {
    client.close();
    await server.stop();
  }
}

/** Waits until every sandbox process runs at full speed. */
async function ready(client) {
  const { failure } = await client.tool("call_tool", { address: "sandbox.ready", args: {} });
  if (failure !== undefined) throw new Error(`the sandbox is not ready: ${failure}`);
}
