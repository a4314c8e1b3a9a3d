import type { Client, DiscoverResult } from "@modelcontextprotocol/client";
import { endedWithin } from "../../shared/joining.ts";
import type { Scope } from "../../shared/scope.ts";
import { Carrier } from "../mcp/carrier.ts";
import { connect, loadSdk, makeClient } from "../mcp/client.ts";
import { refusalIn, type Refused } from "../mcp/failures.ts";
import { guard, type Guard, type GuardOptions } from "./guard.ts";

/** A server as it is reached: where, under which bounds, with which credential. */
export interface Endpoint extends GuardOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Takes the headers' values out of texts that the server wrote. */
  readonly redact: (text: string) => string;
}

/** What a handshake came to; plain data, from which any later exchange goes on. */
export type Peer =
  | { readonly era: "modern"; readonly discover: DiscoverResult }
  | {
      readonly era: "legacy";
      readonly version: string | undefined;
      /** Absent when the server keeps no sessions. */
      readonly sessionId: string | undefined;
    };

/** How to begin: with a handshake of one of these kinds, or where an earlier one left off. */
export type Beginning = "auto" | "legacy" | Peer;

/** How long a cancellation may take to reach the server before the connection is cut. */
const CANCEL_MS = 1_000;

/**
 * One client with its connection, alive for one operation: streams and signals of one request are
 * never used from another, which some runtimes forbid.
 */
export class Exchange {
  readonly client: Client;
  readonly #carrier: Carrier;
  readonly #guard: Guard;
  readonly #beginning: Beginning;

  private constructor(client: Client, carrier: Carrier, guard: Guard, beginning: Beginning) {
    this.client = client;
    this.#carrier = carrier;
    this.#guard = guard;
    this.#beginning = beginning;
  }

  /** Gets ready; nothing is sent before {@link connect}. */
  static async make(endpoint: Endpoint, beginning: Beginning, probeMs: number): Promise<Exchange> {
    const { StreamableHTTPClientTransport } = await loadSdk();
    const guarded = guard(endpoint);
    const session = legacyPeer(beginning);
    const transport = new StreamableHTTPClientTransport(endpoint.url, {
      fetch: guarded.fetch,
      redirectPolicy: "same-origin",
      requestInit: { headers: endpoint.headers },
      ...(session?.sessionId !== undefined && { sessionId: session.sessionId }),
      ...(session?.version !== undefined && { protocolVersion: session.version }),
    });
    const resumed = session !== undefined;
    const carrier = new Carrier(transport, { resumed, answersLater: guarded.isStreaming });
    const client = await makeClient(beginning === "auto" ? "auto" : "legacy", probeMs);
    return new Exchange(client, carrier, guarded, beginning);
  }

  /** Makes the handshake, or takes up the earlier one without a request. */
  async connect(signal: AbortSignal): Promise<void> {
    const beginning = this.#beginning;
    if (typeof beginning !== "string" && beginning.era === "modern") {
      const { discover } = beginning;
      await this.client.connect(this.#carrier, { prior: { kind: "modern", discover } });
    } else await connect(this.client, this.#carrier, signal);
  }

  /** What the handshake came to. */
  get peer(): Peer {
    const discover = this.client.getDiscoverResult();
    if (discover !== undefined) return { era: "modern", discover };
    const { sessionId } = this.#carrier;
    return { era: "legacy", version: this.client.getNegotiatedProtocolVersion(), sessionId };
  }

  /** Why an answer was broken off, whatever the client made of it. */
  refusal(error: unknown): Refused | undefined {
    return this.#guard.broken() ?? refusalIn(error);
  }

  /** Cuts the connection. */
  cut(): void {
    void this.#carrier.close().catch(() => undefined);
  }

  /** Cuts the connection as soon as a cancellation under way has reached the server. */
  end(scope: Scope): void {
    const { notes } = this.#carrier;
    if (notes === undefined) return this.cut();
    scope.defer(endedWithin(notes, CANCEL_MS).then(() => this.cut()));
  }
}

function legacyPeer(beginning: Beginning): Extract<Peer, { era: "legacy" }> | undefined {
  return typeof beginning !== "string" && beginning.era === "legacy" ? beginning : undefined;
}
