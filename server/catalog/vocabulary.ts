import { editDistance } from "./distance.ts";
import type { ToolIndex } from "./tool-index.ts";

/** One catalog's place in the vocabulary. */
export interface Slot {
  readonly connectorId: string;
  readonly index: ToolIndex;
}

interface Word {
  /** Pairs: slot number, term number in that slot's index. */
  places: number[];
}

/** Words this short have too many neighbours to guess from. */
const MIN_FUZZY_LENGTH = 4;
const MAX_FUZZY_LENGTH = 30;
/** From this length two edits still leave the word recognisable. */
const LONG_WORD = 8;
const MAX_NEAR = 4;
const NONE: Spellings = { words: [], letters: new Uint32Array(0) };

/** A known word and how many edits separate it from the one asked about. */
export interface Near {
  readonly term: string;
  readonly distance: number;
}

/** The words of all indexed catalogs together; postings stay with their catalogs. */
export class Vocabulary {
  readonly #slots: Slot[] = [];
  readonly #slotOf = new Map<string, number>();
  readonly #words = new Map<string, Word>();
  #spellings: readonly Spellings[] | undefined;

  get slots(): readonly Slot[] {
    return this.#slots;
  }

  /** The slot of a connector, when its catalog has been indexed. */
  slotOf(connectorId: string): number | undefined {
    return this.#slotOf.get(connectorId);
  }

  /** Takes a catalog's index in place of the connector's earlier one. */
  set(connectorId: string, index: ToolIndex): void {
    const known = this.#slotOf.get(connectorId);
    if (known !== undefined && this.#slots[known]?.index === index) return;
    const slot = known ?? this.#slots.length;
    if (known !== undefined) this.#forget(slot);
    this.#slots[slot] = { connectorId, index };
    this.#slotOf.set(connectorId, slot);
    for (const [term, number] of index.terms) {
      const word = this.#words.get(term);
      if (word === undefined) this.#words.set(term, { places: [slot, number] });
      else word.places.push(slot, number);
    }
    this.#spellings = undefined;
  }

  #forget(slot: number): void {
    for (const term of this.#slots[slot]!.index.terms.keys()) {
      const word = this.#words.get(term);
      if (word === undefined) continue;
      const { places } = word;
      word.places = places.filter((_, i) => places[i - (i % 2)] !== slot);
      if (word.places.length === 0) this.#words.delete(term);
    }
  }

  has(term: string): boolean {
    return this.#words.has(term);
  }

  /** Where a term occurs: pairs of slot number and term number; `undefined` for an unknown word. */
  places(term: string): readonly number[] | undefined {
    return this.#words.get(term)?.places;
  }

  /** The nearest known words to a misspelt one, nearest first. */
  near(word: string): readonly Near[] {
    if (word.length < MIN_FUZZY_LENGTH || word.length > MAX_FUZZY_LENGTH) return [];
    this.#spellings ??= spellingsOf(this.#words.keys());
    return nearest(this.#spellings, word, word.length < LONG_WORD ? 1 : 2).slice(0, MAX_NEAR);
  }
}

/** Known words of one length, with the letters each contains as bits: most are ruled out by one look. */
interface Spellings {
  readonly words: readonly string[];
  readonly letters: Uint32Array;
}

/** Words by their length, up to the longest that a misspelling is worth looking for. */
function spellingsOf(words: Iterable<string>): readonly Spellings[] {
  const lengths = Array.from({ length: MAX_FUZZY_LENGTH + 1 }, (): string[] => []);
  for (const word of words) lengths[word.length]?.push(word);
  return lengths.map((same) => ({ words: same, letters: Uint32Array.from(same, letterBits) }));
}

function letterBits(word: string): number {
  let bits = 0;
  for (let i = 0; i < word.length; i++) bits |= 1 << (word.charCodeAt(i) % 32);
  return bits;
}

function nearest(spellings: readonly Spellings[], word: string, limit: number): Near[] {
  const bits = letterBits(word);
  const found: Near[] = [];
  for (let length = word.length - limit; length <= word.length + limit; length++) {
    const { words, letters } = spellings[length] ?? NONE;
    for (let i = 0; i < words.length; i++) {
      if (bitCount(bits ^ letters[i]!) > 2 * limit) continue;
      const distance = editDistance(word, words[i]!, limit);
      if (distance <= limit) found.push({ term: words[i]!, distance });
    }
  }
  return found.sort((a, b) => a.distance - b.distance);
}

function bitCount(bits: number): number {
  let rest = bits - ((bits >>> 1) & 0x55555555);
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333);
  return (((rest + (rest >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}
