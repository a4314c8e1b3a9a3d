/** A line that was longer than allowed: its ends, in which its JSON-RPC id may stand. */
export interface LongLine {
  readonly head: string;
  readonly tail: string;
  readonly bytes: number;
}

/** What {@link Lines} hands on. */
export interface LineEvents {
  line(text: string): void;
  /** The rest of the line was not kept. */
  longLine(line: LongLine): void;
}

const NEWLINE = 0x0a;
const END_BYTES = 256;

/** Cuts a stream of bytes into lines; what is no UTF-8 becomes replacement characters. */
export class Lines {
  readonly #maxBytes: number;
  readonly #events: LineEvents;
  readonly #decoder = new TextDecoder();
  #parts: Buffer[] = [];
  #bytes = 0;

  /** @param maxBytes a longer line is not kept */
  constructor(maxBytes: number, events: LineEvents) {
    this.#maxBytes = maxBytes;
    this.#events = events;
  }

  /** Takes in what came. */
  push(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.#add(chunk.subarray(from, at));
      this.#flush();
      from = at + 1;
    }
    if (from < chunk.length) this.#add(chunk.subarray(from));
  }

  #add(part: Buffer): void {
    this.#bytes += part.length;
    this.#parts.push(part);
    if (this.#bytes > this.#maxBytes) this.#parts = ends(Buffer.concat(this.#parts));
  }

  #flush(): void {
    const [parts, bytes] = [this.#parts, this.#bytes];
    this.#parts = [];
    this.#bytes = 0;
    const whole = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
    if (bytes <= this.#maxBytes) {
      const text = this.#decoder.decode(whole);
      return this.#events.line(text.endsWith("\r") ? text.slice(0, -1) : text);
    }
    const [head, tail] = [whole.subarray(0, END_BYTES), whole.subarray(-END_BYTES)];
    this.#events.longLine({ head: head.toString(), tail: tail.toString(), bytes });
  }
}

/** Beginning and end of a line whose middle nobody needs. */
function ends(whole: Buffer): Buffer[] {
  if (whole.length <= 2 * END_BYTES) return [whole];
  // Copies, so that what lies between can be freed.
  return [Buffer.from(whole.subarray(0, END_BYTES)), Buffer.from(whole.subarray(-END_BYTES))];
}

/** The JSON-RPC id that an answer's beginning or end shows, where servers write it. */
export function idOf({ head, tail }: LongLine): number | undefined {
  const found =
    /^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,15})\b/.exec(head) ??
    /^\s*\{\s*"id"\s*:\s*(\d{1,15})\b/.exec(head) ??
    /"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}
