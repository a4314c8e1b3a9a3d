import { canonicalHost, isUnsafe, readRange, withoutDot, type Range } from "./addresses.ts";
import type { Connector } from "./contracts.ts";

/** As the platform's `fetch`, but an answer that redirects is the answer. */
export type OutboundFetch = (
  input: string | URL | Request,
  init?: RequestInit,
) => Promise<Response>;

/** What the connectors of a deployment make their requests with. */
export interface Outbound {
  /** @throws HostRefused before anything is sent to where no request may go */
  readonly fetch: OutboundFetch;
  /** Lets go of connections; requests under way are ended by whoever made them. */
  close?(): Promise<void>;
}

/** Thrown for a host that is, or leads to, a place that connectors do not ask. */
export class HostRefused extends Error {
  override readonly name = "HostRefused";
  /** Without brackets, and without a dot at its end. */
  readonly host: string;

  /** @param hostname as a URL has it */
  constructor(hostname: string) {
    const host = withoutDot(hostname).replace(/^\[|\]$/g, "");
    super(refusal("A connector", host));
    this.host = host;
  }

  /** Why a connector got no answer, in a sentence for models and operators. */
  told(id: string): string {
    return refusal(id, this.host);
  }
}

/** Names of metadata services, for runtimes that do not show what a name leads to. */
const UNSAFE_NAMES: ReadonlySet<string> = new Set([
  "metadata.google.internal",
  "metadata.goog",
  "metadata.azure.internal",
  "metadata.tencentyun.com",
  "metadata.oraclecloud.com",
  "metadata.platformequinix.com",
  "api.metadata.cloud.ibm.com",
  "instance-data.ec2.internal",
]);

/** Where the connectors of a deployment may not send requests, and what is excepted from that. */
export class OutboundRules {
  readonly #names: ReadonlySet<string>;
  readonly #ranges: readonly Range[];

  /** @param allow host names, addresses and ranges; those that {@link isAllowable} */
  constructor(allow: readonly string[] = []) {
    const ranges = allow.map(readRange);
    this.#ranges = ranges.filter((range) => range !== undefined);
    this.#names = new Set(
      allow.flatMap((entry, index) => (ranges[index] ? [] : (canonicalHost(entry) ?? []))),
    );
  }

  /** Refuses a request by what its URL says, before a name is looked up. */
  check({ hostname }: URL): void {
    const host = withoutDot(hostname);
    const range = isAddress(host) ? readRange(host) : undefined;
    if (range ? !isUnsafe(range, this.#ranges) : !this.#isUnsafeName(host)) return;
    throw new HostRefused(host);
  }

  /** The addresses of a name that may be connected to: all of them for a name that is allowed. */
  permitted<Found extends { readonly address: string }>(
    hostname: string,
    found: readonly Found[],
  ): readonly Found[] {
    if (this.#names.has(withoutDot(hostname))) return found;
    return found.filter(({ address }) => {
      const range = readRange(address);
      return range !== undefined && !isUnsafe(range, this.#ranges);
    });
  }

  #isUnsafeName(host: string): boolean {
    return UNSAFE_NAMES.has(host) && !this.#names.has(host);
  }
}

/** Whether an entry of `outbound.allow` is a host name, an address or a range. */
export function isAllowable(entry: string): boolean {
  return readRange(entry) !== undefined || canonicalHost(entry) !== undefined;
}

/**
 * Requests with the platform's own `fetch`. It does not show the addresses that names lead to, so
 * that hosts are judged as they are written.
 */
export function platformOutbound(rules: OutboundRules): Outbound {
  return {
    async fetch(input, init) {
      rules.check(urlOf(input));
      return fetch(input, { ...init, redirect: "manual" });
    },
  };
}

/**
 * Makes what the connectors of a deployment make their requests with, and lends it to each.
 * @param make the platform's when omitted
 */
export function openOutbound(
  ready: { readonly connectors: readonly Connector[]; readonly outbound: OutboundRules },
  make: (rules: OutboundRules) => Outbound = platformOutbound,
): Outbound {
  const outbound = make(ready.outbound);
  for (const connector of ready.connectors) connector.useFetch?.(outbound.fetch);
  return outbound;
}

/** What a connector makes its requests with that no deployment has taken up. */
export const bareFetch: OutboundFetch = platformOutbound(new OutboundRules()).fetch;

/** The URL of a request, in whichever form `fetch` takes it. */
export function urlOf(input: string | URL | Request): URL {
  return new URL(input instanceof Request ? input.url : input);
}

/** URLs write no name like this. */
function isAddress(host: string): boolean {
  return host.startsWith("[") || /\d$/.test(host);
}

function refusal(subject: string, host: string): string {
  return (
    `${subject} may not ask ${host}, which is or leads to a link-local, metadata or reserved ` +
    `address. The operator can allow it: outbound: { allow: ["${host}"] }.`
  );
}
