import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Executor } from "../shared/contracts.ts";
import type { Measures, Observation, QueueName, QueueState } from "../shared/observation.ts";
import { VERSION } from "../version.ts";

/** From an instant answer to the longest that a caller may wait, in seconds. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];

const LAG_RESOLUTION_MS = 20;
const NS = 1e9;

/**
 * Counts what a deployment does, for Prometheus. Labels hold ids of the deployment, the seven
 * tools and codes of ours; a caller or a connector can add no value of its own.
 */
export class Metrics implements Measures {
  readonly #registry = new Registry();
  readonly #lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  #queues: Readonly<Partial<Record<QueueName, QueueState>>> = {};

  readonly #requests = this.#counter("requests_total", "Requests of the seven tools.", [
    "tool",
    "outcome",
    "code",
  ]);
  readonly #requestSeconds = this.#histogram(
    "request_duration_seconds",
    "How long requests of the seven tools took.",
    ["tool"],
  );
  readonly #calls = this.#counter(
    "calls_total",
    "Calls of connectors; without one where the address leads nowhere.",
    ["connector", "source", "outcome", "code"],
  );
  readonly #callSeconds = this.#histogram(
    "call_duration_seconds",
    "How long calls of connectors took, retries included.",
    ["connector"],
  );
  readonly #runs = this.#counter("runs_total", "Programs.", ["outcome", "code"]);
  readonly #runSeconds = this.#histogram(
    "run_duration_seconds",
    "How long programs took, their wait for a place included.",
    [],
  );
  readonly #loads = this.#counter("catalog_loads_total", "Loads of tool lists.", [
    "connector",
    "outcome",
    "code",
  ]);
  readonly #waits = this.#histogram(
    "admission_wait_seconds",
    "How long work waited for a place that it was given.",
    ["queue"],
  );
  readonly #refusals = this.#counter("admission_refusals_total", "Work that was refused a place.", [
    "queue",
    "reason",
  ]);

  /** @param executor may tell how many sandbox processes it has */
  constructor(executor: Executor) {
    this.#lag.enable();
    this.#gauge("build_info", "The version that runs.", ["version"], (gauge) =>
      gauge.set({ version: VERSION }, 1),
    );
    this.#gauge("admissions_active", "Places that are taken.", ["queue"], (gauge) => {
      for (const [queue, { active }] of this.#watched()) gauge.set({ queue }, active);
    });
    this.#gauge("admissions_waiting", "Work that waits for a place.", ["queue"], (gauge) => {
      for (const [queue, { waiting }] of this.#watched()) gauge.set({ queue }, waiting);
    });
    this.#gauge("sandbox_processes", "Processes that programs run in.", [], (gauge) =>
      gauge.set(processesOf(executor)),
    );
    this.#gauge(
      "event_loop_lag_seconds",
      "How late timers were since the last scrape.",
      ["quantile"],
      (gauge) => this.#setLag(gauge),
    );
    new Gauge({
      name: "process_resident_memory_bytes",
      help: "Resident memory of the server, without its sandbox processes.",
      registers: [this.#registry],
      collect() {
        this.set(process.memoryUsage.rss());
      },
    });
  }

  /** Media type of {@link text}. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Everything in the text format of Prometheus. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  watch(queues: Readonly<Partial<Record<QueueName, QueueState>>>): void {
    this.#queues = queues;
  }

  observe(seen: Observation): void {
    const seconds = seen.ms / 1_000;
    if (seen.kind === "admission") {
      const { queue, refused } = seen;
      if (refused === undefined) this.#waits.observe({ queue }, seconds);
      else this.#refusals.inc({ queue, reason: refused });
      return;
    }
    const { code } = seen;
    const ended = code === undefined ? { outcome: "ok" } : { outcome: "failed", code };
    switch (seen.kind) {
      case "request":
        this.#requests.inc({ tool: seen.tool, ...ended });
        this.#requestSeconds.observe({ tool: seen.tool }, seconds);
        return;
      case "run":
        this.#runs.inc(ended);
        this.#runSeconds.observe(seconds);
        return;
      case "call": {
        const { connector = "", source } = seen;
        this.#calls.inc({ connector, source, ...ended });
        this.#callSeconds.observe({ connector }, seconds);
        return;
      }
      case "load":
        this.#loads.inc({ connector: seen.connector, ...ended });
    }
  }

  /** Stops looking at the event loop. */
  close(): void {
    this.#lag.disable();
  }

  #watched(): [string, QueueState][] {
    return Object.entries(this.#queues);
  }

  #setLag(gauge: Gauge): void {
    for (const percent of [50, 99]) {
      // The monitor counts its own waiting along.
      const late = this.#lag.percentile(percent) / NS - LAG_RESOLUTION_MS / 1_000;
      gauge.set({ quantile: String(percent / 100) }, Math.max(0, late));
    }
    this.#lag.reset();
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name: `connecta_${name}`, help, labelNames, registers: [this.#registry] });
  }

  #histogram<Label extends string>(name: string, help: string, labelNames: Label[]) {
    const registers = [this.#registry];
    return new Histogram({
      name: `connecta_${name}`,
      help,
      labelNames,
      buckets: SECONDS,
      registers,
    });
  }

  #gauge(name: string, help: string, labelNames: string[], set: (gauge: Gauge) => void): void {
    const collect = () => set(gauge);
    const registers = [this.#registry];
    const gauge: Gauge = new Gauge({
      name: `connecta_${name}`,
      help,
      labelNames,
      registers,
      collect,
    });
  }
}

function processesOf(executor: Executor): number {
  return "pids" in executor && Array.isArray(executor.pids) ? executor.pids.length : 0;
}
