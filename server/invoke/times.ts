/** Where the time of calls goes, summed, in milliseconds. */
export interface CallTimes {
  /** Until a catalog could say what an address means. */
  catalogMs: number;
  /** Inside connectors, without the pauses between two attempts. */
  connectorMs: number;
  /** Of the latest call, whether it failed or not, where somebody asks for it with 0. */
  attempts?: number;
}

type Timed = "catalogMs" | "connectorMs";

/** Does some work and, where somebody keeps the time, adds how long it took. */
export function clocked<T>(
  times: CallTimes | undefined,
  name: Timed,
  work: () => Promise<T>,
): Promise<T> {
  return times === undefined ? work() : measured(times, name, work);
}

async function measured<T>(times: CallTimes, name: Timed, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  try {
    return await work();
  } finally {
    times[name] += performance.now() - start;
  }
}
