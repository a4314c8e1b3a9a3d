// Where the load driver, its fixture and its floors stand, and how one run of the driver is made.
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Figures, the driver's raw output and the floors' copies; ignored by git. */
export const OUT = join(ROOT, "verify", "out");

/**
 * The folder of the load driver: CONNECTA_BENCH_DIR, else `shared/bench` beside the repository.
 * @returns {{ ok: true, folder: string } | { ok: false, message: string }}
 */
export function findDriver() {
  const beside = fileURLToPath(new URL("../../../shared/bench", import.meta.url));
  const folder = process.env.CONNECTA_BENCH_DIR ?? beside;
  if (existsSync(join(folder, "bench.mjs")) && existsSync(join(folder, "fixture.mjs"))) {
    return { ok: true, folder };
  }
  const message =
    "no load driver: set CONNECTA_BENCH_DIR to the folder with bench.mjs and fixture.mjs.";
  return { ok: false, message };
}

/**
 * Copies a floor server to where its imports find our packages, which its own folder does not.
 * @param {string} folder of {@link findDriver}
 * @param {string} name file name of the floor
 * @returns {string} path of the copy
 */
export function floorScript(folder, name) {
  const target = join(OUT, "bench");
  mkdirSync(target, { recursive: true });
  const copy = join(target, name);
  copyFileSync(join(folder, name), copy);
  return copy;
}

/**
 * One run of the load driver over several targets, taken in turn.
 * @param {string} folder of {@link findDriver}
 * @param {string[]} targets in the driver's own form, e.g. `us=http://…/mcp;pid=1`
 * @param {Record<string, string | number>} options of the driver, without dashes
 * @param {Record<string, string>} programs cases of `execute_code` to add
 * @returns {Promise<any>} the driver's JSON
 */
export function drive(folder, targets, options, programs = {}) {
  mkdirSync(OUT, { recursive: true });
  const programsFile = join(OUT, "bench-programs.json");
  writeFileSync(programsFile, JSON.stringify(programs));
  const args = [
    join(folder, "bench.mjs"),
    ...targets.flatMap((target) => ["--target", target]),
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
    "--programs",
    programsFile,
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const chunks = [];
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(JSON.parse(Buffer.concat(chunks).toString("utf8")));
      else reject(new Error(`the load driver ended with code ${code}`));
    });
  });
}

/**
 * What a run measured of one case on one target.
 * @throws when the target failed it: the reason stands in the report instead of a figure
 */
export function measured(results, target, name) {
  const found = results[target]?.[name];
  if (found?.seq) return found;
  throw new Error(`${name} on ${target}: ${found?.error ?? "not measured"}`);
}
