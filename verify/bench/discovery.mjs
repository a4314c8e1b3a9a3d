// How well discovery finds the right tool: recall and MRR over queries with known answers, how often
// unanswerable queries are marked, and what indexing and searching cost.
//   node verify/bench/discovery.mjs --queries FILE --catalogs DIR [--misses] [--json FILE]
// FILE: [{ id, kind, query, relevant: ["connector.tool", …] }]; DIR: one JSON file per connector,
// { id, tools, serverInfo }. An empty `relevant` is a query that nothing answers.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { connector, openCatalogRoom, round, timed } from "./catalog-room.mjs";

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
const room = await openCatalogRoom();
const catalogs = room.catalogsOf(connectors);
const indexMs = await timed(() => room.find(catalogs, "warm up"));
const rows = await evaluate(queries);
const report = {
  tools: connectors.reduce((sum, { count }) => sum + count, 0),
  connectors: connectors.length,
  indexMs: round(indexMs),
  queryMs: await room.cost(
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

async function readConnectors(directory) {
  const files = (await readdir(directory)).filter((name) => name.endsWith(".json")).sort();
  const lists = await Promise.all(files.map((name) => readFile(join(directory, name), "utf8")));
  return lists.map((text) => connector(JSON.parse(text)));
}

async function evaluate(asked) {
  const found = [];
  for (const { kind, query, relevant } of asked) {
    const page = await room.find(catalogs, query);
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

/** The same on made-up catalogs of growing size. */
async function synthetic() {
  const made = {};
  for (const size of [90, 2_000, 10_000]) made[size] = await room.madeUp(size);
  return made;
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
