import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A browser's process, with a profile in a temporary folder that whoever started us removes. */
export interface BrowserProcess {
  /** Where it listens for the one who drives it. */
  readonly address: string;
  /** Ends it, whatever state it is in. */
  end(): Promise<void>;
}

/**
 * Starts a browser that says on its error output where it listens.
 * @param prepare puts into the new folder what must be there; returns the arguments
 * @param said what it says; its first group is the address
 * @throws when it ends before it has said so
 */
export async function startProcess(
  path: string,
  prepare: (folder: string) => readonly string[],
  said: RegExp,
): Promise<BrowserProcess> {
  const folder = mkdtempSync(join(tmpdir(), "profile-"));
  const child = spawn(path, prepare(folder), { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  return {
    address: await addressOf(child, said),
    async end() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

async function addressOf(child: ChildProcess, said: RegExp): Promise<string> {
  if (!child.stderr) throw new Error("the browser has no error output");
  const lines = createInterface({ input: child.stderr });
  return new Promise((resolve, reject) => {
    const heard: string[] = [];
    lines.on("line", (line) => {
      const found = said.exec(line)?.[1];
      if (found !== undefined) resolve(found);
      else if (heard.length < 20) heard.push(line);
    });
    lines.on("close", () => reject(new Error(`the browser ended: ${heard.join("\n")}`)));
  });
}

/** The work of one after the other. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Starts a line of work. */
export function queue(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}
