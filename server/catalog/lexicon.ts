import { TRANSLATIONS } from "./languages.ts";
import { STOP_WORDS } from "./stop-words.ts";
import { stem } from "./stem.ts";
import { SYNONYMS } from "./synonyms.ts";
import { fold, pieces } from "./tokens.ts";

/** A term that a request's word may also be found under, and how far it is the same, 0 to 1. */
export interface Alternative {
  readonly term: string;
  readonly weight: number;
}

/** How far what stands in the tables counts for the word itself, 0 to 1. */
const LEXICON = {
  same: 0.58,
  near: 0.22,
  /** A narrower word, for the wider one that it is a case of. */
  wider: 0.4,
  translated: 0.8,
  /** What a translated word's own synonyms keep. */
  onceRemoved: 0.7,
} as const;
const MIN_FOREIGN_ROOT = 4;
/** Longer words have no root here. */
const MAX_FOREIGN_CHARS = 40;

/** The endings that inflect words in the languages of the translation table. */
const ENDINGS =
  /(?:ungen|ung|ieren|iert|ando|endo|tion|ar|er|ir|en|es|em|os|as|re|e|n|s|t|o|a|i|ами|ями|ого|ему|ать|ить|еть|ов|ев|ей|ой|ый|ий|ая|ое|ые|ых|ам|ям|ах|ях|ку|ка|ки|а|я|у|ю|ы|и|е|о|ь)$/;

/** What English words mean the same, and what other languages call it. */
export interface Lexicon {
  /** Neighbours of an English term or phrase (stems joined by `_`), without the term itself. */
  synonyms(key: string): readonly Alternative[];
  /** English terms for a folded word or phrase of another language. */
  translations(key: string): readonly Alternative[];
  /** The longest entry of an unspaced script that starts at `from`, in UTF-16 units; 0 if none. */
  longestRun(run: string, from: number): number;
  readonly phraseWords: number;
}

let shared: Lexicon | undefined;

/** The one lexicon: constant, built at first use and kept for as long as the process lives. */
export function lexicon(): Lexicon {
  shared ??= buildLexicon();
  return shared;
}

/** Reads the tables; some ten milliseconds of work. */
function buildLexicon(): Lexicon {
  const synonyms = readSynonyms();
  const { exact, roots, longest } = readTranslations(synonyms);
  return {
    phraseWords: 3,
    synonyms: (key) => synonyms.get(key) ?? [],
    translations: (key) => exact.get(key) ?? roots.get(root(key)) ?? [],
    longestRun(run, from) {
      for (let length = Math.min(longest, run.length - from); length > 0; length--) {
        if (exact.has(run.slice(from, from + length))) return length;
      }
      return 0;
    },
  };
}

function keyOf(entry: string): string {
  return entry.split("_").map(stem).join("_");
}

function readSynonyms(): Map<string, Alternative[]> {
  const table = new Map<string, Map<string, number>>();
  const relate = (from: string, to: string, weight: number) => {
    if (from === to) return;
    const known = table.get(from) ?? new Map<string, number>();
    table.set(from, known);
    for (const term of to.split("_"))
      if (!STOP_WORDS.has(term)) known.set(term, Math.max(known.get(term) ?? 0, weight));
  };
  for (const line of SYNONYMS) {
    const [same = [], near = []] = line.split("|").map((half) => words(half).map(keyOf));
    for (const from of same) {
      for (const to of same) relate(from, to, to.includes("_") ? LEXICON.near : LEXICON.same);
      for (const to of near) relate(from, to, LEXICON.near);
    }
    for (const from of near) for (const to of same) relate(from, to, LEXICON.wider);
  }
  return new Map(
    [...table].map(([key, known]) => [key, [...known].map(([term, weight]) => ({ term, weight }))]),
  );
}

function readTranslations(english: ReadonlyMap<string, readonly Alternative[]>) {
  const exact = new Map<string, Alternative[]>();
  const roots = new Map<string, Alternative[]>();
  let longest = 0;
  for (const line of TRANSLATIONS) {
    const at = line.indexOf(":");
    const heads = words(line.slice(0, at)).map(keyOf);
    const meanings = meaningsOf(heads, english);
    for (const foreign of words(line.slice(at + 1))) {
      const read = pieces(foreign.replaceAll("_", " "));
      const key = read.map(({ text }) => text).join("_");
      if (english.has(stem(key)) || heads.includes(stem(key))) continue;
      if (read.length === 1 && read[0]?.kind === "run") longest = Math.max(longest, key.length);
      append(exact, key, meanings);
      if (!key.includes("_") && root(key).length >= MIN_FOREIGN_ROOT) {
        append(roots, root(key), meanings);
      }
    }
  }
  return { exact, roots, longest };
}

function meaningsOf(
  heads: readonly string[],
  english: ReadonlyMap<string, readonly Alternative[]>,
): Alternative[] {
  const found = new Map<string, number>();
  const keep = (term: string, weight: number) => {
    for (const word of term.split("_")) found.set(word, Math.max(found.get(word) ?? 0, weight));
  };
  for (const [position, head] of heads.entries()) {
    keep(head, position === 0 ? LEXICON.translated : LEXICON.translated * 0.9);
    for (const { term, weight } of english.get(head) ?? [])
      keep(term, weight * LEXICON.onceRemoved);
  }
  return [...found].map(([term, weight]) => ({ term, weight }));
}

function append(
  table: Map<string, Alternative[]>,
  key: string,
  more: readonly Alternative[],
): void {
  const known = table.get(key) ?? [];
  for (const { term, weight } of more) {
    if (!known.some((other) => other.term === term)) known.push({ term, weight });
  }
  table.set(key, known);
}

function root(word: string): string {
  if (word.length > MAX_FOREIGN_CHARS) return word;
  const cut = word.replace(ENDINGS, "");
  return cut.length >= MIN_FOREIGN_ROOT ? cut : word;
}

function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean).map(fold);
}
