// How well discovery finds the right tool: recall and MRR over queries with known answers, how often
// unanswerable queries are marked, and what indexing and searching cost.
//   node verify/bench/discovery.mjs --queries FILE --catalogs DIR [--misses] [--json FILE]
// FILE: [{ id, kind, query, relevant: ["connector.tool", …] }]; DIR: one JSON file per connector,
// { id, tools, serverInfo }. An empty `relevant` is a query that nothing answers.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "vite";

const root = fileURLToPath(new URL("../..", import.meta.url));
const TOP = 8;

const { values: options } = parseArgs({
  options: {
    queries: { type: "string" },
    catalogs: { type: "string" },
    json: { type: "string" },
    misses: { type: "boolean", default: false },
  },
});

if (options.queries === undefined || options.catalogs === undefined) {
  console.error("usage: node verify/bench/discovery.mjs --queries FILE --catalogs DIR [--misses]");
  process.exit(2);
}

const connectors = await readConnectors(options.catalogs);
const queries = JSON.parse(await readFile(options.queries, "utf8"));
const { Catalogs, search } = await loadCatalogRoom();
const catalogs = new Catalogs(connectors);
const indexMs = await timed(() => find(catalogs, "warm up"));
const rows = await evaluate(catalogs, queries);
const report = {
  tools: connectors.reduce((sum, { count }) => sum + count, 0),
  connectors: connectors.length,
  indexMs: round(indexMs),
  queryMs: await cost(
    catalogs,
    queries.map(({ query }) => query),
  ),
  synthetic: await synthetic(),
  kinds: summary(rows),
  marking: marking(rows),
};
print(report);
if (options.misses) for (const row of rows) if (row.rank !== 1) printMiss(row);
if (options.json !== undefined) await writeFile(options.json, JSON.stringify(report, null, 2));

/** Builds the catalog room on its own, so that it can be measured without a server. */
async function loadCatalogRoom() {
  const outDir = await mkdtemp(join(tmpdir(), "connecta-discovery-"));
  try {
    await build({
      root,
      configFile: false,
      logLevel: "error",
      publicDir: false,
      ssr: { noExternal: true },
      build: {
        ssr: true,
        outDir,
        emptyOutDir: false,
        target: "node20",
        rollupOptions: {
          input: {
            catalogs: join(root, "server/catalog/catalogs.ts"),
            search: join(root, "server/catalog/search.ts"),
          },
          output: { entryFileNames: "[name].mjs", chunkFileNames: "[name].mjs" },
        },
      },
    });
    const load = (name) => import(pathToFileURL(join(outDir, name)).href);
    return { ...(await load("catalogs.mjs")), ...(await load("search.mjs")) };
  } finally {
    await rm(outDir, { recursive: true, force: true });
  }
}

async function readConnectors(directory) {
  const files = (await readdir(directory)).filter((name) => name.endsWith(".json")).sort();
  const lists = await Promise.all(files.map((name) => readFile(join(directory, name), "utf8")));
  return lists.map((text) => connector(JSON.parse(text)));
}

function connector({ id, tools, serverInfo }) {
  const listed = tools.map((tool) => ({ description: "", annotations: {}, ...tool }));
  return {
    id,
    kind: "mcp",
    count: listed.length,
    ownTitle: () => serverInfo?.title ?? serverInfo?.name,
    listTools: async () => ({ ok: true, value: listed }),
    callTool: async () => ({
      ok: false,
      failure: { code: "internal", message: "", retryable: false },
    }),
  };
}

function scope() {
  return {
    signal: new AbortController().signal,
    now: () => Date.now(),
    defer: (task) => void task,
    principal: "anonymous",
    requestId: "bench",
  };
}

async function find(within, query) {
  const page = await search(within, { query, limit: TOP }, { maxLimit: 100 }, scope());
  if (!page.ok) throw new Error(`${query}: ${page.failure.message}`);
  return page.value;
}

async function evaluate(within, asked) {
  const found = [];
  for (const { kind, query, relevant } of asked) {
    const page = await find(within, query);
    const addresses = page.tools.map(({ address }) => address);
    const at = addresses.findIndex((address) => relevant.includes(address));
    const rank = at < 0 ? undefined : at + 1;
    found.push({ kind, query, relevant, addresses, rank, marked: page.matchMode !== undefined });
  }
  return found;
}

function summary(rows) {
  const answerable = rows.filter(({ relevant }) => relevant.length > 0);
  const kinds = [...new Set(answerable.map(({ kind }) => kind))];
  const table = Object.fromEntries(
    kinds.map((kind) => [kind, measures(answerable.filter((row) => row.kind === kind))]),
  );
  return { ...table, all: measures(answerable) };
}

function measures(rows) {
  const share = (k) => round(rows.filter(({ rank }) => rank <= k).length / rows.length);
  const mrr = rows.reduce((sum, { rank }) => sum + (rank === undefined ? 0 : 1 / rank), 0);
  return {
    queries: rows.length,
    "recall@1": share(1),
    "recall@5": share(5),
    "recall@8": share(8),
    "MRR@8": round(mrr / rows.length),
  };
}

/** Of the unanswerable queries and of those answered, how many were marked as a poor match. */
function marking(rows) {
  const share = (some) => round(some.filter(({ marked }) => marked).length / (some.length || 1));
  return {
    unanswerable: share(rows.filter(({ relevant }) => relevant.length === 0)),
    answered: share(rows.filter(({ rank }) => rank !== undefined)),
  };
}

/** Median and 95th percentile of a query, in milliseconds, warm. */
async function cost(within, asked) {
  const times = [];
  for (let round = 0; round < 6; round++) {
    for (const query of asked) {
      const ms = await timed(() => find(within, query));
      if (round > 0) times.push(ms);
    }
  }
  times.sort((a, b) => a - b);
  return {
    p50: round(times[times.length >> 1]),
    p95: round(times[Math.floor(times.length * 0.95)]),
  };
}

/** The same on made-up catalogs of growing size, whose tools share most of their words. */
async function synthetic() {
  const nouns = "account contact deal invoice ticket order project task message report".split(" ");
  const verbs = "list get search count export compare update create archive audit".split(" ");
  const made = {};
  for (const size of [90, 2_000, 10_000]) {
    const lists = Array.from({ length: 10 }, (_, c) => ({
      id: `shop${c}`,
      tools: Array.from({ length: size / 10 }, (_, i) => {
        const [verb, noun] = [verbs[i % 10], nouns[(i + c) % 10]];
        return {
          name: `${verb}_${noun}_${i}`,
          description: `${verb} ${noun} data of shop ${c}, shard ${i}. Use it when a task needs ${noun} details filtered by owner, status or date.`,
          inputSchema: {
            type: "object",
            properties: {
              query: { type: "string", description: `Filter expression for ${noun}` },
              status: { type: "string", enum: ["open", "closed"] },
              limit: { type: "integer", description: "Page size" },
            },
          },
        };
      }),
    }));
    const within = new Catalogs(lists.map(connector));
    const indexing = round(await timed(() => find(within, "warm up")));
    const asked = ["list open invoices", "get contact details", "shop3 audit ticket by owner"];
    made[size] = {
      indexMs: indexing,
      ...(await cost(within, Array.from({ length: 20 }, () => asked).flat())),
    };
  }
  return made;
}

async function timed(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

function round(value) {
  return Math.round(value * 1000) / 1000;
}

function print({ kinds, marking: marked, ...rest }) {
  console.table(kinds);
  console.log("marked as a poor match:", marked);
  console.log(JSON.stringify(rest));
}

function printMiss({ kind, query, relevant, addresses, rank }) {
  console.log(
    `${rank ?? "-"} [${kind}] ${query}\n    want ${relevant.slice(0, 3).join(", ") || "nothing"}`,
  );
  console.log(`    got  ${addresses.slice(0, 3).join(", ")}`);
}
