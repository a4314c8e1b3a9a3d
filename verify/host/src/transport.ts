import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { isPlainObject } from "../../../server/view/protocol.ts";
import type { MessageLog } from "./messages.ts";

/** Carries JSON-RPC to and from one frame of one origin, and shows each message to the log. */
export class FrameTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #frame: Window;
  readonly #origin: string;
  readonly #log: MessageLog;

  /**
   * @param frame the window of the sandbox proxy
   * @param origin the only origin that is listened to and sent to
   */
  constructor(frame: Window, origin: string, log: MessageLog) {
    this.#frame = frame;
    this.#origin = origin;
    this.#log = log;
  }

  async start(): Promise<void> {
    window.addEventListener("message", this.#receive);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#log.add("host → view", message);
    this.#frame.postMessage(message, this.#origin);
  }

  async close(): Promise<void> {
    window.removeEventListener("message", this.#receive);
    this.onclose?.();
  }

  #receive = ({ source, origin, data }: MessageEvent<unknown>) => {
    if (!isMessage(data)) return;
    // Any frame below can post to the top window; only the proxy speaks for the view.
    if (source !== this.#frame || origin !== this.#origin) return this.#log.ignore(data);
    this.#log.add("view → host", data);
    this.onmessage?.(data);
  };
}

/** The SDK validates params and results by method; here it only has to be JSON-RPC. */
function isMessage(data: unknown): data is JSONRPCMessage {
  return isPlainObject(data) && data.jsonrpc === "2.0";
}
