import { fail, ok, type Outcome } from "./failure.ts";
import { endOfPiece, utf8Length } from "./text.ts";

/**
 * JSON text of a value that code of this process produced (never of guest code).
 * @param what subject of the message when the value has no JSON form
 */
export function toJson(value: unknown, what: string): Outcome<string> {
  try {
    return ok(JSON.stringify(value) ?? "null");
  } catch {
    return noJson(what);
  }
}

/** A JSON text and its length in UTF-8 bytes. */
export interface Measured {
  /** `undefined` when the text is longer than asked for. */
  readonly text: string | undefined;
  readonly bytes: number;
}

/** What is written before others get their turn: a few milliseconds of work. */
const STEP_CHARS = 1024 * 1024;

/** What is written at once: less work than most requests take. */
const LIGHT_CHARS = 128 * 1024;

/** Containers within containers that are written in steps; what lies deeper is written at once. */
const MAX_DEPTH = 16;

/** Whether writing or reading a text of this length is too little work to be put off. */
export function isLight(text: string): boolean {
  return text.length <= LIGHT_CHARS;
}

/**
 * The text that {@link toJson} gives, written in steps, so that a large value holds up nobody. A
 * value that changes meanwhile is written as it is met.
 * @param maxBytes a longer text is measured and not kept
 * @param rest lets others run; awaited before every step of a value that is not light
 */
export async function toJsonInSteps(
  value: unknown,
  what: string,
  maxBytes: number,
  rest: () => Promise<void>,
): Promise<Outcome<Measured>> {
  const writer = new StepWriter(maxBytes, rest);
  try {
    const isLightValue = weigh(value, LIGHT_CHARS) >= 0;
    if (!isLightValue) await rest();
    if (isLightValue || weigh(value, STEP_CHARS) >= 0) writer.add(JSON.stringify(value) ?? "null");
    else await writer.write(value, []);
    return ok(writer.written);
  } catch {
    return noJson(what);
  }
}

function noJson(what: string): Outcome<never> {
  return fail("not_serializable", `${what} has no JSON form (a cycle or a BigInt).`);
}

/** Members of an array or an object as a writer needs them. */
interface Members {
  readonly count: number;
  at(index: number): unknown;
  /** What stands before one member's own text. */
  label(index: number): string;
  /** JSON text of some members in a row, without what encloses them. */
  text(from: number, to: number): string;
}

class StepWriter {
  #text = "";
  #bytes = 0;
  readonly #maxBytes: number;
  readonly #rest: () => Promise<void>;

  constructor(maxBytes: number, rest: () => Promise<void>) {
    this.#maxBytes = maxBytes;
    this.#rest = rest;
  }

  get written(): Measured {
    const kept = this.#bytes <= this.#maxBytes;
    return { text: kept ? this.#text : undefined, bytes: this.#bytes };
  }

  add(text: string): void {
    this.#bytes += utf8Length(text);
    this.#text = this.#bytes <= this.#maxBytes ? this.#text + text : "";
  }

  /** Writes what is too heavy for one step, if that can be done in several. */
  async write(value: unknown, within: readonly object[]): Promise<void> {
    if (typeof value === "string") return this.#string(value);
    if (!isSteppable(value) || within.length === MAX_DEPTH) {
      this.add(JSON.stringify(value) ?? "null");
      return this.#rest();
    }
    if (within.includes(value)) throw new TypeError("A cycle has no JSON form.");
    const isArray = Array.isArray(value);
    this.add(isArray ? "[" : "{");
    await this.#members(isArray ? elements(value) : properties(value), [...within, value]);
    this.add(isArray ? "]" : "}");
  }

  async #string(text: string): Promise<void> {
    this.add('"');
    for (let from = 0; from < text.length;) {
      const to = endOfPiece(text, from, STEP_CHARS);
      this.add(JSON.stringify(text.slice(from, to)).slice(1, -1));
      from = to;
      await this.#rest();
    }
    this.add('"');
  }

  async #members(members: Members, within: readonly object[]): Promise<void> {
    let [separator, from, room] = ["", 0, STEP_CHARS];
    const group = async (to: number) => {
      const text = members.text(from, to);
      from = to;
      // Properties without a JSON form leave nothing behind.
      if (text === "") return;
      this.add(separator + text);
      separator = ",";
      await this.#rest();
    };
    for (let at = 0; at < members.count; at++) {
      const member = members.at(at);
      room = weigh(member, room);
      if (room >= 0) continue;
      await group(at);
      room = weigh(member, STEP_CHARS);
      if (room >= 0) continue;
      room = STEP_CHARS;
      if (typeof member === "string" || isSteppable(member)) {
        this.add(separator + members.label(at));
        separator = ",";
        from = at + 1;
        await this.write(member, within);
      } else await group(at + 1);
    }
    await group(members.count);
  }
}

/** What {@link StepWriter} can take apart without changing what the value says of itself. */
function isSteppable(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if ("toJSON" in value && typeof value.toJSON === "function") return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}

function elements(list: readonly unknown[]): Members {
  return {
    count: list.length,
    at: (index) => list[index],
    label: () => "",
    text: (from, to) => inside(list.slice(from, to)),
  };
}

function properties(value: object): Members {
  const named = value as Record<string, unknown>;
  const keys = Object.keys(named);
  return {
    count: keys.length,
    at: (index) => named[keys[index] ?? ""],
    label: (index) => `${JSON.stringify(keys[index])}:`,
    text: (from, to) => {
      // Without a prototype a key like __proto__ is one of many.
      const part = Object.create(null) as Record<string, unknown>;
      for (const key of keys.slice(from, to)) part[key] = named[key];
      return inside(part);
    },
  };
}

function inside(container: object): string {
  return JSON.stringify(container).slice(1, -1);
}

/**
 * Roughly how long the JSON text of a value is, in characters, without writing it.
 * @param max where it stops looking: a larger value is said to be one more
 */
export function roughLength(value: unknown, max: number): number {
  return Math.min(max + 1, max - weigh(value, max));
}

const CONTAINER_CHARS = 8;
const SCALAR_CHARS = 6;
const MAX_WEIGHED_DEPTH = 64;

/**
 * What is left of `room`, in characters, when a value is written; negative when it has none.
 * Looks no further than that, and only roughly: escapes and the length of numbers do not count.
 */
function weigh(value: unknown, room: number, depth = 0): number {
  if (typeof value === "string") return room - value.length;
  if (typeof value !== "object" || value === null) return room - SCALAR_CHARS;
  let left = room - CONTAINER_CHARS;
  if (depth === MAX_WEIGHED_DEPTH) return left;
  // It would list every index as a name.
  if (ArrayBuffer.isView(value)) return left - value.byteLength * CONTAINER_CHARS;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at++) left = weigh(value[at], left, depth + 1);
    return left;
  }
  for (const key in value) {
    if (left < 0) return left;
    left = weigh((value as Record<string, unknown>)[key], left - key.length, depth + 1);
  }
  return left;
}
