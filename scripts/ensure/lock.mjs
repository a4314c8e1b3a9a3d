import { createHash } from "node:crypto";
import { linkSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { say } from "./say.mjs";

const BEAT_MS = 2_000;
const ABANDONED_MS = 20_000;

/**
 * Runs `work` while no other process on this machine sets up the same clone. The lock stands
 * outside the clone, since `npm ci` removes `node_modules`; its owner renews it, and a lock that
 * is not renewed or whose owner is gone is taken over.
 * @template T
 * @param {string} root
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function exclusively(root, work) {
  const name = createHash("sha256").update(root).digest("hex").slice(0, 16);
  const file = join(tmpdir(), `connecta-setup-${name}.lock`);
  for (let told = false; !take(file);) {
    if (!told) say("connecta: waiting for another process that sets up this clone …");
    told = true;
    await sleep(200);
  }
  const beat = setInterval(() => utimesSync(file, new Date(), new Date()), BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    rmSync(file, { force: true });
  }
}

function take(file) {
  if (isAbandoned(file)) rmSync(file, { force: true });
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, String(process.pid));
  try {
    // A link appears with its content: nobody ever reads a lock without an owner.
    linkSync(mine, file);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    return false;
  } finally {
    rmSync(mine, { force: true });
  }
}

function isAbandoned(file) {
  try {
    const owner = Number(readFileSync(file, "utf8"));
    return Date.now() - statSync(file).mtimeMs > ABANDONED_MS || !isAlive(owner);
  } catch {
    return false;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
