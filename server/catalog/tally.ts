import type { Concept } from "./concept.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** How a tool's weighted occurrences, and how much of a query it answers, become numbers. */
const TALLY = {
  /** Occurrences at which a word has said half of what it can say. */
  saturation: 5.5,
  /** Occurrences from which a word counts as answered in full. */
  answered: 1.6,
  /** What a word costs that no tool knows, as a share of the rarest word's worth. */
  unknown: 0.5,
  /** How much of a word's worth is its own rarity; the rest is that of all its neighbours. */
  ownRarity: 0.5,
  /** What is left of a word that occurs in no tool's name. */
  untopical: 0.7,
  /** How much of a tool's name a neighbour of one of its words covers. */
  nameByNeighbour: 0.6,
} as const;

/**
 * How many occurrences are looked up before a query has said enough: some per selected tool, four
 * times what the widest of many real queries takes, and in small catalogs at least this many.
 */
export const OCCURRENCES = { perTool: 24, least: 10_000 } as const;

/** A neighbour at least this near names a connector as its own name does. */
const NAMES_CONNECTOR = 0.55;

interface Gathered {
  /** Tools in which the concept occurs, by weight of the alternative they were found under. */
  readonly frequency: number;
  readonly ownFrequency: number;
  readonly topical: boolean;
}

/** Adds up, concept by concept, how well each selected tool answers a query. */
export class Tally {
  /** Each slot's first tool in the arrays below; -1 for a slot that takes no part. */
  readonly bases: Int32Array;
  readonly scores: Float64Array;
  readonly covered: Float64Array;
  readonly names: Float64Array;
  /** How much of the query each slot's tools answer as a body. */
  readonly affinity: Float64Array;
  readonly named: Float64Array;
  readonly unmatched: string[] = [];
  worth = 0;
  /** Occurrences looked up so far. */
  visited = 0;
  unknownWorth = 0;

  readonly #vocabulary: Vocabulary;
  readonly #slots: readonly number[];
  readonly #size: number;
  readonly #enough: number;
  readonly #frequency: Float64Array;
  readonly #share: Float64Array;
  readonly #own: Uint8Array;
  readonly #touched: Uint32Array;
  readonly #local: Float64Array;
  #count = 0;

  /** @param named how plainly the query names each slot's connector, 0 to 1; may grow here */
  constructor(vocabulary: Vocabulary, slots: readonly number[], named: Float64Array) {
    this.#vocabulary = vocabulary;
    this.#slots = slots;
    this.named = named;
    this.bases = new Int32Array(vocabulary.slots.length).fill(-1);
    let size = 0;
    for (const slot of slots) {
      this.bases[slot] = size;
      size += vocabulary.slots[slot]!.index.tools.length;
    }
    this.#size = size;
    this.#enough = OCCURRENCES.least + OCCURRENCES.perTool * size;
    this.scores = new Float64Array(size);
    this.covered = new Float64Array(size);
    this.names = new Float64Array(size);
    this.#frequency = new Float64Array(size);
    this.#share = new Float64Array(size);
    this.#own = new Uint8Array(size);
    this.#touched = new Uint32Array(size);
    this.affinity = new Float64Array(vocabulary.slots.length);
    this.#local = new Float64Array(vocabulary.slots.length);
  }

  /** Credits every tool that a concept occurs in, unless enough has been looked up already. */
  add(concept: Concept): void {
    if (this.visited >= this.#enough) return;
    const { frequency, ownFrequency, topical } = this.#gather(concept);
    const found = this.#count > 0;
    const rarity = found ? this.#rarity(frequency) : TALLY.unknown * Math.log(1 + this.#size);
    const ownRarity = ownFrequency > 0 ? this.#rarity(ownFrequency) : rarity;
    const factor = concept.weight * (topical || !found ? 1 : TALLY.untopical);
    const worth = factor * rarity;
    const ownWorth = factor * (TALLY.ownRarity * ownRarity + (1 - TALLY.ownRarity) * rarity);
    this.worth += ownWorth;
    if (!found) {
      this.unknownWorth += ownWorth;
      this.unmatched.push(concept.label);
      return;
    }
    if (!concept.known) this.unknownWorth += ownWorth * 0.5;
    this.#credit(worth, ownWorth);
    for (const slot of this.#slots) {
      const local = this.#local[slot]!;
      if (local === 0) continue;
      const tools = this.#vocabulary.slots[slot]!.index.tools.length;
      this.affinity[slot]! += worth * Math.min(1, local / tools) * Math.min(1, local / frequency);
      this.#local[slot] = 0;
    }
  }

  /** Collects a concept's occurrences under all its alternatives. */
  #gather(concept: Concept): Gathered {
    let frequency = 0;
    let ownFrequency = 0;
    let topical = false;
    this.#count = 0;
    for (const { term, weight } of concept.alternatives) {
      const places = this.#vocabulary.places(term);
      if (places === undefined) continue;
      const isOwn = term === concept.own;
      for (let i = 0; i < places.length; i += 2) {
        const slot = places[i]!;
        if (this.bases[slot]! < 0) continue;
        const found = this.#occurrences(slot, places[i + 1]!, weight, isOwn);
        frequency += found.tools * weight;
        this.#local[slot]! += found.tools * weight;
        if (isOwn) ownFrequency += found.tools;
        topical ||= found.inName;
        if (weight >= NAMES_CONNECTOR && weight < 1) this.#name(slot, term, weight);
      }
    }
    return { frequency, ownFrequency, topical };
  }

  #occurrences(slot: number, term: number, weight: number, isOwn: boolean) {
    const { index } = this.#vocabulary.slots[slot]!;
    const base = this.bases[slot]!;
    const from = index.offsets[term]!;
    const to = index.offsets[term + 1]!;
    this.visited += to - from;
    const nameFactor = weight === 1 ? 1 : weight * TALLY.nameByNeighbour;
    let inName = false;
    for (let p = from; p < to; p++) {
      const tool = base + index.postings[p]!;
      if (this.#frequency[tool] === 0) this.#touched[this.#count++] = tool;
      this.#frequency[tool]! += index.weights[p]! * weight;
      if (isOwn) this.#own[tool] = 1;
      const share = index.nameShares[p]! * nameFactor;
      if (share > 0) inName = true;
      if (share > this.#share[tool]!) this.#share[tool] = share;
    }
    return { tools: to - from, inName };
  }

  #name(slot: number, term: string, weight: number): void {
    const { connectorTerms } = this.#vocabulary.slots[slot]!.index;
    if (this.named[slot]! < weight && connectorTerms.has(term)) this.named[slot] = weight;
  }

  #rarity(frequency: number): number {
    const tools = Math.min(frequency, this.#size);
    return Math.log(1 + (this.#size - tools + 0.5) / (tools + 0.5));
  }

  #credit(worth: number, ownWorth: number): void {
    for (let i = 0; i < this.#count; i++) {
      const tool = this.#touched[i]!;
      const frequency = this.#frequency[tool]!;
      const said = frequency / (frequency + TALLY.saturation);
      const value = this.#own[tool] === 1 ? ownWorth : worth;
      this.scores[tool]! += value * said;
      this.covered[tool]! += value * Math.min(1, said * TALLY.answered);
      this.names[tool]! += this.#share[tool]!;
      this.#frequency[tool] = 0;
      this.#share[tool] = 0;
      this.#own[tool] = 0;
    }
  }
}
