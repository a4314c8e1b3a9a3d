import { drive, measured } from "../driver.mjs";
import { Client } from "../client.mjs";
import { SERVE, start } from "../servers.mjs";
import { atMost, timed } from "../table.mjs";

/** Tools in all, how they are spread, and the p50 of one search in ms. */
const SIZES = [
  { tools: 10_000, env: { CONNECTORS: "10", TOOLS: "1000" }, goal: 2.5 },
  { tools: 2_000, env: { CONNECTORS: "10", TOOLS: "200" }, goal: 1.0 },
  { tools: 90, env: { CONNECTORS: "3", TOOLS: "30" }, goal: 0.5 },
];

/** `search_tools` over catalogs of three sizes, all in one run beside the floor. */
export async function search({ folder, sdk, load }) {
  const servers = [];
  try {
    const firsts = [];
    for (const { env } of SIZES) {
      const server = await start(SERVE, env);
      servers.push(server);
      firsts.push(await first(server));
    }
    const targets = [
      `sdk=${sdk.url};pid=${sdk.pid};only=^call_read$`,
      ...servers.map(
        ({ url, pid }, at) => `tools-${SIZES[at].tools}=${url};pid=${pid};only=^search$`,
      ),
    ];
    const { results } = await drive(folder, targets, {
      ...load,
      cases: "^(call_read|search)$",
      conc: "8",
    });
    const floor = measured(results, "sdk", "call_read").seq.p50;
    const rows = SIZES.map(({ tools, goal }) =>
      timed(
        `search: ${tools} tools`,
        measured(results, `tools-${tools}`, "search").seq.p50,
        goal,
        floor,
      ),
    );
    rows.push(atMost("search: first after the start, 10000 tools", "ms", firsts[0], 1_000));
    return { rows, raw: results };
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** The first search may have to wait for the index. */
async function first({ url }) {
  const client = new Client(url);
  const { ms, failure } = await client.tool("search_tools", { query: "invoice details" });
  client.close();
  if (failure !== undefined) throw new Error(`the first search failed: ${failure}`);
  return ms;
}
