import { isRecord } from "./record.ts";

/** Who makes a call, as far as a deployment may tell callers apart. */
export interface Caller {
  readonly principal: string;
}

/** How much one connector is asked for; what is left out is not bounded. */
export interface CallLimits {
  /** Calls under way at once; more wait, as long as their own deadline lets them. */
  readonly concurrency?: number;
  /** At most so many calls in any stretch of so many milliseconds; more are refused. */
  readonly budget?: { readonly calls: number; readonly windowMs: number };
  /** What is counted apart: callers with one key share the limits, others have their own. */
  readonly partition?: (caller: Caller) => string;
}

const MAX_CONCURRENCY = 10_000;
/** Each call of a window is remembered. */
const MAX_BUDGET_CALLS = 10_000;
const MAX_WINDOW_MS = 24 * 60 * 60_000;

/**
 * What is wrong with limits, in words that name the option, or `undefined`.
 * @param limits whatever stands in a config
 */
export function callLimitsProblem(limits: unknown): string | undefined {
  if (limits === undefined) return undefined;
  if (!isRecord(limits)) return "limits is no object: give { concurrency?, budget?, partition? }";
  const { concurrency, budget, partition, ...others } = limits;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    return `limits.${unknown} is no option; limits can be: concurrency, budget, partition`;
  }
  if (concurrency !== undefined && !isCount(concurrency, MAX_CONCURRENCY)) {
    return `limits.concurrency must be a whole number from 1 to ${MAX_CONCURRENCY}`;
  }
  if (budget !== undefined) {
    if (!isRecord(budget)) return "limits.budget is no object: give { calls, windowMs }";
    const { calls, windowMs, ...more } = budget;
    const [stranger] = Object.keys(more);
    if (stranger !== undefined) {
      return `limits.budget.${stranger} is no option; it can be: calls, windowMs`;
    }
    if (!isCount(calls, MAX_BUDGET_CALLS)) {
      return `limits.budget.calls must be a whole number from 1 to ${MAX_BUDGET_CALLS}`;
    }
    if (!isCount(windowMs, MAX_WINDOW_MS)) {
      return `limits.budget.windowMs must be whole milliseconds from 1 to ${MAX_WINDOW_MS}`;
    }
  }
  if (partition !== undefined && typeof partition !== "function") {
    return "limits.partition is no function: give ({ principal }) => principal";
  }
  return undefined;
}

function isCount(value: unknown, max: number): boolean {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= max;
}
