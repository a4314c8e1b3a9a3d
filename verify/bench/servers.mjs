// Servers under measurement: started as processes of their own, ended by the one who started them.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

export const SERVE = fileURLToPath(new URL("serve.mjs", import.meta.url));
const START_MS = 30_000;

/**
 * @typedef {object} Started
 * @property {number} pid
 * @property {string} url of its MCP endpoint
 * @property {number} spawnedAt by `performance.now()`
 * @property {() => Promise<void>} stop
 */

/**
 * Starts a server and waits until it says that it listens.
 * @param {string} script
 * @param {Record<string, string>} env
 * @param {string[]} args
 * @returns {Promise<Started>}
 */
export async function start(script, env = {}, args = []) {
  const port = await freePort();
  const spawnedAt = performance.now();
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, ...env, PORT: String(port) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const stop = async () => {
    child.kill("SIGTERM");
    const killer = setTimeout(() => child.kill("SIGKILL"), 15_000);
    await ended;
    clearTimeout(killer);
  };
  try {
    await listening(child, script);
  } catch (error) {
    await stop();
    throw error;
  }
  return { pid: child.pid, url: `http://127.0.0.1:${port}/mcp`, spawnedAt, stop };
}

function listening(child, script) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`${script} does not listen`)), START_MS);
    const settle = (act) => {
      clearTimeout(late);
      act();
    };
    child.once("exit", (code) => settle(() => reject(new Error(`${script} ended with ${code}`))));
    child.stdout.on("data", (chunk) => {
      if (String(chunk).includes("listening")) settle(resolve);
    });
  });
}

/** A port that nobody listens on now. */
export function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/**
 * Proportional memory of a process and all its descendants.
 * @param {number} pid
 * @returns {number} megabytes
 */
export function memoryOf(pid) {
  return treeOf(pid).reduce((sum, one) => sum + pss(one), 0);
}

function pss(pid) {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/**
 * A process and all its descendants.
 * @param {number} pid
 * @returns {number[]}
 */
export function treeOf(pid) {
  const children = new Map();
  for (const name of readdirSync("/proc")) {
    const parent = /^\d+$/.test(name) ? parentOf(name) : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const below = (one) => [one, ...(children.get(one) ?? []).flatMap(below)];
  return below(pid);
}

function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}
