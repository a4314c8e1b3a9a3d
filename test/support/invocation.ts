import type { Invocation } from "../../server/invoke/invoke.ts";

/** A call of `crm.read` with a minute's time and no second attempt, unless told otherwise. */
export function invocation(parts: Partial<Invocation> = {}): Invocation {
  return {
    address: "crm.read",
    args: {},
    access: "read",
    surface: "outside",
    source: "call_tool",
    timeoutMs: 60_000,
    maxRetries: 0,
    ...parts,
  };
}
