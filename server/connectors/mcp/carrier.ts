import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client";
import { refused } from "./failures.ts";

/** Under this key of `_meta` a result travels through the client as the server wrote it. */
const CARRIED = "connecta/carried";

/** Methods whose results the client's schemas would refuse or change. */
const CARRIED_METHODS: ReadonlySet<string> = new Set(["tools/list", "tools/call"]);

/** Notifications that anybody here listens to; the others would only cost time. */
const HEARD: ReadonlySet<string> = new Set([
  "notifications/tools/list_changed",
  "notifications/subscriptions/acknowledged",
  "notifications/cancelled",
]);

type Id = string | number;

/** How a carrier's transport behaves. */
export interface CarrierOptions {
  /** The handshake was made earlier, by another client. */
  readonly resumed?: boolean;
  /** Whether an answer may still come after a request was sent; by default it may. */
  readonly answersLater?: () => boolean;
}

/**
 * Stands between a client and its transport: results of tools reach us unread by the client's
 * schemas, and a request whose answer cannot come any more fails at once.
 */
export class Carrier implements Transport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: Transport["onmessage"];
  protected readonly inner: Transport;
  readonly #options: CarrierOptions;
  readonly #waiting = new Map<Id, string>();
  readonly #notes = new Set<Promise<unknown>>();

  constructor(inner: Transport, options: CarrierOptions = {}) {
    this.inner = inner;
    this.#options = options;
  }

  get hasPerRequestStream(): boolean {
    return this.inner.hasPerRequestStream ?? false;
  }

  /** An empty id stands for a handshake whose server keeps no session: the client asks for no other. */
  get sessionId(): string | undefined {
    return this.inner.sessionId ?? (this.#options.resumed ? "" : undefined);
  }

  async start(): Promise<void> {
    this.inner.onmessage = (message) => this.#receive(message);
    this.inner.onclose = () => this.onclose?.();
    this.inner.onerror = (error) => this.onerror?.(error);
    await this.inner.start();
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion?.(version);
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const request = requestIn(message);
    if (request === undefined) return this.#note(this.inner.send(message, options));
    const { id, method } = request;
    this.#waiting.set(id, method);
    try {
      await this.inner.send(message, {
        ...options,
        onRequestStreamEnd: () => {
          options?.onRequestStreamEnd?.();
          this.#lose(id, "unavailable", "The connection ended before the answer came.");
        },
      });
    } catch (error) {
      this.#waiting.delete(id);
      throw error;
    }
    if (this.#options.answersLater?.() === false) {
      this.#lose(id, "connector_call_failed", "The server answered something else than was asked.");
    }
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  /** Resolves when every notification that was sent has left, `undefined` when none is under way. */
  get notes(): Promise<unknown> | undefined {
    return this.#notes.size === 0 ? undefined : Promise.allSettled(this.#notes);
  }

  #note(sending: Promise<void>): Promise<void> {
    const note = sending.finally(() => this.#notes.delete(note));
    this.#notes.add(note);
    return note;
  }

  #receive(message: JSONRPCMessage): void {
    if ("method" in message && !("id" in message) && !HEARD.has(message.method)) return;
    const id = answeredId(message);
    const method = id === undefined ? undefined : this.#waiting.get(id);
    if (id !== undefined) this.#waiting.delete(id);
    const carried = method !== undefined && CARRIED_METHODS.has(method) && "result" in message;
    this.onmessage?.(carried ? shell(message) : message);
  }

  #lose(id: Id, code: "unavailable" | "connector_call_failed", text: string): void {
    if (!this.#waiting.delete(id)) return;
    this.fail(id, refused(code, text));
  }

  /** Answers a request with an error of our own, which no server can write. */
  protected fail(id: Id, reason: Error): void {
    const error = { code: -32_000, message: reason.message, data: reason };
    this.onmessage?.({ jsonrpc: "2.0", id, error });
  }
}

/** What the server answered, out of a result that came through a {@link Carrier}. */
export function unpack(result: unknown): unknown {
  const { _meta } = result as { readonly _meta?: Record<string, unknown> };
  return _meta?.[CARRIED];
}

/** A result that both methods' schemas accept in both generations, around the true one. */
function shell(message: { readonly result: unknown } & JSONRPCMessage): JSONRPCMessage {
  const { result: carried } = message;
  const result = {
    resultType: "complete",
    content: [],
    tools: [],
    ttlMs: 0,
    cacheScope: "private",
    _meta: { [CARRIED]: carried },
  };
  return { ...message, result } as JSONRPCMessage;
}

function requestIn(
  message: JSONRPCMessage,
): { readonly id: Id; readonly method: string } | undefined {
  return "method" in message && "id" in message ? message : undefined;
}

function answeredId(message: JSONRPCMessage): Id | undefined {
  return "method" in message ? undefined : message.id;
}
