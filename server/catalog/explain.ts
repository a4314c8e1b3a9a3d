import { ok, type Outcome } from "../shared/failure.ts";
import type { Scope } from "../shared/scope.ts";
import type { Catalogs } from "./catalogs.ts";
import { lexicon } from "./lexicon.ts";
import { readQuery } from "./query.ts";
import { rank, type Parts } from "./rank.ts";
import { gather, type Gathered } from "./search.ts";
import { Tally } from "./tally.ts";

/** One result, and why it stands where it does. */
export interface ExplainedTool {
  readonly address: string;
  readonly score: number;
  readonly parts: Parts;
  /** What each word of the query adds to {@link Parts.words}, the most first. */
  readonly words: readonly { readonly word: string; readonly score: number }[];
}

/** The results of one query with the parts of their scores. */
export interface Explanation extends Pick<Gathered, "unavailable"> {
  readonly tools: readonly ExplainedTool[];
  readonly total: number;
  /** How much of the query the best tool answers, 0 to 1. */
  readonly confidence: number;
  /** Words that no tool knows. */
  readonly unmatched: readonly string[];
}

/**
 * Ranks as a search does and takes the scores apart, for an operator: it costs a look at the
 * catalogs for each word.
 * @param only the one connector to search; all when omitted
 * Failures: `unknown_address` for an unknown connector, `cancelled`.
 */
export async function explain(
  catalogs: Catalogs,
  query: string,
  limit: number,
  only: string | undefined,
  scope: Scope,
): Promise<Outcome<Explanation>> {
  const gathered = await gather(catalogs, only, scope);
  if (!gathered.ok) return gathered;
  const { found, unavailable } = gathered.value;
  const vocabulary = await catalogs.indexed(found);
  const slots = found
    .map(({ connectorId }) => vocabulary.slotOf(connectorId))
    .filter((slot) => slot !== undefined);
  const request = readQuery(query, lexicon(), vocabulary);
  const ranking = rank(vocabulary, query, request, { slots, accepts: () => true }, limit);
  const alone = request.concepts.map((concept) => {
    const tally = new Tally(vocabulary, slots, new Float64Array(vocabulary.slots.length));
    tally.add(concept);
    return { word: concept.label, tally };
  });
  const tools = ranking.hits.map((hit) => {
    const { connectorId, index } = vocabulary.slots[hit.slot]!;
    const words = alone
      .map(({ word, tally }) => {
        return { word, score: tally.scores[tally.bases[hit.slot]! + hit.position]! };
      })
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score);
    const address = `${connectorId}.${index.tools[hit.position]!.name}`;
    return { address, score: hit.score, parts: ranking.parts(hit), words };
  });
  const { total, confidence, unmatched } = ranking;
  return ok({ tools, total, confidence, unmatched, unavailable });
}
