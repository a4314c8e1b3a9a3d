import { lookup as systemLookup, type LookupAddress } from "node:dns";
import { createServer, type RequestListener, type Server } from "node:http";
import net, {
  isIPv6,
  type AddressInfo,
  type LookupFunction,
  type TcpNetConnectOpts,
} from "node:net";
import type { Lookup } from "../../server/node/outbound.ts";

/** A resolver that tests let lie, and the names that it was asked for. */
export interface LyingDns {
  readonly lookup: Lookup;
  readonly asked: readonly string[];
}

/** Answers one list of addresses after the other, and the last one from then on. */
export function lyingDns(...answers: readonly (readonly string[])[]): LyingDns {
  const asked: string[] = [];
  const lookup: Lookup = (hostname, _, callback) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(hostname);
    callback(
      null,
      answer.map((address) => ({ address, family: isIPv6(address.split("%")[0] ?? "") ? 6 : 4 })),
    );
  };
  return { lookup, asked };
}

/** Where sockets went that would have left this machine, and the way back to how it was. */
export interface CloudNetwork {
  readonly reached: readonly string[];
  leave(): void;
}

/** Makes sockets to these addresses arrive at loopback, as a cloud makes them arrive at itself. */
export function enterCloud(...addresses: readonly string[]): CloudNetwork {
  const { connect } = net;
  const reached: string[] = [];
  const routed = (address: string) => {
    if (!addresses.includes(address)) return address;
    reached.push(address);
    return "127.0.0.1";
  };
  const routing =
    (lookup: LookupFunction): LookupFunction =>
    (hostname, options, callback) =>
      lookup(hostname, options, (error, found, family) => {
        if (typeof found === "string") return callback(error, routed(found), family);
        const arrived = found.map(({ address, family: own }): LookupAddress => {
          const at = routed(address);
          return { address: at, family: at === address ? own : 4 };
        });
        callback(error, arrived);
      });
  Object.assign(net, {
    connect: (options: TcpNetConnectOpts) =>
      connect({
        ...options,
        host: routed(options.host ?? ""),
        lookup: routing(options.lookup ?? systemLookup),
      }),
  });
  return { reached, leave: () => void Object.assign(net, { connect }) };
}

/** A server on loopback, and the requests that reached it. */
export interface Site {
  readonly server: Server;
  readonly port: number;
  /** Method and path of each request, with the name that it was sent to. */
  readonly seen: readonly string[];
  close(): Promise<void>;
}

/** Starts a server that answers by path; every answer ends its connection unless told otherwise. */
export async function site(
  answers: Readonly<Record<string, RequestListener>>,
  keepsConnections = false,
): Promise<Site> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.headers.host?.replace(/:\d+$/, "")}${request.url}`);
    if (!keepsConnections) response.setHeader("connection", "close");
    const answer = answers[request.url ?? ""];
    if (answer) answer(request, response);
    else response.end("here");
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    server,
    port: (server.address() as AddressInfo).port,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
