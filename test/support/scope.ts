import type { Scope } from "../../server/shared/scope.ts";

/** A scope for tests: never aborted and clockless unless told otherwise. */
export function testScope(overrides: Partial<Scope> = {}): Scope {
  return {
    signal: new AbortController().signal,
    now: () => 0,
    defer: () => undefined,
    principal: "anonymous",
    requestId: "request-1",
    report: () => undefined,
    ...overrides,
  };
}
