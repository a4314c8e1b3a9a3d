import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { Ended, Gateway } from "./gateway.ts";
import { bytesRead } from "./processes.ts";

/** A program that waits on a host call while others are attacked. */
export interface Witness {
  /** The sandbox process that it is in. */
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** What it returns, which no other witness does. */
  readonly value: unknown;
}

/** Makes a program that long, so that the process that reads it cannot be mistaken. */
const LONG = 64 * 1024;

/** Runs go where the fewest are, so twice as many as are wanted fill both processes. */
const MOST = 4;

let lastKey = 0;

/** Witnesses that wait at one gate, half of them in each of the two sandbox processes. */
export class Witnesses {
  readonly all: readonly Witness[];
  readonly #gateway: Gateway;
  readonly #key: string;

  private constructor(gateway: Gateway, key: string, all: readonly Witness[]) {
    this.#gateway = gateway;
    this.#key = key;
    this.all = all;
  }

  /**
   * Starts witnesses one after the other and sees where each went, until enough are in each process.
   * @param pids of {@link sandboxProcesses}
   * @param each how many a process has at least
   * @throws when they do not spread over the processes
   */
  static async start(gateway: Gateway, pids: readonly number[], each = 2): Promise<Witnesses> {
    const all: Witness[] = [];
    const witnesses = new Witnesses(gateway, `witnesses ${++lastKey}`, all);
    const loads = () => pids.map((pid) => all.filter((witness) => witness.pid === pid).length);
    try {
      while (Math.min(...loads()) < each) {
        if (all.length === MOST * each) {
          throw new Error(`The witnesses did not spread: ${loads().join(" and ")}.`);
        }
        all.push(await witnesses.#next(pids));
      }
      return witnesses;
    } catch (error) {
      await witnesses.leave();
      throw error;
    }
  }

  async #next(pids: readonly number[]): Promise<Witness> {
    const reading = watchReading(pids);
    const key = this.#key;
    const number = this.all.length + 1;
    const value = { opened: key, number };
    const ended = this.#gateway.run(
      `async () => {
        // ${"long ".repeat(LONG / 5)}
        await gate.wait({ key: ${JSON.stringify(key)} });
        return ${JSON.stringify(value)};
      }`,
    );
    const arrived = this.#gateway.call("gate.arrived", { key, count: number });
    const early = await Promise.race([ended, arrived.then(() => undefined)]);
    if (early) throw new Error(`A witness ended before it waited: ${JSON.stringify(early)}.`);
    const [pid, ...others] = reading.readAtLeast(LONG - 5);
    if (pid === undefined || others.length > 0) throw new Error("A witness went nowhere or twice.");
    return { pid, ended, value };
  }

  /** Lets them go, for whoever is interested in nothing more. */
  async leave(): Promise<void> {
    await this.#gateway.call("gate.open", { key: this.#key });
    await Promise.allSettled(this.all.map(({ ended }) => ended));
  }

  /**
   * The processes whose witnesses crashed.
   * @throws when a witness neither crashed nor returned its own value
   */
  async release(): Promise<number[]> {
    await this.#gateway.call("gate.open", { key: this.#key });
    const crashed = new Set<number>();
    for (const { pid, ended, value } of this.all) {
      const { code, result } = await ended;
      if (code === "executor_crashed") crashed.add(pid);
      else if (!isDeepStrictEqual([code, result], ["ok", value])) {
        throw new Error(`A witness ended as ${code} with ${JSON.stringify(result)}.`);
      }
    }
    return [...crashed];
  }
}

/** The two processes, once both run at full speed. */
export async function sandboxProcesses(gateway: Gateway): Promise<number[]> {
  const pids = (await gateway.call("sandbox.ready")) as number[];
  expect(pids).toHaveLength(2);
  return pids;
}

/** Notes from now on which processes read. */
export function watchReading(pids: readonly number[]): {
  /** Processes that have read so much since, or are gone. */
  readAtLeast(bytes: number): number[];
} {
  const before = new Map(pids.map((pid) => [pid, bytesRead(pid)]));
  return {
    readAtLeast: (bytes) =>
      pids.filter((pid) => {
        const now = bytesRead(pid);
        return now === undefined || now - (before.get(pid) ?? 0) >= bytes;
      }),
  };
}
