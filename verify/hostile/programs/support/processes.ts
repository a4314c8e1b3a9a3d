import { readdirSync, readFileSync } from "node:fs";

/** Why these tests do not run here, if they do not. */
export const UNFIT =
  process.platform === "linux" ? undefined : "hostile programs are watched through Linux's /proc";

function proc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return undefined;
  }
}

/** A process and all its descendants. */
function treeOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? proc(Number(name), "stat") : undefined;
    if (stat === undefined) continue;
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(below)];
  return below(root);
}

/** Resident memory of a process and all its descendants, in MB. */
export function residentMb(root: number): number {
  return treeOf(root).reduce((sum, pid) => {
    const kib = /^VmRSS:\s+(\d+)/m.exec(proc(pid, "status") ?? "")?.[1] ?? "0";
    return sum + Number(kib) / 1024;
  }, 0);
}

/** Open descriptors of one process. */
export function openDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Bytes that a process has read so far, from its channel above all; `undefined` once it is gone. */
export function bytesRead(pid: number): number | undefined {
  const count = /^rchar: (\d+)/m.exec(proc(pid, "io") ?? "")?.[1];
  return count === undefined ? undefined : Number(count);
}

const LOOK_MS = 50;

/**
 * Looks until a figure is as it should be.
 * @param figure what is looked at
 * @param holds whether it is as it should be
 * @param lookMs how long to look at most, in milliseconds
 * @returns the figure as it was last
 */
export async function settled(
  figure: () => number | Promise<number>,
  holds: (figure: number) => boolean,
  lookMs: number,
): Promise<number> {
  const end = performance.now() + lookMs;
  for (;;) {
    const found = await figure();
    if (holds(found) || performance.now() > end) return found;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
