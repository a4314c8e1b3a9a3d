import { lookup as systemLookup, type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import type { Dispatcher } from "undici";
import { HostRefused, urlOf, type Outbound, type OutboundRules } from "../shared/outbound.ts";

/** Finds all addresses of a name, as `lookup` of `node:dns` does. */
export type Lookup = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void,
) => void;

/**
 * Requests on connections of their own, whose addresses are judged when each is made: a name that
 * leads elsewhere the second time is refused then.
 * @param lookup the system's when omitted
 */
export function nodeOutbound(rules: OutboundRules, lookup: Lookup = systemLookup): Outbound {
  let agent: Promise<Dispatcher> | undefined;
  let closed = false;
  return {
    async fetch(input, init) {
      rules.check(urlOf(input));
      if (closed) throw new TypeError("The deployment is closed.");
      agent ??= open(checked(rules, lookup));
      const own = { ...init, redirect: "manual", dispatcher: await agent } as const;
      try {
        return await fetch(input, own);
      } catch (error) {
        throw error instanceof TypeError && error.cause instanceof HostRefused
          ? error.cause
          : error;
      }
    },
    async close() {
      closed = true;
      await (await agent)?.destroy();
    },
  };
}

/** The package as a whole takes five times as long to load, most of it a `fetch` of its own. */
async function open(lookup: LookupFunction): Promise<Dispatcher> {
  const options = { connect: { lookup } };
  if (usesProxies()) {
    const { EnvHttpProxyAgent } = await import("undici");
    return new EnvHttpProxyAgent(options);
  }
  const { default: Agent } = await import("undici/lib/dispatcher/agent.js");
  return new Agent(options);
}

/** Whether Node was asked to go through the proxies of the environment; it does so since 22.21. */
function usesProxies(): boolean {
  const { env, execArgv } = process;
  return env.NODE_USE_ENV_PROXY === "1" || execArgv.includes("--use-env-proxy");
}

/** A lookup for sockets that finds nothing but what may be connected to. */
function checked(rules: OutboundRules, lookup: Lookup): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, []);
      const permitted = rules.permitted(hostname, found);
      const [first] = permitted;
      if (first === undefined) return callback(new HostRefused(hostname), []);
      if (options.all) callback(null, [...permitted]);
      else callback(null, first.address, first.family);
    });
  };
}
