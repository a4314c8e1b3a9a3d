import type { CallTimes } from "../invoke/times.ts";
import type { RunTimings } from "../shared/contracts.ts";
import type { Emitted } from "./emitted.ts";

/** What programs ask of the host. */
export type Operation = "search" | "describe" | "call" | "batch" | "shortcut" | "emit" | "ui";

/** One kind of operation over a whole run. */
export interface OperationTotals {
  /** How often it was asked for, refusals included. */
  readonly count: number;
  /** Milliseconds until it was answered, added up: what ran side by side counts each for itself. */
  readonly ms: number;
  /** UTF-8 bytes of the arguments as JSON. */
  readonly argumentBytes: number;
  /** UTF-8 bytes of the answers as they entered the program; a failure has none. */
  readonly resultBytes: number;
}

/**
 * Timing and size aggregates of one run: numbers only. `totalMs`, `admissionMs` and `executorMs` are
 * spans of time; `catalogMs`, `connectorMs` and those of operations are sums over everything that
 * went on, so that calls side by side can add up to more than the run took.
 */
export interface Diagnostics {
  /** From the tool call to its result. */
  readonly totalMs: number;
  /** Waiting for a place among the programs that run at once. */
  readonly admissionMs: number;
  /** In the executor, host calls included. */
  readonly executorMs: number;
  /** Getting an interpreter ready, as far as the executor tells. */
  readonly setupMs?: number;
  /** CPU time of the guest, as far as the executor tells. */
  readonly cpuMs?: number;
  /** Waiting for catalogs: addresses, searches, descriptions and the reads of a view. */
  readonly catalogMs: number;
  /** Inside connectors, without the pauses between two attempts. */
  readonly connectorMs: number;
  readonly sourceBytes: number;
  /** UTF-16 units of the returned value as JSON, before any truncation; 0 for a failure. */
  readonly resultChars: number;
  /** By kind of operation, those alone that the program used. */
  readonly operations: { readonly [Name in Operation]?: OperationTotals };
  readonly emitted?: { readonly count: number; readonly bytes: number };
  /** Bytes of the view. */
  readonly ui?: number;
}

type Counting = { -readonly [Name in keyof OperationTotals]: OperationTotals[Name] };

/** Measures one run for which somebody asked; any other has none. */
export class Meter implements CallTimes {
  catalogMs = 0;
  connectorMs = 0;
  admissionMs = 0;
  executorMs = 0;
  resultChars = 0;
  timings: RunTimings = {};
  readonly #started = performance.now();
  readonly #operations: { [Name in Operation]?: Counting } = {};

  /** Milliseconds since this run began. */
  get elapsedMs(): number {
    return performance.now() - this.#started;
  }

  /**
   * Counts an operation that begins now.
   * @returns what to call with the bytes of its answer when it ends
   */
  begin(operation: Operation, argumentBytes: number): (resultBytes: number) => void {
    const totals = (this.#operations[operation] ??= {
      count: 0,
      ms: 0,
      argumentBytes: 0,
      resultBytes: 0,
    });
    totals.count++;
    totals.argumentBytes += argumentBytes;
    const since = this.elapsedMs;
    return (resultBytes) => {
      totals.ms += this.elapsedMs - since;
      totals.resultBytes += resultBytes;
    };
  }

  /** Everything so far. */
  report(sourceBytes: number, emitted: Emitted): Diagnostics {
    const { setupMs, cpuMs } = this.timings;
    const { blocks, blockBytes, payload, payloadBytes } = emitted;
    const operations = Object.entries(this.#operations).map(([name, totals]) => [
      name,
      { ...totals, ms: round(totals.ms) },
    ]);
    return {
      totalMs: round(this.elapsedMs),
      admissionMs: round(this.admissionMs),
      executorMs: round(this.executorMs),
      ...(setupMs !== undefined && { setupMs: round(setupMs) }),
      ...(cpuMs !== undefined && { cpuMs: round(cpuMs) }),
      catalogMs: round(this.catalogMs),
      connectorMs: round(this.connectorMs),
      sourceBytes,
      resultChars: this.resultChars,
      operations: Object.fromEntries(operations) as Diagnostics["operations"],
      ...(blocks.length > 0 && { emitted: { count: blocks.length, bytes: blockBytes } }),
      ...(payload && { ui: payloadBytes }),
    };
  }
}

function round(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
