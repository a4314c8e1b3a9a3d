import { actionOf } from "./actions.ts";
import { concept, type Concept } from "./concept.ts";
import type { Alternative, Lexicon } from "./lexicon.ts";
import { stem } from "./stem.ts";
import { STOP_WORDS } from "./stop-words.ts";
import { bigrams, type Word } from "./tokens.ts";
import type { Vocabulary } from "./vocabulary.ts";

const NUMBER_WEIGHT = 0.35;
const FILLER_WEIGHT = 0.3;
/** What a guess is worth, by the edits that separate it from what was written. */
const GUESS_WEIGHTS = [1, 0.75, 0.55];
const SPLIT_WEIGHT = 0.8;
const JOINED_WEIGHT = 0.9;
const MIN_PART = 3;
const MIN_COMPOUND = 4;
/** Longer words are neither taken apart nor corrected: the work grows with the square of this. */
const MAX_GUESSED_CHARS = 40;
const KANA = /^\p{Script=Hiragana}+$/u;

/** A capitalised word that some catalog knows as one is a name; other camelCase falls apart. */
export function partsOf(word: Word, vocabulary: Vocabulary): Word[] {
  if (word.parts.length === 1) return [word];
  if (word.capital && vocabulary.has(stem(word.text))) return [word];
  return word.parts
    .filter((part) => !STOP_WORDS.has(part))
    .map((part) => ({ kind: "word", text: part, parts: [part], capital: false }));
}

/**
 * The concept of one word: itself, its synonyms, its translation, what it makes with the next
 * word, and for a word that nobody knows what it was probably meant to be.
 * @param mayGuess whether to take an unknown word apart and to look for its neighbours
 */
export function wordConcept(
  { text }: Word,
  next: string | undefined,
  lexicon: Lexicon,
  vocabulary: Vocabulary,
  mayGuess: boolean,
): Concept {
  const guessable = mayGuess && text.length <= MAX_GUESSED_CHARS;
  const term = stem(text);
  const synonyms = lexicon.synonyms(term);
  const own = vocabulary.has(term);
  const whole = synonyms.length > 0 ? [] : lexicon.translations(text);
  const apart = guessable && !own && synonyms.length === 0 && whole.length === 0;
  const foreign = apart ? compoundOf(text, lexicon) : whole;
  const alternatives: Alternative[] = [...synonyms, ...foreign];
  if (own) alternatives.push({ term, weight: 1 });
  const joined = next === undefined ? undefined : stem(text + next);
  if (joined !== undefined && vocabulary.has(joined)) {
    alternatives.push({ term: joined, weight: JOINED_WEIGHT });
  }
  if (guessable && alternatives.length === 0) alternatives.push(...guesses(text, vocabulary));
  const found = concept(text, alternatives, own || foreign.length > 0);
  return {
    ...found,
    weight: /^\p{N}+$/u.test(text) ? NUMBER_WEIGHT : 1,
    actions: actionOf(text) || (text.endsWith("ed") ? 0 : found.actions),
    ...(own ? { own: term } : {}),
  };
}

/** Two words of another language that it writes together. */
function compoundOf(word: string, lexicon: Lexicon): readonly Alternative[] {
  for (let at = word.length - MIN_COMPOUND; at >= MIN_COMPOUND; at--) {
    const first = lexicon.translations(word.slice(0, at));
    const second = lexicon.translations(word.slice(at));
    if (first.length > 0 && second.length > 0) return [...first, ...second];
  }
  return [];
}

/** A misspelling, or two known words written together. */
function guesses(word: string, vocabulary: Vocabulary): Alternative[] {
  const near = [...new Set([word, stem(word)])].flatMap((form) => vocabulary.near(form));
  const within = (edits: number) =>
    near
      .filter(({ distance }) => distance <= edits)
      .map(({ term, distance }) => ({ term, weight: GUESS_WEIGHTS[distance] ?? 0 }));
  if (within(1).length > 0) return within(1);
  for (let at = MIN_PART; at <= word.length - MIN_PART; at++) {
    const halves = [stem(word.slice(0, at)), stem(word.slice(at))];
    if (halves.every((half) => half.length >= MIN_PART && vocabulary.has(half))) {
      return halves.map((term) => ({ term, weight: SPLIT_WEIGHT }));
    }
  }
  return within(2);
}

/**
 * The concepts of a run of unspaced script: known words first, pairs of characters for the rest.
 * @param max how many to find
 */
export function runConcepts(
  run: string,
  lexicon: Lexicon,
  vocabulary: Vocabulary,
  max: number,
): Concept[] {
  const found: Concept[] = [];
  let rest = "";
  const flush = () => {
    for (const pair of rest.length > 1 ? bigrams(rest) : []) {
      if (found.length >= max) break;
      if (KANA.test(pair)) continue;
      const known = vocabulary.has(pair);
      const alternatives = known ? [{ term: pair, weight: 1 }] : [];
      found.push({ ...concept(pair, alternatives, known), weight: FILLER_WEIGHT });
    }
    rest = "";
  };
  for (let at = 0; at < run.length && found.length < max;) {
    const length = lexicon.longestRun(run, at);
    if (length === 0) {
      rest += run[at++];
      continue;
    }
    flush();
    if (found.length >= max) break;
    const text = run.slice(at, at + length);
    const native = bigrams(text)
      .filter((term) => vocabulary.has(term))
      .map((term) => ({ term, weight: 1 }));
    found.push(concept(text, [...native, ...lexicon.translations(text)], true));
    at += length;
  }
  flush();
  return found;
}
