import type { ActivityEvent, ActivityQuery, ActivityStore } from "../../server/index.ts";
import { valueOf } from "./catalog.ts";

/** A recorded call that came out well, unless told otherwise. */
export function activityEvent(parts: Partial<ActivityEvent> = {}): ActivityEvent {
  return {
    time: 1_800_000_000_000,
    source: "call_tool",
    connector: "crm",
    tool: "get_record",
    address: "crm.get_record",
    outcome: "ok",
    code: undefined,
    durationMs: 12.5,
    attempts: 1,
    principal: "anonymous",
    requestId: "request-1",
    runId: undefined,
    ...parts,
  };
}

/** Events `0` to `count - 1`, by their request ids, a millisecond apart. */
export function activityEvents(count: number): ActivityEvent[] {
  return Array.from({ length: count }, (_, at) => {
    return activityEvent({ time: 1_800_000_000_000 + at, requestId: String(at) });
  });
}

/** The request ids of what a query gives, and its cursor. */
export async function readIds(store: Pick<ActivityStore, "read">, query: ActivityQuery = {}) {
  const { events, cursor } = valueOf(await store.read(query));
  return { ids: events.map(({ requestId }) => requestId), cursor };
}
