import { readdirSync, readFileSync } from "node:fs";

/** A process that runs. */
export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
  /** Its environment, as far as it may be read. */
  readonly env: string;
}

/** Every process of this machine that runs, from `/proc`; what ended and is not waited for is not one. */
export function processes(): readonly Process[] {
  return readdirSync("/proc").flatMap((name) => {
    const found = /^\d+$/.test(name) ? processOf(name) : undefined;
    return found === undefined ? [] : [found];
  });
}

function processOf(pid: string): Process | undefined {
  const stat = read(`/proc/${pid}/stat`);
  const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (parent === undefined || state === "Z" || state === "X") return undefined;
  return {
    pid: Number(pid),
    parent: Number(parent),
    command: read(`/proc/${pid}/cmdline`).replaceAll("\0", " "),
    env: read(`/proc/${pid}/environ`),
  };
}

/** Processes end while they are looked at, and others belong to somebody else. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
