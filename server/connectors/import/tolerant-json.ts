import { fail, ok, type Outcome } from "../../shared/failure.ts";

const BLANK = /(?:[\s\ufeff]|\/\/[^\n\r]*|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)*/y;
const STRING = /"(?:[^"\\\n\r]|\\[^\n\r])*"/y;
const ATOM = /(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y;
/** Deeper than any file that people write, and far from where the stack ends. */
const MAX_DEPTH = 200;

/** A mistake in the text at an offset. */
class Mistake extends Error {
  readonly offset: number;

  constructor(offset: number) {
    super();
    this.offset = offset;
  }
}

/**
 * Reads JSON as editors keep it: with comments, commas before closing brackets and a byte order
 * mark.
 * @returns `invalid_args` with the line and column of the mistake, and never a word of the text
 */
export function readTolerantJson(text: string): Outcome<unknown> {
  try {
    return ok(new Reader(text).whole());
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    const lines = text.slice(0, error.offset).split("\n");
    const column = (lines.at(-1) ?? "").length + 1;
    return fail("invalid_args", `It is no JSON: see line ${lines.length}, column ${column}.`);
  }
}

class Reader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): unknown {
    const value = this.#value();
    this.#take(BLANK);
    if (this.#at < this.#text.length) throw new Mistake(this.#at);
    return value;
  }

  #value(): unknown {
    this.#take(BLANK);
    switch (this.#text[this.#at]) {
      case "{":
        return Object.fromEntries(this.#members("}", () => this.#property()));
      case "[":
        return this.#members("]", () => this.#value());
      default: {
        const from = this.#at;
        const written = this.#take(STRING) ?? this.#take(ATOM);
        return this.#parsed(written, from);
      }
    }
  }

  #property(): readonly [string, unknown] {
    this.#take(BLANK);
    const from = this.#at;
    const name = String(this.#parsed(this.#take(STRING), from));
    this.#take(BLANK);
    this.#expect(":");
    return [name, this.#value()];
  }

  #members<T>(end: string, member: () => T): T[] {
    if (++this.#depth > MAX_DEPTH) throw new Mistake(this.#at);
    this.#at++;
    const found: T[] = [];
    for (;;) {
      this.#take(BLANK);
      if (this.#text[this.#at] === end) break;
      found.push(member());
      this.#take(BLANK);
      if (this.#text[this.#at] !== end) this.#expect(",");
    }
    this.#at++;
    this.#depth--;
    return found;
  }

  #expect(mark: string): void {
    if (this.#text[this.#at] !== mark) throw new Mistake(this.#at);
    this.#at++;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  /** The platform has the last word on escapes and numbers. */
  #parsed(written: string | undefined, from: number): unknown {
    try {
      return JSON.parse(written ?? "");
    } catch {
      throw new Mistake(from);
    }
  }
}
