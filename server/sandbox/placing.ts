/** A process that has been at one frame for longer than this is computing, not busy with many. */
const LONG_MS = 10;

/** What decides whether a process takes a run. */
export interface Candidate {
  /** Whether it takes runs at all. */
  readonly usable: boolean;
  /** Whether its interpreter runs at full speed. */
  readonly isWarm: boolean;
  /** Whether it has computed for longer than the run that it is at may: it is about to end. */
  readonly overdue: boolean;
  /** How long it has computed for that run, in milliseconds. */
  readonly busyMs: number;
  /** Frames that it has not answered. */
  readonly backlog: number;
  /** Runs that it carries. */
  readonly load: number;
}

/**
 * The process to take a run. `undefined` when none should: each is computing, and the first one to
 * answer will serve the run sooner than one that was chosen now.
 */
export function place<P extends Candidate>(processes: Iterable<P>): P | undefined {
  let best: P | undefined;
  for (const process of processes) {
    if (process.usable && (best === undefined || inOrder(process, best) < 0)) best = process;
  }
  return best === undefined || best.busyMs > LONG_MS ? undefined : best;
}

/**
 * Which of two processes serves a run sooner: one that is not about to end, one that is warm, one
 * that is not computing, the one with less to do, the one with fewer runs that may wake.
 */
function inOrder(a: Candidate, b: Candidate): number {
  return (
    Number(a.overdue) - Number(b.overdue) ||
    Number(b.isWarm) - Number(a.isWarm) ||
    Number(a.busyMs > LONG_MS) - Number(b.busyMs > LONG_MS) ||
    a.backlog - b.backlog ||
    a.load - b.load
  );
}
