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

/**
 * Hostile programs must not leave the next one a slower server. What is idle is measured on a twin
 * that nobody attacks, in turn with the attacked one: minutes apart, the machine is another.
 */
export async function hostile({ quick }) {
  const attacked = await open();
  const twin = await open();
  try {
    const wrong = [];
    for (const attack of GROUPS.flatMap(({ attacks }) => attacks)) {
      const { failure = "ok" } = await attacked.client.run(sourceOf(attack));
      if (failure !== attack.code) wrong.push(`${attack.title}: ${failure}`);
    }
    await ready(attacked.client);
    // Who was idle meanwhile has cooled down: both are warmed alike before they are compared.
    for (const { client } of [twin, attacked]) await sequence(() => client.run(TRIVIAL), WARM_UP);
    const after = [];
    const idle = [];
    for (let round = 0; round < (quick ? 3 : 10); round++) {
      idle.push(...(await sequence(() => twin.client.run(TRIVIAL), 50)));
      after.push(...(await sequence(() => attacked.client.run(TRIVIAL), 50)));
    }
    const row = "hostile: trivial program after the hostile set";
    return {
      rows: [
        atMostTimes(row, "ms", median(after), median(idle), 1.2),
        atMost("hostile: programs that ended otherwise than they should", "runs", wrong.length, 0),
      ],
      raw: { idle: median(idle), after: median(after), wrong },
    };
  } finally {
    for (const { client, server } of [attacked, twin]) {
      client.close();
      await server.stop();
    }
  }
}

/** A deployment of its own, warm. */
async function open() {
  const server = await start(CLI, {}, ["serve", "--config", CONFIG]);
  const client = new Client(server.url);
  await ready(client);
  await sequence(() => client.run(TRIVIAL), WARM_UP);
  return { server, client };
}

/** Waits until every sandbox process runs at full speed. */
async function ready(client) {
  const { failure } = await client.tool("call_tool", { address: "sandbox.ready", args: {} });
  if (failure !== undefined) throw new Error(`the sandbox is not ready: ${failure}`);
}
