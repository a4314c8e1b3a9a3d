import { onAbort } from "../../shared/aborts.ts";
import { fail, ok, type Failure } from "../../shared/failure.ts";
import type { Scope } from "../../shared/scope.ts";
import { errorCode, failureOf, type Refused } from "../mcp/failures.ts";
import { unlessAborted } from "../../shared/waiting.ts";
import { Exchange, type Beginning, type Endpoint, type Peer } from "./exchange.ts";

type Target = Pick<Endpoint, "url" | "headers" | "fetch">;

interface Entry {
  peer: Peer | undefined;
  opening: Promise<Handshake> | undefined;
  /** Where and with which credential a session is ended. */
  target: Target;
}

/** One handshake with a remote server; nobody's own deadline is longer. */
const OPEN_MS = 10_000;
/** How long a closing deployment waits for sessions to end, in milliseconds. */
const CLOSE_MS = 2_000;
const MAX_ENTRIES = 256;

/** What is known of one server: its generation, and the handshake of every credential's owner. */
export class Sessions {
  readonly #legacyOnly: boolean;
  readonly #entries = new Map<string, Entry>();
  #era: Peer["era"] | undefined;
  #closed = false;

  /** @param legacyOnly whether servers are never asked for the newer generation */
  constructor(legacyOnly: boolean) {
    this.#legacyOnly = legacyOnly;
  }

  /**
   * The handshake to go on from; concurrent callers share one.
   * @param owner whose credential it is made with
   */
  async peer(owner: string, endpoint: Endpoint, scope: Scope): Promise<Handshake> {
    const entry = this.#entry(owner, endpoint, scope);
    if (entry.peer !== undefined) return ok(entry.peer);
    if (entry.opening === undefined) {
      entry.opening = this.#open(endpoint, scope).then((opened) => {
        entry.opening = undefined;
        if (opened.ok) entry.peer = opened.value;
        if (this.#closed) void terminate(entry);
        return opened;
      });
      scope.defer(entry.opening);
    }
    return unlessAborted(entry.opening, scope.signal, endpoint.id);
  }

  /** The server does not know this handshake any more. */
  forget(owner: string, peer: Peer): void {
    const entry = this.#entries.get(owner);
    if (entry?.peer === peer) entry.peer = undefined;
  }

  /** The server may speak another generation than it did. */
  forgetEra(owner: string, peer: Peer): void {
    this.#era = undefined;
    this.forget(owner, peer);
  }

  /** Tells the server that every session is over. */
  async close(): Promise<void> {
    this.#closed = true;
    const ending = [...this.#entries.values()].map((entry) => terminate(entry));
    this.#entries.clear();
    await Promise.all(ending);
  }

  #entry(owner: string, endpoint: Endpoint, scope: Scope): Entry {
    const { url, headers, fetch } = endpoint;
    const target = { url, headers, fetch };
    const known = this.#entries.get(owner);
    if (known !== undefined) {
      known.target = target;
      return known;
    }
    const entry: Entry = { peer: undefined, opening: undefined, target };
    this.#entries.set(owner, entry);
    const [eldest] = this.#entries;
    if (eldest !== undefined && this.#entries.size > MAX_ENTRIES) {
      this.#entries.delete(eldest[0]);
      scope.defer(terminate(eldest[1]));
    }
    return entry;
  }

  async #open(endpoint: Endpoint, scope: Scope): Promise<Handshake> {
    const skipsProbe = this.#legacyOnly || this.#era === "legacy";
    let outcome = await handshake(endpoint, skipsProbe ? "legacy" : "auto", scope);
    // Some servers of the older generation fail at a question that they do not know.
    if ("older" in outcome) outcome = await handshake(endpoint, "legacy", scope);
    if (outcome.ok) this.#era = outcome.value.era;
    else this.#era = undefined;
    return outcome;
  }
}

/** What a handshake came to. */
export type Handshake =
  | { readonly ok: true; readonly value: Peer }
  | {
      readonly ok: false;
      readonly failure: Failure;
      /** How the server refused, when that is why. */
      readonly refusal?: Refused | undefined;
      readonly older?: true;
    };

/** Makes one handshake under a deadline of its own: its first caller may leave before the others. */
async function handshake(
  endpoint: Endpoint,
  beginning: Beginning,
  caller: Scope,
): Promise<Handshake> {
  const late = new AbortController();
  const scope: Scope = { ...caller, signal: new AbortController().signal };
  const exchange = await Exchange.make(endpoint, beginning, OPEN_MS);
  const timer = setTimeout(() => late.abort(), OPEN_MS);
  const off = onAbort(late.signal, () => exchange.cut());
  const what = `The handshake with ${endpoint.id}`;
  try {
    await exchange.connect(late.signal);
    return ok(exchange.peer);
  } catch (error) {
    if (late.signal.aborted) {
      return fail("unavailable", `${what} took longer than ${OPEN_MS} ms.`, { timeoutMs: OPEN_MS });
    }
    const refusal = exchange.refusal(error);
    const failed = failureOf(refusal ?? error, { what, redact: endpoint.redact, scope });
    const older = errorCode(error) === "ERA_NEGOTIATION_FAILED" && isNoAnswer(refusal?.status);
    return { ...failed, refusal, ...(older && beginning === "auto" && { older: true }) };
  } finally {
    clearTimeout(timer);
    off();
    exchange.end(scope);
  }
}

/** Whether a refused question says nothing of the server's health: it fell over, or wrote no MCP. */
function isNoAnswer(status: number | undefined): boolean {
  return status === undefined || status === 500 || status === 501;
}

/** Ends a session that the server keeps; whether it hears of it is its own affair. */
async function terminate({ peer, target }: Entry): Promise<void> {
  if (peer?.era !== "legacy" || peer.sessionId === undefined || peer.sessionId === "") return;
  const { url, headers, fetch } = target;
  const { sessionId, version } = peer;
  try {
    const response = await fetch(url, {
      method: "DELETE",
      headers: {
        ...headers,
        "mcp-session-id": sessionId,
        ...(version !== undefined && { "mcp-protocol-version": version }),
      },
      redirect: "manual",
      signal: AbortSignal.timeout(CLOSE_MS),
    });
    await response.body?.cancel();
  } catch {
    // It ends by itself where the server forgets idle sessions.
  }
}
