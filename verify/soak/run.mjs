import { fileURLToPath } from "node:url";
import { freePort, start } from "../bench/servers.mjs";
import { chance } from "./chance.mjs";
import { startDownstream } from "./downstream-http.mjs";
import { Ledger } from "./ledger.mjs";
import { wireOf } from "./plants.mjs";
import { draw } from "./scenarios.mjs";
import { judge, look } from "./watch.mjs";
import { Wire } from "./wire.mjs";

const CLI = fileURLToPath(new URL("../../scripts/connecta.mjs", import.meta.url));
const CONFIG = fileURLToPath(new URL("connecta.config.mjs", import.meta.url));
const CLIENTS = 16;

/** Enough rests to tell growth from noise, and none so long that nothing is learnt meanwhile. */
const ROUNDS = { least: 8, longestMs: 10_000 };

/**
 * Loads the built server for some time, in rounds with a look at it at rest after each.
 * @param {object} options
 * @param {number} options.minutes
 * @param {number} options.seed of the order of requests
 * @param {string} options.plant a fault to find, or nothing
 * @param {(line: string) => void} options.say
 */
export async function soak({ minutes, seed, plant, say }) {
  const downstream = await startDownstream();
  const env = {
    SOAK_FAR: downstream.url,
    SOAK_GONE: `http://127.0.0.1:${await freePort()}/mcp`,
    SOAK_PLANT: plant,
  };
  const server = await start(CLI, env, ["serve", "--config", CONFIG, "--metrics"]);
  const through = new Wire(server.url, wireOf(plant));
  const direct = new Wire(server.url, (text) => text);
  const ledger = new Ledger();
  const samples = [];
  try {
    const totalMs = minutes * 60_000;
    const rounds = Math.max(ROUNDS.least, Math.ceil(totalMs / ROUNDS.longestMs));
    const random = chance(seed);
    await warmUp(direct);
    for (let round = 0; round < rounds; round++) {
      await load(through, ledger, { random, ms: totalMs / rounds, round });
      await revive(direct);
      const { sample, problems } = await look(direct, server.pid, () => waitingIn(server.url));
      samples.push(sample);
      for (const problem of new Set(problems)) ledger.blame(problem);
      say(`round ${round + 1} of ${rounds}: ${told(ledger, sample)}`);
    }
  } catch (error) {
    ledger.blame(`the soak could not go on: ${error.message}`);
  } finally {
    through.close();
    direct.close();
    await server.stop();
    downstream.close();
  }
  const growth = samples.length < ROUNDS.least ? [] : judge(samples);
  for (const { name, first, last, grew } of growth) {
    if (grew) ledger.blame(`${name} grew from ${first} to ${last}`);
  }
  return { ledger, growth };
}

/** Everybody asks one thing after the other until the round is over; ends with the last answer. */
async function load(wire, ledger, { random, ms, round }) {
  const until = performance.now() + ms;
  let asked = 0;
  const client = async (number) => {
    while (performance.now() < until) {
      const { name, act } = draw(random);
      const nonce = `n${round}-${number}-${asked++}`;
      let steps = 0;
      const ask = (step) => send(wire, ledger, `${nonce}.${steps++}`, { ...step, scenario: name });
      const wrong = await act(ask, nonce, random);
      if (typeof wrong === "string") ledger.blame(wrong);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
}

async function send(wire, ledger, id, step) {
  const { tool, args, cancelAfterMs } = step;
  const closing = new AbortController();
  const timer =
    cancelAfterMs === undefined ? undefined : setTimeout(() => closing.abort(), cancelAfterMs);
  const came = await wire.send(id, tool, args, closing.signal);
  clearTimeout(timer);
  return ledger.settle(id, step, came);
}

/** The first program waits for the sandbox to start, which is no part of the soak. */
async function warmUp(wire) {
  const { messages, problem } = await wire.send("warm", "execute_code", { code: "return 1" });
  const error = problem ?? messages[0]?.result?.structuredContent?.error?.code;
  if (error !== undefined) throw new Error(`no program runs: ${error}`);
}

/** A child that crashed last is not there at rest; each look should find it alive. */
async function revive(wire) {
  const args = { address: "child.echo", args: { nonce: "rest" }, resultMode: "value" };
  for (let tries = 0; tries < 50; tries++) {
    const { messages } = await wire.send(`revive-${tries}`, "call_tool", args);
    if (messages[0]?.result?.isError !== true) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Programs that still run or wait, as the server's metrics have it. */
async function waitingIn(url) {
  const text = await (await fetch(new URL("/metrics", url))).text();
  const found = [...text.matchAll(/^connecta_admissions_\w+\{queue="runs"\} (\d+)$/gm)];
  if (found.length !== 2) throw new Error("the metrics say nothing of programs");
  return found.reduce((sum, [, count]) => sum + Number(count), 0);
}

function told(ledger, { heap, memory, handles, processes }) {
  const requests = ledger.rows().reduce((sum, { sent }) => sum + sent, 0);
  const { length } = ledger.violations;
  return (
    `${requests} requests, ${length} violations; at rest ${heap.toFixed(1)} MB of heap, ` +
    `${memory.toFixed(0)} MB in all, ${handles} handles, ${processes} processes`
  );
}
