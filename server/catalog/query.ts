import { isQuestion, READ } from "./actions.ts";
import { concept, type Concept } from "./concept.ts";
import type { Lexicon } from "./lexicon.ts";
import { stem } from "./stem.ts";
import { STOP_WORDS } from "./stop-words.ts";
import { pieces, type Piece } from "./tokens.ts";
import type { Vocabulary } from "./vocabulary.ts";
import { partsOf, runConcepts, wordConcept } from "./words.ts";

/** What a query asks for. */
export interface Request {
  readonly concepts: readonly Concept[];
  /** The kinds of action it asks for, see `actionOf`; 0 when it names none. */
  readonly actions: number;
  /** Whether it speaks of several things. */
  readonly many: boolean;
  /** Its words as folded, in order. */
  readonly words: readonly string[];
}

/** How far a text is read: each of these bounds the work that follows from it. */
export interface Reach {
  /** Words and runs that are looked at. */
  readonly pieces: number;
  /** Words, phrases and pairs of characters that are searched for. */
  readonly concepts: number;
  /** Words that no catalog knows and that are taken apart or corrected. */
  readonly guesses: number;
}

/** How far a query is read. */
export const QUERY_REACH: Reach = { pieces: 96, concepts: 32, guesses: 8 };
/** A run of unspaced script is read as far as this. */
const MAX_RUN_CHARS = 128;
const VALUE_WEIGHT = 0.35;
/** What stands behind a preposition is context: create a label *on the board*. */
const CONTEXT_WEIGHT = 0.8;
/** What the words of a phrase are worth together when they stand apart. */
const PART_WEIGHT = 1.4;
/** How far a particle may stand from its verb: turn the old alarm off. */
const MAX_GAP = 5;
/** Queries of more words than this are sentences. */
const SENTENCE_WORDS = 4;

/**
 * Links, mail addresses, host names and paths: concrete, and nothing that finds a tool.
 * Each is tried where a word begins only, so that one long word is not read from each of its letters.
 */
const CONCRETE =
  /(?<!\S)\S+@\S+|(?<!\w)\w+:\/\/\S+|(?<![\p{L}\p{N}_-])[\p{L}\p{N}_-]*(?:\/[\p{L}\p{N}_.-]+)+|(?<![\p{L}\p{N}_-])[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+){2,}/giu;
/** Quoted text and dotted names: a value more often than a wish. */
const VALUES =
  /"[^"]*"|“[^“”]*”|«[^«»]*»|(?<![\p{L}\p{N}])'[^']*'(?![\p{L}\p{N}])|(?<![\p{L}\p{N}_-])[\p{L}\p{N}_-]+\.[\p{L}\p{N}_-]+/gu;
const ENGLISH = /^(?:the|a|an|my|our|is|are|of|to|in|on|for|this)$/;
const PLURAL = /[a-z]{3}(?<!s|u|i|new|dn)s$/;
const PARTICLES = new Set(["off", "on", "out", "up", "down", "away", "back", "into"]);
const PREPOSITIONS = new Set(
  (
    "in on of for from to at with by about into onto inside within " +
    "im am auf aus bei mit von vom zu zum zur fur uber unter nach " +
    "dans sur pour par avec de du des sous chez en sobre con sin para del al do da no na com per " +
    "tra di dei della nel nella sul sulla"
  ).split(" "),
);

interface Token {
  readonly piece: Piece;
  readonly value: boolean;
  used: boolean;
}

/**
 * Reads a query against what the catalogs know.
 * @param reach how far to read; what lies beyond is as if it had not been written
 */
export function readQuery(
  query: string,
  lexicon: Lexicon,
  vocabulary: Vocabulary,
  reach: Reach = QUERY_REACH,
): Request {
  const tokens = tokenize(query, reach.pieces);
  const words = tokens.map(({ piece }) => piece.text);
  const english = tokens.length > SENTENCE_WORDS && words.some((word) => ENGLISH.test(word));
  const found: Concept[] = [];
  let behind = false;
  let guesses = 0;
  for (const [i, token] of tokens.entries()) {
    if (found.length >= reach.concepts) break;
    if (token.used) continue;
    const { piece, value } = token;
    if (piece.kind === "run") {
      found.push(...runConcepts(piece.text, lexicon, vocabulary, reach.concepts - found.length));
      continue;
    }
    const phrase = phraseAt(tokens, i, lexicon) ?? partedAt(tokens, i, lexicon);
    if (phrase !== undefined) {
      found.push(phrase);
      continue;
    }
    if (STOP_WORDS.has(piece.text)) {
      behind ||= PREPOSITIONS.has(piece.text) && found.some(({ actions }) => actions === 0);
      continue;
    }
    for (const part of partsOf(piece, vocabulary)) {
      if (found.length >= reach.concepts) break;
      const next = wordAt(tokens, i + 1);
      const word = wordConcept(part, next, lexicon, vocabulary, guesses < reach.guesses);
      if (word.own === undefined) guesses++;
      // In an English sentence an unknown capitalised word is somebody's or something's name.
      const name = english && i > 0 && piece.capital && !word.known;
      const share = value || name ? VALUE_WEIGHT : behind ? CONTEXT_WEIGHT : 1;
      found.push({ ...word, weight: word.weight * share });
    }
  }
  const many = words.some((word) => PLURAL.test(word) && !STOP_WORDS.has(word));
  return { concepts: found, actions: actionsOf(query, found), many, words };
}

/** A question reads; a sentence asks for its first action, a few words for any of theirs. */
function actionsOf(query: string, found: readonly Concept[]): number {
  if (isQuestion(query)) return READ;
  const actions = found.map((concept) => concept.actions).filter((kinds) => kinds !== 0);
  if (found.length > SENTENCE_WORDS) return actions[0] ?? 0;
  return actions.reduce((all, kinds) => all | kinds, 0);
}

function tokenize(query: string, max: number): Token[] {
  const wordy = query.replace(CONCRETE, " ");
  // A query that is nothing but a link or a path is read as it is.
  const plain = /[\p{L}\p{N}]/u.test(wordy) ? wordy : query;
  const tokens: Token[] = [];
  let from = 0;
  const take = (text: string, value: boolean) => {
    for (const piece of pieces(text, max - tokens.length)) {
      tokens.push({ piece: bounded(piece), value, used: false });
    }
  };
  for (const match of plain.matchAll(VALUES)) {
    take(plain.slice(from, match.index), false);
    take(match[0], true);
    from = match.index + match[0].length;
  }
  take(plain.slice(from), false);
  return tokens;
}

/** Words are bounded where they are read; the runs of an index are read whole, those of a query not. */
function bounded(piece: Piece): Piece {
  return piece.kind === "run" ? { ...piece, text: piece.text.slice(0, MAX_RUN_CHARS) } : piece;
}

function wordAt(tokens: readonly Token[], at: number): string | undefined {
  const piece = tokens[at]?.piece;
  return piece?.kind === "word" ? piece.text : undefined;
}

/** Words that stand together and mean one thing. */
function phraseAt(tokens: readonly Token[], from: number, lexicon: Lexicon): Concept | undefined {
  for (let words = lexicon.phraseWords; words > 1; words--) {
    const slice = tokens.slice(from, from + words);
    if (slice.length < words || slice.some(({ piece }) => piece.kind === "run")) continue;
    const found = phrase(slice, lexicon);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A verb whose particle stands behind its object. */
function partedAt(tokens: readonly Token[], from: number, lexicon: Lexicon): Concept | undefined {
  const verb = tokens[from]!;
  for (let at = from + 1; at <= from + MAX_GAP; at++) {
    const text = wordAt(tokens, at);
    if (text === undefined || !PARTICLES.has(text)) continue;
    const found = phrase([verb, tokens[at]!], lexicon);
    if (found !== undefined) return found;
  }
  return undefined;
}

function phrase(slice: readonly Token[], lexicon: Lexicon): Concept | undefined {
  const texts = slice.map(({ piece }) => piece.text);
  const synonyms = lexicon.synonyms(texts.map(stem).join("_"));
  const native = [
    { term: stem(texts.join("")), weight: 1 },
    ...texts
      .filter((text) => !STOP_WORDS.has(text))
      .map((text) => ({ term: stem(text), weight: PART_WEIGHT / slice.length })),
  ];
  const alternatives =
    synonyms.length > 0 ? [...native, ...synonyms] : lexicon.translations(texts.join("_"));
  if (alternatives.length === 0) return undefined;
  for (const token of slice) token.used = true;
  return concept(texts.join(" "), alternatives, true);
}
