import type { App } from "@modelcontextprotocol/ext-apps";
import { isPlainObject } from "../../server/view/protocol.ts";
import {
  repairCallResult,
  repairError,
  repairInitializeResult,
  repairNotification,
} from "./repair.ts";

type Transport = NonNullable<Parameters<App["connect"]>[0]>;
type Message = Parameters<Transport["send"]>[0];

/**
 * The line between `App` and the host window. Inward it repairs or drops what the schemas of `App`
 * would refuse; outward it gives requests ids that a page sharing this window cannot guess.
 */
export class HostTransport implements Transport {
  onmessage?: NonNullable<Transport["onmessage"]>;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #host: Window;
  /** The method of each request that the host has yet to answer, by the id `App` gave it. */
  readonly #asked = new Map<number, string>();
  readonly #offset = randomOffset();

  /** @param host the only window that is heard and spoken to */
  constructor(host: Window) {
    this.#host = host;
  }

  async start(): Promise<void> {
    window.addEventListener("message", this.#receive);
  }

  async send(message: Message): Promise<void> {
    this.#host.postMessage(this.#outward(message), "*");
  }

  async close(): Promise<void> {
    window.removeEventListener("message", this.#receive);
    this.onclose?.();
  }

  #outward(message: Message): unknown {
    if (!("method" in message)) return message;
    if ("id" in message && typeof message.id === "number") {
      this.#asked.set(message.id, message.method);
      return { ...message, id: message.id + this.#offset };
    }
    if (message.method !== "notifications/cancelled") return message;
    const requestId = Number(message.params?.requestId);
    this.#asked.delete(requestId);
    return { ...message, params: { ...message.params, requestId: requestId + this.#offset } };
  }

  readonly #receive = ({ source, data }: MessageEvent<unknown>): void => {
    if (source !== this.#host || !isPlainObject(data) || data.jsonrpc !== "2.0") return;
    const { method } = data;
    const message = typeof method === "string" ? inward(method, data) : this.#answer(data);
    if (message) this.onmessage?.(message);
  };

  #answer(data: Record<string, unknown>): Message | undefined {
    // Some hosts give a number back as text.
    const given = typeof data.id === "string" ? Number(data.id) : data.id;
    if (typeof given !== "number") return undefined;
    const id = given - this.#offset;
    const method = this.#asked.get(id);
    if (method === undefined) return undefined;
    this.#asked.delete(id);
    if (data.result === undefined) {
      return { jsonrpc: "2.0", id, error: repairError(data.error) } as Message;
    }
    return { jsonrpc: "2.0", id, result: repairResult(method, data.result) } as Message;
  }
}

function repairResult(method: string, result: unknown): unknown {
  if (method === "ui/initialize") return repairInitializeResult(result);
  return method === "tools/call" ? repairCallResult(result) : result;
}

function inward(
  method: string,
  { id, params }: Readonly<Record<string, unknown>>,
): Message | undefined {
  if (typeof id === "string" || typeof id === "number") {
    return { jsonrpc: "2.0", id, method, params: {} };
  }
  const repaired = repairNotification(method, params);
  return repaired && { jsonrpc: "2.0", method, params: repaired };
}

/** Leaves room for 2^52 ids above it, so that sums stay exact. */
function randomOffset(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high % 2 ** 20) * 2 ** 32 + low;
}
