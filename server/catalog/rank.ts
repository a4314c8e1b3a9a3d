import { ALL_ACTIONS, READ, READ_MANY } from "./actions.ts";
import { Best } from "./best.ts";
import { mentions } from "./mentions.ts";
import type { Request } from "./query.ts";
import { Tally } from "./tally.ts";
import { compact, pieces } from "./tokens.ts";
import type { ToolIndex } from "./tool-index.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** How matches of a query become an order; chosen on real queries over real tool lists. */
const RANKING = {
  /** What a tool keeps that answers next to nothing of the query; the rest grows with coverage. */
  coverageFloor: 0.25,
  /** What a name gains that the query covers in full. */
  name: 0.45,
  /** What the tools of a named connector gain. */
  mention: 0.5,
  /** What the tools of a connector gain that is about what the query is about. */
  affinity: 0.3,
  /** A tool that does what is asked, one that does something else, a reader when nothing is. */
  agrees: 1.15,
  conflicts: 0.85,
  readsByDefault: 1.05,
  /** What a tool gains that lists or searches, when the query speaks of several things. */
  several: 1.1,
  /** What a name gains whose words stand in the query exactly as they are. */
  surface: 0.1,
  /** How much words that nobody knows take from the confidence. */
  doubt: 0.8,
} as const;

/** How many of the best are looked at once more, word by word. */
const POLISHED = 40;
/** How much of a name is looked at there. */
const MAX_NAME_PIECES = 32;
/** Beyond every score: names written as they are, and names but for case and punctuation. */
const EXACT = 1e9;
const NEARLY_EXACT = 1e6;

/** Which tools take part: their slots, and a filter inside each. */
export interface Selection {
  readonly slots: readonly number[];
  accepts(index: ToolIndex, position: number): boolean;
}

/** One ranked tool: its catalog's slot and its position there. */
export interface Hit {
  readonly slot: number;
  readonly position: number;
  readonly score: number;
}

/**
 * What a hit's score is made of: `words`, times each of the factors, plus `exact`, times `surface`.
 * A factor of 1 changes nothing.
 */
export interface Parts {
  /** How well the tool's texts answer each word of the query, rare words counting for more. */
  readonly words: number;
  /** How much of the whole query it answers. */
  readonly coverage: number;
  /** How much of its name the query covers. */
  readonly name: number;
  /** How much its connector is about what the query is about. */
  readonly affinity: number;
  /** How plainly the query names its connector. */
  readonly mention: number;
  /** Whether it does what the query asks to do. */
  readonly action: number;
  /** Whether its name's very words stand in the query. */
  readonly surface: number;
  /** Added where the query is its name or address. */
  readonly exact: number;
}

/** What a query found. */
export interface Ranking {
  readonly hits: readonly Hit[];
  /** How many tools matched at all. */
  readonly total: number;
  /** How much of the query the best tool answers, 0 to 1; 1 for an exact name. */
  readonly confidence: number;
  /** The words that no tool knows, as written. */
  readonly unmatched: readonly string[];
  /** What the score of one of the hits is made of. */
  parts(hit: Hit): Parts;
}

/**
 * Ranks the selected tools for a query.
 * @param query the text as the caller wrote it, for exact names
 * @param count how many hits to return
 */
export function rank(
  vocabulary: Vocabulary,
  query: string,
  request: Request,
  selection: Selection,
  count: number,
): Ranking {
  const common = (word: string, slot: number) =>
    vocabulary.places(word)?.some((place, i) => i % 2 === 0 && place !== slot) ?? false;
  const nameable = vocabulary.slots.map(({ connectorId, index }) => ({
    id: connectorId,
    terms: index.connectorTerms,
  }));
  const named = mentions(nameable, request.words, common);
  const tally = new Tally(vocabulary, selection.slots, named);
  for (const concept of request.concepts) tally.add(concept);
  const exact = exactNames(vocabulary, query, tally, selection);
  const best = new Best(Math.max(count, POLISHED));
  const total = offerAll(vocabulary, request, selection, tally, exact, best);
  const hits = polish(vocabulary, request, locate(tally, selection, best.sorted()));
  const [first] = hits;
  const top = first === undefined ? undefined : tally.bases[first.slot]! + first.position;
  return {
    hits: hits.slice(0, count),
    total,
    confidence: top === undefined ? 0 : exact.has(top) ? 1 : confidence(tally, top),
    unmatched: tally.unmatched,
    parts: (hit) => partsOf(hit, vocabulary, request, tally, exact),
  };
}

function partsOf(
  { slot, position }: Hit,
  vocabulary: Vocabulary,
  request: Request,
  tally: Tally,
  exact: ReadonlyMap<number, number>,
): Parts {
  const { index } = vocabulary.slots[slot]!;
  const tool = tally.bases[slot]! + position;
  const worth = tally.worth || 1;
  const floor = RANKING.coverageFloor;
  return {
    words: tally.scores[tool]!,
    coverage: floor + ((1 - floor) * tally.covered[tool]!) / worth,
    name: 1 + RANKING.name * Math.min(1, tally.names[tool]!),
    affinity: 1 + (RANKING.affinity * tally.affinity[slot]!) / worth,
    mention: 1 + RANKING.mention * tally.named[slot]!,
    action: actionFactors(request)[index.actions[position]!]!,
    surface: surfaceFactor(index.tools[position]!.name, new Set(request.words)),
    exact: exact.get(tool) ?? 0,
  };
}

/** Scores every tool that matched and offers it; returns how many there were. */
function offerAll(
  vocabulary: Vocabulary,
  request: Request,
  selection: Selection,
  tally: Tally,
  exact: ReadonlyMap<number, number>,
  best: Best,
): number {
  let total = 0;
  const worth = tally.worth || 1;
  const factors = actionFactors(request);
  for (const slot of selection.slots) {
    const { index } = vocabulary.slots[slot]!;
    const base = tally.bases[slot]!;
    const connector =
      (1 + (RANKING.affinity * tally.affinity[slot]!) / worth) *
      (1 + RANKING.mention * tally.named[slot]!);
    for (let position = 0; position < index.tools.length; position++) {
      const tool = base + position;
      const bonus = exact.size === 0 ? 0 : (exact.get(tool) ?? 0);
      if (tally.scores[tool] === 0 && bonus === 0) continue;
      if (!selection.accepts(index, position)) continue;
      total++;
      const coverage = tally.covered[tool]! / worth;
      const score =
        tally.scores[tool]! *
        (RANKING.coverageFloor + (1 - RANKING.coverageFloor) * coverage) *
        (1 + RANKING.name * Math.min(1, tally.names[tool]!)) *
        connector *
        factors[index.actions[position]!]!;
      best.offer(tool, score + bonus);
    }
  }
  return total;
}

/** What a tool's score is multiplied with, by the kinds of action that its name says. */
function actionFactors({ actions, many }: Request): Float64Array {
  const reading = actions === 0 || (actions & READ) !== 0;
  return Float64Array.from({ length: ALL_ACTIONS + 1 }, (_, done) => {
    if (done === 0) return 1;
    const reads = (done & READ) !== 0;
    const several = many && reading && (done & READ_MANY) !== 0 ? RANKING.several : 1;
    if (actions === 0) return reads ? RANKING.readsByDefault * several : 1;
    const agrees = (actions & done) !== 0 || (reads && (actions & READ) !== 0);
    return agrees ? RANKING.agrees * several : RANKING.conflicts;
  });
}

/** Tools whose name or address the query is, with what that is worth. */
function exactNames(
  vocabulary: Vocabulary,
  query: string,
  tally: Tally,
  { slots }: Selection,
): Map<number, number> {
  const found = new Map<number, number>();
  const written = query.trim();
  const wanted = compact(written);
  if (wanted === "") return found;
  for (const slot of slots) {
    const { connectorId, index } = vocabulary.slots[slot]!;
    const id = compact(connectorId);
    const bare = wanted.startsWith(id) ? index.names.get(wanted.slice(id.length)) : undefined;
    for (const position of [...(index.names.get(wanted) ?? []), ...(bare ?? [])]) {
      const { name } = index.tools[position]!;
      const same = name === written || `${connectorId}.${name}` === written;
      found.set(tally.bases[slot]! + position, same ? EXACT : NEARLY_EXACT);
    }
  }
  return found;
}

function locate(
  tally: Tally,
  { slots }: Selection,
  best: readonly { readonly item: number; readonly score: number }[],
): Hit[] {
  const ordered = [...slots].sort((a, b) => tally.bases[b]! - tally.bases[a]!);
  return best.map(({ item, score }) => {
    const slot = ordered.find((candidate) => tally.bases[candidate]! <= item)!;
    return { slot, position: item - tally.bases[slot]!, score };
  });
}

/** Among the best, a name that uses the query's very words comes first. */
function polish(vocabulary: Vocabulary, request: Request, hits: readonly Hit[]): Hit[] {
  const words = new Set(request.words);
  const polished = hits.slice(0, POLISHED).map((hit) => {
    const { name } = vocabulary.slots[hit.slot]!.index.tools[hit.position]!;
    return { ...hit, score: hit.score * surfaceFactor(name, words) };
  });
  return [...polished.sort((a, b) => b.score - a.score), ...hits.slice(POLISHED)];
}

function surfaceFactor(name: string, words: ReadonlySet<string>): number {
  const parts = pieces(name, MAX_NAME_PIECES).flatMap((piece) =>
    piece.kind === "word" ? piece.parts : [],
  );
  const same = parts.filter((part) => words.has(part)).length / Math.max(1, parts.length);
  return 1 + RANKING.surface * same;
}

function confidence(tally: Tally, tool: number): number {
  const worth = tally.worth || 1;
  const doubt = RANKING.doubt * (tally.unknownWorth / worth);
  return Math.min(1, tally.covered[tool]! / worth) * (1 - doubt);
}
