import { LIMITS } from "../shared/limits.ts";
import { utf8Length } from "../shared/text.ts";
import { spelling, type Catalog, type Spelling } from "./catalog.ts";
import { editDistance } from "./distance.ts";
import { lexicon } from "./lexicon.ts";
import { readQuery, type Reach } from "./query.ts";
import { rank } from "./rank.ts";
import { compact } from "./tokens.ts";
import type { Vocabulary } from "./vocabulary.ts";

const MAX_SUGGESTIONS = 3;
const MAX_EDITS = 2;
/** A wrong name longer than this is not a slip. */
const MAX_NAME = 200;
/** A name is read less far than a query: what it was meant to be stands in its first words. */
const NAME_REACH: Reach = { pieces: 24, concepts: 10, guesses: 3 };

/** The connectors there are, and of each the catalog that is loaded already. */
export interface Known {
  readonly connectors: readonly { readonly id: string }[];
  loaded(id: string): Catalog | undefined;
}

/**
 * Addresses that an unknown tool name was probably meant to be: misspellings first, then what a
 * search for the name finds.
 * @param vocabulary with the catalog's index in it
 */
export function suggestTools(vocabulary: Vocabulary, catalog: Catalog, name: string): string[] {
  if (name.length > MAX_NAME) return [];
  const slot = vocabulary.slotOf(catalog.connectorId);
  const names = nearest(name, catalog.spellings);
  if (slot !== undefined && names.length < MAX_SUGGESTIONS) {
    const selection = { slots: [slot], accepts: () => true };
    const request = readQuery(name, lexicon(), vocabulary, NAME_REACH);
    const { hits } = rank(vocabulary, name, request, selection, MAX_SUGGESTIONS);
    const { index } = vocabulary.slots[slot]!;
    names.push(...hits.map(({ position }) => index.tools[position]!.name));
  }
  return addresses(names.map((each) => `${catalog.connectorId}.${each}`));
}

/**
 * Addresses that a text without a known connector was probably meant to be: the tool of a connector
 * whose id is nearly right, or a tool of that bare name. Looks only at what is loaded already.
 */
export function suggestAddresses(known: Known, text: string): string[] {
  if (text.length > MAX_NAME) return [];
  const found: string[] = [];
  const dot = text.indexOf(".");
  const id = dot > 0 ? text.slice(0, dot) : text;
  const ids = known.connectors.map((connector) => connector.id);
  for (const near of nearest(id, ids.map(spelling))) {
    const catalog = known.loaded(near);
    if (catalog === undefined) continue;
    const names = dot > 0 ? nearest(text.slice(dot + 1), catalog.spellings) : firstOf(catalog);
    found.push(...names.map((name) => `${near}.${name}`));
  }
  for (const each of ids) {
    const catalog = known.loaded(each);
    for (const name of [text, text.slice(dot + 1)]) {
      if (catalog?.tools.has(name)) found.push(`${each}.${name}`);
    }
  }
  return addresses(found);
}

/** The candidates within two edits, case and punctuation left out, nearest first. */
function nearest(wanted: string, candidates: readonly Spelling[]): string[] {
  const plain = compact(wanted);
  if (plain.length > MAX_NAME) return [];
  const limit = Math.min(MAX_EDITS, Math.floor(plain.length / 3));
  return candidates
    .map(({ name, plain: other }) => ({ name, distance: editDistance(plain, other, limit) }))
    .filter(({ distance }) => distance <= limit)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name);
}

function firstOf({ tools }: Catalog): string[] {
  return [...tools.keys()].slice(0, MAX_SUGGESTIONS);
}

/** Three at most, each once, and none that an error may not carry in full. */
function addresses(found: readonly string[]): string[] {
  return [...new Set(found)]
    .filter((address) => utf8Length(address) <= LIMITS.echoBytes.value)
    .slice(0, MAX_SUGGESTIONS);
}
