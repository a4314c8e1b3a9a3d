// `npm run bench -- [--rows REGEX] [--quick]`: every row beside its floor, in one run.
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { findDriver, floorScript, OUT } from "./driver.mjs";
import { calls } from "./rows/calls.mjs";
import { catalogs } from "./rows/catalogs.mjs";
import { afterCancelled, computing } from "./rows/computing.mjs";
import { hostile } from "./rows/hostile.mjs";
import { coldStart, memory } from "./rows/process.mjs";
import { programs, reduce } from "./rows/programs.mjs";
import { search } from "./rows/search.mjs";
import { stalls } from "./rows/stalls.mjs";
import { view } from "./rows/view.mjs";
import { waitingPrograms } from "./rows/waiting.mjs";
import { workers } from "./rows/workers.mjs";
import { SERVE, start } from "./servers.mjs";
import { failed, table } from "./table.mjs";

const SECTIONS = {
  calls,
  programs,
  reduce,
  stalls,
  waiting: waitingPrograms,
  computing,
  cancelled: afterCancelled,
  hostile,
  search,
  catalogs,
  memory,
  cold: coldStart,
  view,
  workers,
};

/** How hard the load driver works; `quiet` waits for an idle machine, within its budget in seconds. */
const LOAD = { rounds: 6, seq: 150, seconds: 0.8, warmup: 1_500, "quiet-budget": 120 };
const QUICK = { rounds: 2, seq: 40, "seq-max-ms": 2_000, seconds: 0.3, warmup: 100, quiet: 1 };

const say = (line) => process.stderr.write(`${line}\n`);

function options() {
  try {
    const { values } = parseArgs({
      options: {
        rows: { type: "string", default: "" },
        quick: { type: "boolean", default: false },
      },
    });
    return { rows: new RegExp(values.rows, "i"), quick: values.quick };
  } catch (error) {
    say(
      `bench: ${error.message}. Options: --rows REGEX (of ${Object.keys(SECTIONS).join(", ")}), --quick.`,
    );
    return undefined;
  }
}

async function measure(sections, context) {
  const measured = [];
  const raw = {};
  for (const [name, section] of sections) {
    say(`bench: ${name} …`);
    try {
      const found = await section(context);
      measured.push(...found.rows);
      raw[name] = found.raw ?? null;
    } catch (error) {
      measured.push(failed(name, error.message));
    }
  }
  return { measured, raw };
}

async function main() {
  const chosen = options();
  if (!chosen) return 1;
  const found = findDriver();
  if (process.platform !== "linux" || !found.ok) {
    say(
      `bench: skipped: ${found.ok ? "the load driver reads /proc, which only Linux has." : found.message}`,
    );
    return 0;
  }
  const { folder } = found;
  const started = [];
  const open = async (script, env) => {
    const server = await start(script, env);
    started.push(server);
    return server;
  };
  try {
    const context = {
      folder,
      quick: chosen.quick,
      load: chosen.quick ? QUICK : LOAD,
      echo: await open(floorScript(folder, "floor-http.mjs")),
      sdk: await open(floorScript(folder, "floor-mcp.mjs"), { MODE: "modern" }),
      ours: await open(SERVE),
    };
    const sections = Object.entries(SECTIONS).filter(([name]) => chosen.rows.test(name));
    const { measured, raw } = await measure(sections, context);
    report(measured, raw, chosen.quick);
    return 0;
  } catch (error) {
    say(`bench: ${error.message}`);
    return 1;
  } finally {
    for (const server of started) await server.stop();
  }
}

function report(rows, raw, quick) {
  mkdirSync(OUT, { recursive: true });
  const file = join(OUT, "bench.json");
  const about = {
    date: new Date().toISOString(),
    node: process.version,
    cpus: cpus().length,
    quick,
  };
  writeFileSync(file, `${JSON.stringify({ ...about, rows, raw }, null, 2)}\n`);
  process.stdout.write(`${table(rows)}\n`);
  say(`bench: written to ${relative(process.cwd(), file)}`);
}

process.exitCode = await main();
