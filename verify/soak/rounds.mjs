import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { stepOf } from "./steps.mjs";

const WRITER = fileURLToPath(new URL("writer.mjs", import.meta.url));
/** So many answers at most before a kill: a store checkpoints by itself after about 1,000 pages. */
const MOST_STEPS = 600;
const MOST_WAIT_MS = 3;

/**
 * Kills a process that writes, again and again, and compares the store with what was answered.
 * @param {{
 *   file: string,
 *   rounds: number,
 *   random: () => number,
 *   module: string,
 *   open: () => import("../../server/index.ts").Storage,
 *   onRound?: (round: number, steps: number) => void,
 * }} options `module` is what the writer imports `sqliteStorage` from
 * @returns {Promise<{ steps: number, lost: string[] }>} answered steps, and what is wrong after a kill
 */
export async function killRounds({ file, rounds, random, module, open, onRound }) {
  const expected = new Map();
  const lost = [];
  let steps = 0;
  for (let round = 0; round < rounds; round++) {
    const answered = await write({ file, round, random, module });
    for (let step = 0; step < answered; step++) apply(expected, stepOf(round, step));
    // The step under way when the writer died may have happened or not.
    const found = await readAll(open());
    const next = new Map(expected);
    apply(next, stepOf(round, answered));
    if (!same(found, expected) && !same(found, next)) {
      lost.push(`round ${round}, after ${answered} steps: ${difference(found, expected)}`);
    }
    expected.clear();
    for (const [key, value] of found) expected.set(key, value);
    steps += answered;
    onRound?.(round, answered);
  }
  return { steps, lost };
}

/** Runs one writer and kills it at a moment of chance; resolves to how many steps it was answered. */
async function write({ file, round, random, module }) {
  const writer = spawn(process.execPath, [WRITER, file, String(round)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, STORE_MODULE: module },
  });
  const ended = new Promise((resolve) => writer.once("close", (_, signal) => resolve(signal)));
  let errors = "";
  writer.stderr.on("data", (text) => (errors += text));
  const killAt = Math.floor(random() * MOST_STEPS);
  let answered = 0;
  for await (const line of createInterface({ input: writer.stdout })) {
    answered = Number(line) + 1;
    if (answered === killAt + 1) {
      setTimeout(() => writer.kill("SIGKILL"), random() * MOST_WAIT_MS);
    }
  }
  const signal = await ended;
  if (signal !== "SIGKILL") throw new Error(`the writer ended by itself: ${errors}`);
  return answered;
}

function apply(content, { kind, key, value }) {
  if (kind === "delete") content.delete(key);
  else content.set(key, value);
}

async function readAll(store) {
  const content = new Map();
  for (const key of valueOf(await store.list(""))) content.set(key, valueOf(await store.get(key)));
  await store.close();
  return content;
}

function same(one, other) {
  return one.size === other.size && [...one].every(([key, value]) => other.get(key) === value);
}

function difference(found, expected) {
  const keys = [...new Set([...found.keys(), ...expected.keys()])];
  return keys
    .filter((key) => found.get(key) !== expected.get(key))
    .map((key) => `${key} is ${short(found.get(key))}, was answered ${short(expected.get(key))}`)
    .join("; ");
}

function short(value) {
  return value === undefined ? "missing" : value.slice(0, value.lastIndexOf("/"));
}

function valueOf(outcome) {
  if (!outcome.ok) throw new Error(outcome.failure.message);
  return outcome.value;
}
