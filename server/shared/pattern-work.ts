/** How much backtracking a pattern may take on a text of `n` characters: `choices * n ** degree`. */
export interface PatternWork {
  /** 0 and 1 are harmless; `Infinity` where the work may double with every character. */
  readonly degree: number;
  /** Ways to go that do not depend on the text's length. */
  readonly choices: number;
}

/** A part's work, and whether there is more than one way through it. */
interface Part extends PatternWork {
  readonly varies: boolean;
}

const NOTHING: Part = { degree: 0, choices: 1, varies: false };
const ENDLESS: Part = { degree: Number.POSITIVE_INFINITY, choices: 1, varies: true };

/** So many repetitions are spelled out; more count as any number of them. */
const FEW = 16;

/**
 * An upper bound of the work that a pattern takes. It looks at the structure alone, so that a
 * pattern whose ways exclude each other counts as if they did not: harmless ones may seem costly,
 * costly ones never harmless.
 * @param source a regular expression that compiles
 */
export function patternWork(source: string): PatternWork {
  const [whole, ways] = new Reader(source).alternatives();
  const { degree, choices } = whole;
  // Without an anchor the search begins anew at every character.
  const restarts = degree > 0 && (ways > 1 || !source.startsWith("^")) ? 1 : 0;
  return { degree: degree + restarts, choices };
}

class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Up to the end of the group or of the pattern, and how many alternatives there are. */
  alternatives(): readonly [Part, number] {
    let [whole, ways] = [this.#sequence(), 1];
    for (; this.#take("|"); ways++) {
      const { degree, choices } = this.#sequence();
      whole = {
        degree: Math.max(whole.degree, degree),
        choices: whole.choices + choices,
        varies: true,
      };
    }
    return [whole, ways];
  }

  #sequence(): Part {
    let whole = NOTHING;
    while (this.#at < this.#source.length && !"|)".includes(this.#source[this.#at] ?? "")) {
      const part = repeated(this.#atom(), this.#quantifier());
      whole = {
        degree: whole.degree + part.degree,
        choices: whole.choices * part.choices,
        varies: whole.varies || part.varies,
      };
    }
    return whole;
  }

  #atom(): Part {
    const character = this.#source[this.#at++];
    if (character === "\\") {
      const escaped = this.#source[this.#at++] ?? "";
      // What it refers to may have any length.
      return /[1-9k]/.test(escaped) ? ENDLESS : this.#braced();
    }
    if (character === "[") {
      for (; this.#at < this.#source.length && this.#source[this.#at] !== "]"; this.#at++) {
        if (this.#source[this.#at] === "\\") this.#at++;
      }
      this.#at++;
      return NOTHING;
    }
    if (character !== "(") return NOTHING;
    const opening = /^\?(?::|=|!|<=|<!|<[^>]*>)/.exec(this.#source.slice(this.#at));
    this.#at += opening?.[0].length ?? 0;
    const [inside] = this.alternatives();
    this.#at++;
    return inside;
  }

  /** What belongs to an escape such as `\p{L}` or `\u{1F600}`, which is no quantifier. */
  #braced(): Part {
    const escaped = this.#source[this.#at - 1] ?? "";
    if (/[pPu]/.test(escaped) && this.#source[this.#at] === "{") {
      this.#at = this.#source.indexOf("}", this.#at) + 1;
    }
    return NOTHING;
  }

  /** Least and most repetitions. */
  #quantifier(): readonly [number, number] {
    const [text, sign, from, comma, to] =
      /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(this.#source.slice(this.#at, this.#at + 64)) ?? [];
    if (text === undefined) return [1, 1];
    this.#at += text.length;
    if (sign === "?") return [0, 1];
    if (sign !== undefined) return [sign === "+" ? 1 : 0, Number.POSITIVE_INFINITY];
    if (comma === "") return [Number(from), Number(from)];
    return [Number(from), to === "" ? Number.POSITIVE_INFINITY : Number(to)];
  }

  #take(character: string): boolean {
    const found = this.#source[this.#at] === character;
    if (found) this.#at++;
    return found;
  }
}

function repeated(part: Part, [least, most]: readonly [number, number]): Part {
  if (least === 1 && most === 1) return part;
  const { degree, choices, varies } = part;
  if (most > FEW) {
    if (varies) return ENDLESS;
    return least === most ? part : { degree: degree + 1, choices, varies: true };
  }
  return {
    degree: degree * most,
    choices: choices ** most * (most - least + 1),
    varies: varies || least !== most,
  };
}
