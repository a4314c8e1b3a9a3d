import { stem } from "./stem.ts";

/** Letters that Unicode does not decompose, in the spelling that people type instead. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
};
const SPECIAL = /[ßæœøłđðþı]/g;
const ASCII = /^[\u0000-\u007f]*$/;
const COMBINING = /[\u0300-\u036f]/g;
const WORDS = /[\p{L}\p{N}\p{M}]+/gu;
const SEPARATORS = /[^\p{L}\p{N}]+/gu;
const HUMPS = /([\p{Ll}\p{N}])(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu;
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u30fc]/u;
const CJK_RUNS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u30fc]+/gu;
const UPPER = /^\p{Lu}/u;
const CAPITAL = /[\p{L}\p{N}]\p{Lu}/u;

/** Words that one reader remembers. */
const MAX_KNOWN = 20_000;
/** What of one word is read, as written and again as folded: longer ones are data. */
const MAX_WORD_CHARS = 128;

/** A word with its parts. */
export interface Word {
  readonly kind: "word";
  /** Lower-cased, accents stripped. */
  readonly text: string;
  /** The parts of a camelCase word, folded; one for an ordinary word. */
  readonly parts: readonly string[];
  /** Whether it was written with a capital letter at its beginning. */
  readonly capital: boolean;
}

/** A piece of text: a word, or a run of a script that writes no spaces. */
export type Piece = Word | { readonly kind: "run"; readonly text: string };

/** Lower case, compatibility forms resolved, accents stripped. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFD")
    .replace(COMBINING, "")
    .normalize("NFC")
    .replace(SPECIAL, (letter) => LETTERS[letter] ?? letter);
}

/**
 * Cuts text into words and runs, in order.
 * @param max how many to read; the text behind them is not looked at
 */
export function pieces(text: string, max = Infinity): Piece[] {
  const found: Piece[] = [];
  for (const [written] of text.matchAll(WORDS)) {
    if (found.length >= max) break;
    if (ASCII.test(written) || !CJK.test(written)) found.push(word(written));
    else pushMixed(found, written, max);
  }
  return found.length > max ? found.slice(0, max) : found;
}

function pushMixed(found: Piece[], written: string, max: number): void {
  let from = 0;
  for (const match of written.matchAll(CJK_RUNS)) {
    if (found.length >= max) return;
    if (match.index > from) found.push(word(written.slice(from, match.index)));
    found.push({ kind: "run", text: fold(match[0]) });
    from = match.index + match[0].length;
  }
  if (from < written.length) found.push(word(written.slice(from)));
}

function word(written: string): Word {
  const head = written.slice(0, MAX_WORD_CHARS);
  const text = foldWord(head);
  const parts = CAPITAL.test(head) ? head.replace(HUMPS, "$1$2 ").split(" ").map(foldWord) : [text];
  return { kind: "word", text, parts, capital: UPPER.test(head) };
}

/** Folding makes up to eighteen characters of one, so that its result is bounded again. */
function foldWord(written: string): string {
  return fold(written).slice(0, MAX_WORD_CHARS);
}

/** The overlapping pairs of a run of unspaced script; a single character stands for itself. */
export function bigrams(run: string): string[] {
  const characters = [...run];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, i) => `${characters[i]}${character}`);
}

/**
 * Reads index terms out of texts: stems of words, of the parts of camelCase words and of a
 * two-part word as a whole, and pairs of characters for scripts without spaces.
 * Remembers words, since tool lists say the same few thousand over and over.
 */
export class TermReader {
  readonly #known = new Map<string, readonly string[]>();

  /** The terms of a text, in order. */
  read(text: string): string[] {
    const found: string[] = [];
    if (ASCII.test(text)) this.#readAscii(text, found);
    else {
      for (const [written] of text.matchAll(WORDS)) push(found, this.#word(written));
    }
    return found;
  }

  #readAscii(text: string, found: string[]): void {
    let from = -1;
    for (let at = 0; at <= text.length; at++) {
      if (at < text.length && isAlphanumeric(text.charCodeAt(at))) {
        if (from < 0) from = at;
      } else if (from >= 0) {
        push(found, this.#word(text.slice(from, at)));
        from = -1;
      }
    }
  }

  #word(written: string): readonly string[] {
    const known = this.#known.get(written);
    if (known !== undefined) return known;
    const read = pieces(written).flatMap(termsOf);
    if (this.#known.size < MAX_KNOWN && written.length <= MAX_WORD_CHARS) {
      this.#known.set(written, read);
    }
    return read;
  }
}

/** The index terms of one text. */
export function terms(text: string): string[] {
  return pieces(text).flatMap(termsOf);
}

function termsOf(piece: Piece): string[] {
  if (piece.kind === "run") return bigrams(piece.text);
  const parts = piece.parts.map(stem);
  if (parts.length === 2) parts.push(stem(piece.text));
  return parts;
}

function push(found: string[], more: readonly string[]): void {
  for (const term of more) found.push(term);
}

function isAlphanumeric(unit: number): boolean {
  return (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90) || (unit >= 48 && unit <= 57);
}

/** A name without case, accents and punctuation: what two spellings of it share. */
export function compact(name: string): string {
  return fold(name).replace(SEPARATORS, "");
}
