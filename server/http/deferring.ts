import type { Scope } from "../shared/scope.ts";

/** What a runtime lends to one request; see `RequestContext`. */
export interface Bindings {
  readonly waitUntil?: (task: Promise<unknown>) => void;
}

/**
 * What a request defers is kept alive where it would end with the request, and its faults are told.
 * @param what it belongs to, for the report
 */
export function deferring(
  { waitUntil }: Bindings = {},
  report: Scope["report"],
  what: string,
): Scope["defer"] {
  return (task) => {
    const deferred = task.catch((error: unknown) => report(error, what));
    waitUntil?.(deferred);
  };
}
