import type { ActivityEvent, ActivityFilter, ActivityPage, ActivityStore } from "./activity.ts";
import { onAbort } from "./aborts.ts";
import { LIMITS } from "./limits.ts";
import type { Outcome } from "./failure.ts";

/** How events are followed. */
export interface FollowOptions extends ActivityFilter {
  /** Ends the following. */
  readonly signal: AbortSignal;
  /** How often the store is asked, in milliseconds; 250 when omitted. */
  readonly everyMs?: number;
}

const EVERY_MS = 250;

/**
 * Gives what is recorded after a cursor, in order and as it comes, from any process that shares the
 * store. Ends with the signal, or with the first failure of the store.
 */
export async function* followActivity(
  store: ActivityStore,
  after: string,
  { signal, everyMs = EVERY_MS, ...filter }: FollowOptions,
): AsyncGenerator<Outcome<readonly ActivityEvent[]>, void> {
  let cursor = after;
  const limit = LIMITS.activityPage.value;
  while (!signal.aborted) {
    const page: Outcome<ActivityPage> = await store.read({ ...filter, after: cursor, limit });
    if (!page.ok) return yield page;
    const { events } = page.value;
    cursor = page.value.cursor;
    if (events.length > 0) yield { ok: true, value: events };
    if (events.length < limit) await wait(everyMs, signal);
  }
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => end(), ms);
    let release = () => {};
    const end = () => {
      clearTimeout(timer);
      release();
      resolve();
    };
    release = onAbort(signal, end);
  });
}
