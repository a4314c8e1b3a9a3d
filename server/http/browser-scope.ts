import type { Log } from "../shared/log.ts";
import type { Scope } from "../shared/scope.ts";
import { deferring, type Bindings } from "./deferring.ts";

/** A request as the router hands it over, with what the runtime lends to it. */
export interface Asked {
  readonly req: { readonly raw: Request };
  readonly env: Bindings;
}

/**
 * The scope of what somebody does in a browser.
 * @param what names work that went wrong behind the answer
 */
export function browserScope(
  { req, env }: Asked,
  principal: "browser" | "operator",
  what: string,
  log: Log,
): Scope {
  const report: Scope["report"] = (error, about) => log.fault(error, about);
  return {
    signal: req.raw.signal,
    now: Date.now,
    defer: deferring(env, report, what),
    principal,
    requestId: crypto.randomUUID(),
    report,
  };
}
