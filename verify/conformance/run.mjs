// `npm run conformance`: the official suite against our server, in both protocol generations.
// Needs whatever npm installs packages from. RECORD=1 writes down what came of it.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { conform } from "./suite.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const CLI = here("../../scripts/connecta.mjs");
const RECORDED = here("recorded.json");

/** Each generation, and the version of the suite that knows it. */
const GENERATIONS = {
  "2025-11-25": { version: "0.1.16", args: [] },
  "2026-07-28": { version: "0.2.0-alpha.12", args: ["--requirements", "2026-07-28"] },
};

const { expected } = JSON.parse(readFileSync(here("expected.json"), "utf8"));
const server = await serve();
try {
  const recorded = {};
  let surprises = 0;
  for (const [generation, how] of Object.entries(GENERATIONS)) {
    const scenarios = await conform(`${server.origin}/mcp`, how);
    surprises += compare(generation, scenarios, expected[generation]);
    const kept = Object.entries(scenarios).map(([name, { passed, unmet }]) => [
      name,
      { passed, unmet },
    ]);
    recorded[generation] = { suite: how.version, scenarios: Object.fromEntries(kept) };
  }
  if (process.env.RECORD) writeFileSync(RECORDED, `${JSON.stringify(recorded, null, 2)}\n`);
  process.exitCode = surprises === 0 ? 0 : 1;
} finally {
  server.stop();
}

/** Prints what differs from what is expected; how much that is. */
function compare(generation, scenarios, reasons) {
  const unmet = Object.entries(scenarios).flatMap(([name, { unmet: ids, said }]) =>
    ids.map((id) => [`${name}/${id}`, said[id]]),
  );
  const failed = unmet.filter(([check]) => !Object.hasOwn(reasons, check));
  const names = new Set(unmet.map(([check]) => check));
  const passed = Object.keys(reasons).filter((check) => !names.has(check));
  for (const [check, said] of failed) console.log(`✗ ${generation} ${check}: ${said}`);
  for (const check of passed) {
    console.log(`✗ ${generation} ${check} is expected to fail and does not: take it out`);
  }
  const met = Object.values(scenarios).reduce((sum, { passed: count }) => sum + count, 0);
  console.log(`${generation}: ${met} checks met, ${unmet.length} not, ${failed.length} unexpected`);
  return failed.length + passed.length;
}

function serve() {
  const args = [CLI, "serve", "--config", here("connecta.config.mjs"), "--port", "0"];
  // The suite sends what is wrong; the operator's log of that is of no use here.
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  return new Promise((resolve, reject) => {
    let printed = "";
    child.once("exit", (code) => reject(new Error(`connecta ended with ${code}`)));
    child.stdout.on("data", (chunk) => {
      printed += chunk;
      const origin = /^listening (\S+)$/m.exec(printed)?.[1];
      if (origin !== undefined) resolve({ origin, stop: () => child.kill("SIGTERM") });
    });
  });
}
