import { QUERY_REACH } from "./query.ts";
import { pieces, terms } from "./tokens.ts";

/** What of a connector a query may name it by. */
export interface Nameable {
  readonly id: string;
  readonly terms: ReadonlySet<string>;
}

/** Ids and words shorter than this are found in too many others. */
const MIN_CONTAINED = 5;
const MIN_ABBREVIATION = 4;
const WINDOW = 3;
const CONTAINED = 0.7;
/** What is left of a word that is part of another connector's spelt-out name. */
const ELSEWHERE = 0.3;

/**
 * How plainly a query names each connector, 0 to 1: by its id or title, by a word that contains
 * the id or is contained in it, or by words whose beginnings spell it (`gcal`, google calendar).
 * @param words the query's words, folded, in order
 * @param isCommon whether tools of other connectors use the word too
 */
export function mentions(
  connectors: readonly Nameable[],
  words: readonly string[],
  isCommon: (word: string, connector: number) => boolean,
): Float64Array {
  const found = new Float64Array(connectors.length);
  const spelt = new Set<string>();
  const distinct = new Set(words);
  for (const [i, { id }] of connectors.entries()) {
    for (const word of spelling(id.toLowerCase(), words, (each) => isCommon(each, i))) {
      found[i] = 1;
      spelt.add(word);
    }
  }
  for (const [i, connector] of connectors.entries()) {
    for (const word of distinct) {
      const share = naming(connector, word) * (spelt.has(word) ? ELSEWHERE : 1);
      found[i] = Math.max(found[i]!, share);
    }
  }
  return found;
}

/** The id of the one connector that a query plainly names; the first of several. */
export function mentionedConnector(
  connectors: readonly { readonly id: string; readonly title?: string | undefined }[],
  query: string,
): string | undefined {
  const words = pieces(query, QUERY_REACH.pieces).map(({ text }) => text);
  const nameable = connectors.map(({ id, title }) => ({
    id,
    terms: new Set(terms(`${id} ${title ?? ""}`)),
  }));
  const found = mentions(nameable, words, () => true);
  const best = found.reduce((top, share, i) => (share > found[top]! ? i : top), 0);
  return (found[best] ?? 0) >= CONTAINED ? connectors[best]?.id : undefined;
}

function naming({ id, terms: own }: Nameable, word: string): number {
  const plain = id.toLowerCase();
  if (word === plain || own.has(word)) return 1;
  if (Math.min(plain.length, word.length) < MIN_CONTAINED) return 0;
  return plain.includes(word) || word.includes(plain) ? CONTAINED : 0;
}

/** The first of the words that together spell an id. */
function spelling(
  id: string,
  words: readonly string[],
  isCommon: (word: string) => boolean,
): string[] {
  if (id.length < MIN_ABBREVIATION) return [];
  return words.filter((word, i) => {
    if (word[0] !== id[0] || word === id) return false;
    const window = words.slice(i, i + WINDOW);
    return abbreviates(id, window) || (!isCommon(id) && spells(id, window));
  });
}

/** The first letter of one word and the whole of the next. */
function abbreviates(id: string, [first, second]: readonly string[]): boolean {
  return (
    first !== undefined && second !== undefined && second.length > 2 && id === first[0]! + second
  );
}

/** Whether beginnings of the words, each of two letters or more, make up the id. */
function spells(id: string, words: readonly string[]): boolean {
  if (id === "") return true;
  const [word, ...rest] = words;
  if (word === undefined) return false;
  for (let length = 2; length <= word.length && id.startsWith(word.slice(0, length)); length++) {
    if (spells(id.slice(length), rest)) return true;
  }
  return false;
}
