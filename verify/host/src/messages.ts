import { isPlainObject, PAYLOAD_KEY } from "../../../server/view/protocol.ts";

/** Who sent a message. */
export type Direction = "view → host" | "host → view";

/** What a message is to JSON-RPC. */
export type Role = "request" | "result" | "error" | "notification";

/** Why a message stands out: a read of a view, a call the host refused, a message nobody took. */
export type Mark = "read" | "refused" | "ignored";

/** One message between a view and the host, as the inspector lists it. */
export interface Entry {
  readonly number: number;
  /** Milliseconds since the view was mounted. */
  readonly at: number;
  readonly direction: Direction;
  readonly role: Role;
  /** Own method, or that of the request which it answers. */
  readonly method: string;
  /** What the message is about, for a person. */
  readonly detail: string;
  /** UTF-8 length of its JSON. */
  readonly bytes: number;
  readonly message: unknown;
  /** Milliseconds from a request to its answer. */
  durationMs?: number;
  mark?: Mark;
}

/** A mark or a duration came later than its entry. */
export type LogEvent =
  | { readonly kind: "added" | "changed"; readonly entry: Entry }
  | { readonly kind: "cleared" };

const KEPT = 1000;

/** Messages to nobody that are listed of one view. */
const MOST_IGNORED = 20;

/** Every message between the current view and the host, in order; the oldest are dropped. */
export class MessageLog {
  readonly #entries: Entry[] = [];
  readonly #open = new Map<string, Entry>();
  #ignored = 0;
  readonly #listeners = new Set<(event: LogEvent) => void>();
  #number = 0;
  #since = performance.now();

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** @returns a function that stops listening */
  subscribe(listener: (event: LogEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A new view begins: its messages are timed from now on. */
  begin(): void {
    this.#since = performance.now();
    this.#ignored = 0;
    this.#open.clear();
  }

  clear(): void {
    this.#entries.length = 0;
    this.#emit({ kind: "cleared" });
  }

  /** Records one message that passed between view and host. */
  add(direction: Direction, message: unknown): void {
    const parts = isPlainObject(message) ? message : {};
    const { id, method } = parts;
    const now = performance.now() - this.#since;
    if (typeof method === "string") {
      const role = id === undefined ? "notification" : "request";
      const mark = direction === "view → host" && isRead(parts) ? "read" : undefined;
      const entry = this.#push(direction, role, method, describe(parts), message, now, mark);
      if (role === "request") this.#open.set(key(direction, id), entry);
      return;
    }
    const asked = this.#open.get(key(opposite(direction), id));
    const role = "error" in parts ? "error" : "result";
    const entry = this.#push(
      direction,
      role,
      asked?.method ?? "(unknown request)",
      describeAnswer(parts),
      message,
      now,
      asked?.mark,
    );
    if (asked === undefined) return;
    this.#open.delete(key(opposite(direction), id));
    entry.durationMs = now - asked.at;
    asked.durationMs = entry.durationMs;
    this.#emit({ kind: "changed", entry: asked });
  }

  /** Records a message that the host took from nobody: no view it mounted sent it. */
  ignore(message: unknown): void {
    // A flood must neither push everything else out of the list nor keep the page busy.
    if (++this.#ignored > MOST_IGNORED) return;
    const last = this.#entries.at(-1);
    const parts = isPlainObject(message) ? message : {};
    const method = typeof parts.method === "string" ? parts.method.slice(0, 80) : "(no method)";
    if (last?.mark === "ignored" && last.method === method) return;
    const now = performance.now() - this.#since;
    this.#push("view → host", "notification", method, "not from the view", message, now, "ignored");
  }

  /** Marks a request that the host refused to carry out. */
  refuse(id: unknown): void {
    const entry = this.#open.get(key("view → host", id));
    if (entry === undefined) return;
    entry.mark = "refused";
    this.#emit({ kind: "changed", entry });
  }

  #push(
    direction: Direction,
    role: Role,
    method: string,
    detail: string,
    message: unknown,
    at: number,
    mark: Mark | undefined,
  ): Entry {
    const bytes = sizeOf(message);
    const number = ++this.#number;
    const entry: Entry = { number, at, direction, role, method, detail, bytes, message };
    if (mark !== undefined) entry.mark = mark;
    this.#entries.push(entry);
    if (this.#entries.length > KEPT) this.#entries.shift();
    this.#emit({ kind: "added", entry });
    return entry;
  }

  #emit(event: LogEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

const encoder = new TextEncoder();

function sizeOf(message: unknown): number {
  try {
    return encoder.encode(JSON.stringify(message) ?? "").length;
  } catch {
    return 0;
  }
}

function opposite(direction: Direction): Direction {
  return direction === "view → host" ? "host → view" : "view → host";
}

function key(direction: Direction, id: unknown): string {
  return `${direction} ${JSON.stringify(id)}`;
}

function isRead(message: Record<string, unknown>): boolean {
  const { method, params } = message;
  return method === "tools/call" && isPlainObject(params) && params.name === "call_tool";
}

function describe(message: Record<string, unknown>): string {
  const params = isPlainObject(message.params) ? message.params : {};
  if (message.method === "tools/call") {
    const args = isPlainObject(params.arguments) ? params.arguments : {};
    const address = typeof args.address === "string" ? ` ${args.address}` : "";
    return `${typeof params.name === "string" ? params.name : "?"}${address}`;
  }
  if (message.method === "ui/notifications/size-changed") {
    return `${params.width ?? "–"} × ${params.height ?? "–"}`;
  }
  if (message.method === "ui/notifications/host-context-changed") {
    return Object.keys(params).join(", ");
  }
  if (message.method === "ui/notifications/tool-result") return describeResult(params);
  if (message.method === "ui/initialize" && isPlainObject(params.appInfo)) {
    return `${params.appInfo.name} ${params.appInfo.version}`;
  }
  if (typeof params.mode === "string") return params.mode;
  if (typeof params.reason === "string") return params.reason;
  return "";
}

function describeResult(result: Record<string, unknown>): string {
  if (result.isError === true) return "isError";
  return isPlainObject(result._meta) && PAYLOAD_KEY in result._meta
    ? "with a view"
    : "without a view";
}

function describeAnswer(message: Record<string, unknown>): string {
  if (isPlainObject(message.error) && typeof message.error.message === "string") {
    return message.error.message;
  }
  return isPlainObject(message.result) && message.result.isError === true ? "isError" : "";
}
