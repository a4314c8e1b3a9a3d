import { failure, type Failure } from "../shared/failure.ts";
import { LIMITS, type ExecuteLimits } from "../shared/limits.ts";

/** What of one run may be under way at once, where the sandbox itself does not bound it. */
export interface UnderWay {
  readonly calls: number;
  /** UTF-16 units of arguments. */
  readonly chars: number;
}

/** More is a flood, not a program. */
const MAX_CALLS = 256;

/** What a run may have under way at once; the largest argument has room however small the bounds. */
export function underWay({ maxArgumentBytes, maxEmittedBytes }: ExecuteLimits): UnderWay {
  const largest = Math.max(maxArgumentBytes, maxEmittedBytes);
  return { calls: MAX_CALLS, chars: Math.max(LIMITS.argumentsInFlightBytes.value, 2 * largest) };
}

/**
 * Why a run ends that asked for more at once.
 * @param notice what the sandbox says: nothing, or JSON of `[chars]`, 0 when it was the calls
 */
export function floodIn(notice: unknown, { calls, chars }: UnderWay): Failure | undefined {
  const together = typeof notice === "string" ? /^\[(\d+)\]$/.exec(notice)?.[1] : undefined;
  if (together === undefined) return undefined;
  if (together === "0") {
    const message = `maxHostCalls: at most ${calls} can be under way at once.`;
    return failure("budget_exceeded", message, { budget: "maxHostCalls", remaining: 0 });
  }
  const message = `maxArgumentBytes: at most ${chars} can be under way at once.`;
  const details = { budget: "maxArgumentBytes", bytes: Number(together), maxBytes: chars };
  return failure("budget_exceeded", message, details);
}
