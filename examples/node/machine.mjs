// @ts-check
import { execFile } from "node:child_process";
import { readFile, readdir, stat, statfs } from "node:fs/promises";
import os from "node:os";
import { basename } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const onLinux = process.platform === "linux";

/** How far apart the two samples of a usage reading lie, in milliseconds. */
export const SAMPLE_MS = 200;

/** Linux counts process time in hundredths of a second for every user-space reader. */
const TICKS_PER_SECOND = 100;

/** File systems that live on a disk of this machine; network ones may hang a reading. */
const DISK_FILE_SYSTEMS = new Set(
  "apfs bcachefs btrfs exfat ext2 ext3 ext4 f2fs hfsplus jfs ntfs ntfs3 overlay vfat xfs zfs".split(
    " ",
  ),
);

/**
 * @typedef {{ busy: number, total: number }} CoreTimes milliseconds since boot
 * @typedef {{ mount: string, fileSystem: string, device: string }} Mount
 * @typedef {{ pid: number, name: string, cpuPercent: number, memoryBytes: number }} ProcessReading
 * @typedef {{ name: string, ticks: number, startedAt: number }} ProcessTimes
 */

/** @param {number} value */
const oneDecimal = (value) => Math.round(value * 10) / 10;

/** @param {number} part @param {number} whole */
const percent = (part, whole) => (whole > 0 ? oneDecimal((part / whole) * 100) : 0);

/** @returns {CoreTimes[]} */
function coreTimes() {
  return os.cpus().map(({ times }) => {
    const total = times.user + times.nice + times.sys + times.idle + times.irq;
    return { busy: total - times.idle, total };
  });
}

/**
 * Share of time that each core was busy between two samples, in percent with one decimal.
 * @param {readonly CoreTimes[]} before
 * @param {readonly CoreTimes[]} after
 */
export function coreUsage(before, after) {
  const spans = after.map((now, core) => ({
    busy: now.busy - (before[core]?.busy ?? now.busy),
    total: now.total - (before[core]?.total ?? now.total),
  }));
  const busy = spans.reduce((sum, span) => sum + span.busy, 0);
  const total = spans.reduce((sum, span) => sum + span.total, 0);
  return {
    usedPercent: percent(busy, total),
    perCorePercent: spans.map((span) => percent(span.busy, span.total)),
  };
}

/**
 * Processor use over {@link SAMPLE_MS}.
 * @param {AbortSignal} signal ends the wait between the samples
 */
export async function readCpu(signal) {
  const before = coreTimes();
  await pause(SAMPLE_MS, undefined, { signal });
  const usage = coreUsage(before, coreTimes());
  return {
    model: os.cpus()[0]?.model.trim() ?? "unknown",
    cores: os.availableParallelism(),
    sampleMs: SAMPLE_MS,
    ...usage,
  };
}

/**
 * Bytes that macOS can hand out without swapping, from the text of `vm_stat`.
 * @param {string} text
 */
export function parseVmStat(text) {
  const pageBytes = Number(/page size of (\d+) bytes/.exec(text)?.[1] ?? 4096);
  const pages = ["free", "inactive", "speculative", "purgeable"].map((kind) =>
    Number(new RegExp(`^Pages ${kind}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0),
  );
  return pages.reduce((sum, count) => sum + count, 0) * pageBytes;
}

/** @param {AbortSignal} signal */
async function availableMemory(signal) {
  // Node counts only untouched pages as free on macOS, so a machine would always seem full.
  if (process.platform !== "darwin") return os.freemem();
  try {
    return parseVmStat((await run("vm_stat", [], { signal, env: plainEnv() })).stdout);
  } catch {
    return os.freemem();
  }
}

/**
 * Memory of the whole machine, in bytes; what caches hold counts as available.
 * @param {AbortSignal} signal
 */
export async function readMemory(signal) {
  const totalBytes = os.totalmem();
  const availableBytes = Math.min(totalBytes, await availableMemory(signal));
  const usedBytes = totalBytes - availableBytes;
  return { totalBytes, usedBytes, availableBytes, usedPercent: percent(usedBytes, totalBytes) };
}

/** Load averages beside the number of cores they are measured against, and the machine's name. */
export function readLoad() {
  const [one = 0, five = 0, fifteen = 0] = os.loadavg();
  return {
    host: os.hostname(),
    platform: os.platform(),
    release: os.release(),
    uptimeSeconds: Math.round(os.uptime()),
    cores: os.availableParallelism(),
    load: { one, five, fifteen },
  };
}

/**
 * The disk mounts in the text of `/proc/mounts`, one per device, in the order mounted.
 * @param {string} text
 * @returns {Mount[]}
 */
export function parseMounts(text) {
  /** @type {Map<string, Mount>} */
  const byDevice = new Map();
  for (const line of text.split("\n")) {
    const [device = "", rawMount = "", fileSystem = ""] = line.split(" ");
    if (!DISK_FILE_SYSTEMS.has(fileSystem)) continue;
    if (fileSystem === "overlay" && rawMount !== "/") continue;
    const mount = rawMount.replace(/\\([0-7]{3})/g, (_, octal) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    );
    const known = byDevice.get(device);
    if (!known || mount.length < known.mount.length) {
      byDevice.set(device, { mount, fileSystem, device });
    }
  }
  return [...byDevice.values()];
}

/** @returns {Promise<Pick<Mount, "mount" | "fileSystem">[]>} */
async function diskMounts() {
  const root = { mount: "/", fileSystem: os.platform() === "darwin" ? "apfs" : "unknown" };
  if (!onLinux) return [root];
  const mounts = parseMounts(await readFile("/proc/mounts", "utf8").catch(() => ""));
  return mounts.length > 0 ? mounts : [root];
}

/** Space on each disk of this machine, in bytes, the largest first. */
export async function readDisks() {
  const readings = (await diskMounts()).map(async ({ mount, fileSystem }) => {
    // A bind mount of one file repeats its disk; a mount we may not see into is left out.
    const isFolder = await stat(mount).then(
      (entry) => entry.isDirectory(),
      () => false,
    );
    const space = isFolder ? await statfs(mount).catch(() => undefined) : undefined;
    if (!space || space.blocks === 0) return [];
    const usedBytes = (space.blocks - space.bfree) * space.bsize;
    const availableBytes = space.bavail * space.bsize;
    return [
      {
        mount,
        fileSystem,
        totalBytes: space.blocks * space.bsize,
        usedBytes,
        availableBytes,
        usedPercent: percent(usedBytes, usedBytes + availableBytes),
      },
    ];
  });
  const disks = (await Promise.all(readings)).flat();
  return disks.sort((a, b) => b.totalBytes - a.totalBytes).slice(0, 20);
}

/**
 * Name, CPU ticks and start of one process, from the text of `/proc/<pid>/stat`. A process may put
 * blanks and brackets into its own name, so the name ends at the last bracket.
 * @param {string} text
 * @returns {ProcessTimes | undefined}
 */
export function parseProcessStat(text) {
  const open = text.indexOf("(");
  const close = text.lastIndexOf(")");
  if (open < 0 || close < open) return undefined;
  const fields = text.slice(close + 2).split(" ");
  const [userTicks, systemTicks, startedAt] = [fields[11], fields[12], fields[19]].map(Number);
  if (userTicks === undefined || systemTicks === undefined || startedAt === undefined) return;
  return { name: text.slice(open + 1, close), ticks: userTicks + systemTicks, startedAt };
}

/** @returns {Promise<Map<number, ProcessTimes>>} */
async function processTimes() {
  const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const texts = await Promise.all(
    // A process may end between the listing and the reading.
    names.map((name) => readFile(`/proc/${name}/stat`, "utf8").catch(() => "")),
  );
  const times = new Map();
  texts.forEach((text, index) => {
    const parsed = parseProcessStat(text);
    if (parsed) times.set(Number(names[index]), parsed);
  });
  return times;
}

/**
 * Resident bytes in the text of `/proc/<pid>/status`; kernel threads have none.
 * @param {string} text
 */
export function parseResidentBytes(text) {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
}

/** @param {AbortSignal} signal @returns {Promise<ProcessReading[]>} */
async function linuxProcesses(signal) {
  const before = await processTimes();
  const from = performance.now();
  await pause(SAMPLE_MS, undefined, { signal });
  const after = await processTimes();
  const ticks = ((performance.now() - from) / 1000) * TICKS_PER_SECOND;
  return Promise.all(
    [...after].map(async ([pid, now]) => {
      const earlier = before.get(pid);
      const spent = earlier?.startedAt === now.startedAt ? now.ticks - earlier.ticks : 0;
      const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
      return {
        pid,
        name: now.name,
        cpuPercent: percent(spent, ticks),
        memoryBytes: parseResidentBytes(status),
      };
    }),
  );
}

/**
 * The processes in the text of `ps -o pid=,pcpu=,rss=,ucomm=`, resident size in KiB.
 * @param {string} text
 * @returns {ProcessReading[]}
 */
export function parsePs(text) {
  return text.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+([\d.]+)\s+(\d+)\s+(.+?)\s*$/.exec(line);
    if (!match) return [];
    const [, pid, cpu, kibibytes, name = ""] = match;
    return [
      {
        pid: Number(pid),
        name: basename(name),
        cpuPercent: oneDecimal(Number(cpu)),
        memoryBytes: Number(kibibytes) * 1024,
      },
    ];
  });
}

/** Programs of the system need a path and nothing else of our environment. */
function plainEnv() {
  return { PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C" };
}

/**
 * Every process by name, never with its command line or environment. On Linux the CPU share is
 * measured over {@link SAMPLE_MS}; elsewhere it is the running average that `ps` keeps.
 * @param {AbortSignal} signal
 * @returns {Promise<ProcessReading[]>}
 */
export async function readProcesses(signal) {
  if (onLinux) return linuxProcesses(signal);
  const columns = "pid=,pcpu=,rss=,ucomm=";
  const options = { signal, env: plainEnv(), maxBuffer: 4 * 1024 * 1024 };
  return parsePs((await run("ps", ["-A", "-o", columns], options)).stdout);
}
