import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { failure } from "../../shared/failure.ts";
import { isRecord } from "../../shared/record.ts";
import { Carrier } from "../mcp/carrier.ts";
import { Refused } from "../mcp/failures.ts";
import { Child, type Launch, type StopTimes } from "./child.ts";
import { idOf, Lines, type LongLine } from "./lines.ts";

const METHOD_NOT_FOUND = -32_601;

/** A process spoken to in lines of JSON-RPC; what else it writes is kept for the operator. */
class Wire implements Transport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: Transport["onmessage"];
  onLongLine: ((line: LongLine) => void) | undefined;
  /** Whether requests of the server are answered; the newer generation has none. */
  answers = true;
  readonly child: Child;

  constructor(launch: Launch, times: StopTimes, maxBytes: number) {
    const lines = new Lines(maxBytes, {
      line: (text) => this.#read(text),
      longLine: (line) => this.onLongLine?.(line),
    });
    this.child = new Child(launch, times, (chunk) => lines.push(chunk));
  }

  /** The process began earlier, and may have ended already. */
  start(): Promise<void> {
    void this.child.ended.then(() => this.onclose?.());
    return Promise.resolve();
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.child.write(`${JSON.stringify(message)}\n`);
  }

  /** Who started the process ends it. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  #read(text: string): void {
    const value = parsed(text);
    const messages = Array.isArray(value) ? value : [value];
    if (messages.length > 0 && messages.every(isMessage)) {
      for (const message of messages) this.#take(message);
    } else if (text.trim() !== "") this.child.note(`${text}\n`);
  }

  #take(message: JSONRPCMessage): void {
    const isRequest = "method" in message && "id" in message;
    if (!isRequest || !this.answers) return this.onmessage?.(message);
    const { id, method } = message;
    const error = { code: METHOD_NOT_FOUND, message: "Method not found" };
    void this.send(
      method === "ping" ? { jsonrpc: "2.0", id, result: {} } : { jsonrpc: "2.0", id, error },
    );
  }
}

/** The connection to one process; a line that is too long fails the request that it answers. */
export class Link extends Carrier {
  readonly #wire: Wire;

  /**
   * Starts the process.
   * @param maxBytes bytes that a line may have
   */
  constructor(launch: Launch, times: StopTimes, maxBytes: number) {
    const wire = new Wire(launch, times, maxBytes);
    super(wire);
    this.#wire = wire;
    wire.onLongLine = (line) => this.#tooLong(line, maxBytes);
  }

  get child(): Child {
    return this.#wire.child;
  }

  /** With {@link stderr}, how the client tells a process from a server on the network. */
  get pid(): number | null {
    return this.child.pid ?? null;
  }

  get stderr(): null {
    return null;
  }

  /** The server speaks the newer generation, in which it has no requests that we could answer. */
  stopAnswering(): void {
    this.#wire.answers = false;
  }

  #tooLong(line: LongLine, maxBytes: number): void {
    this.child.note(`(a line of ${line.bytes} bytes was left out)\n`);
    const id = idOf(line);
    if (id === undefined) return;
    const text = `The server sent ${line.bytes} bytes, more than ${maxBytes}.`;
    const details = { bytes: line.bytes, maxBytes };
    this.fail(id, new Refused(failure("result_too_large", text, details)));
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  if (!isRecord(value) || value.jsonrpc !== "2.0") return false;
  return typeof value.method === "string" || "result" in value || "error" in value;
}

function parsed(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
