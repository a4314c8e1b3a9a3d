import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { endedWithin } from "../../shared/joining.ts";
import { watchOver } from "./watch.ts";

/** What to start. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

/** How a process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it never began, such as `ENOENT`. */
  readonly error?: string;
}

/** How long each step of ending a process may take, in milliseconds. */
export interface StopTimes {
  /** After its input was closed. */
  readonly closeMs: number;
  /** After it was asked to end. */
  readonly termMs: number;
}

const TAIL_CHARS = 8_192;
/** After its end, what it wrote last may still be on the way. */
const DRAIN_MS = 500;
const GROUPS = process.platform !== "win32";

/** A server's process with everything that it starts: one group, ended as one. */
export class Child {
  readonly ended: Promise<Ending>;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #times: StopTimes;
  readonly #unwatch: () => void;
  #tail = "";
  #hasEnded = false;

  /** @param onOutput gets what the process writes to its standard output */
  constructor(launch: Launch, times: StopTimes, onOutput: (chunk: Buffer) => void) {
    const { command, args, env, cwd } = launch;
    this.#times = times;
    this.#process = spawn(command, args, {
      env,
      cwd,
      stdio: "pipe",
      detached: GROUPS,
      windowsHide: true,
    });
    this.#unwatch = this.pid === undefined || !GROUPS ? () => {} : watchOver(this.pid, times);
    this.#process.stdout.on("data", onOutput);
    this.#process.stderr.on("data", (chunk: Buffer) => this.note(chunk.toString()));
    // A process that reads no more is noticed by its end.
    for (const stream of this.#process.stdio) stream?.on("error", () => undefined);
    this.ended = new Promise((resolve) => this.#onEnd(resolve));
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The end of what the process wrote to its error output, with what was noted beside it. */
  get tail(): string {
    return this.#tail;
  }

  /** Keeps a text for the operator. */
  note(text: string): void {
    this.#tail = (this.#tail + text).slice(-TAIL_CHARS);
  }

  /** Writes to the process; resolves when it took the text in, or is gone. */
  write(text: string): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#process.stdin.writable) return resolve();
      this.#process.stdin.write(text, () => resolve());
    });
  }

  /**
   * Ends the whole group: by closing the input, then by asking, then by force.
   * @param closeMs milliseconds to end after the input was closed, where they are not the usual ones
   */
  async stop(closeMs = this.#times.closeMs): Promise<void> {
    this.#process.stdin.end();
    if (await this.#endsWithin(closeMs)) return;
    this.#signal("SIGTERM");
    if (await this.#endsWithin(this.#times.termMs)) return;
    this.#signal("SIGKILL");
    await this.ended;
  }

  #onEnd(resolve: (ending: Ending) => void): void {
    this.#process.once("error", (error: NodeJS.ErrnoException) => {
      if (this.pid === undefined)
        this.#end({ code: null, signal: null, error: nameOf(error) }, resolve);
    });
    this.#process.once("exit", (code, signal) => {
      // What it started goes with it, also what still holds its output open.
      this.#signal("SIGKILL");
      const end = () => {
        clearTimeout(late);
        this.#end({ code, signal }, resolve);
      };
      const late = setTimeout(end, DRAIN_MS);
      this.#process.once("close", end);
    });
  }

  #end(ending: Ending, resolve: (ending: Ending) => void): void {
    this.#hasEnded = true;
    this.#unwatch();
    for (const stream of this.#process.stdio) stream?.destroy();
    resolve(ending);
  }

  #signal(signal: "SIGTERM" | "SIGKILL"): void {
    const { pid } = this;
    if (pid === undefined) return;
    try {
      if (GROUPS) process.kill(-pid, signal);
      else this.#process.kill(signal);
    } catch {
      // The group is gone already.
    }
  }

  async #endsWithin(ms: number): Promise<boolean> {
    return this.#hasEnded || endedWithin(this.ended, ms);
  }
}

function nameOf({ code }: NodeJS.ErrnoException): string {
  return code ?? "an unknown reason";
}
