import { actionOf } from "./actions.ts";
import type { Alternative } from "./lexicon.ts";

/** One thing that a query asks for: a word with everything it may be found under. */
export interface Concept {
  /** The words as the caller wrote them, folded, for telling what matched nothing. */
  readonly label: string;
  readonly alternatives: readonly Alternative[];
  /** How much it counts, 0 to 1: values and context say less about a tool than its object. */
  readonly weight: number;
  /** Whether the word is known, not only guessed from its spelling. */
  readonly known: boolean;
  /** The word's own index term, when some catalog knows it. */
  readonly own?: string;
  /** The kinds of action it stands for, see `actionOf`. */
  readonly actions: number;
}

/** A neighbour this near carries its action over to the word. */
const SAME_ACTION = 0.55;

/** Puts a concept together; of several ways to one term the nearest counts. */
export function concept(
  label: string,
  alternatives: readonly Alternative[],
  known: boolean,
): Concept {
  const best = new Map<string, number>();
  let actions = 0;
  for (const { term, weight } of alternatives) {
    best.set(term, Math.max(best.get(term) ?? 0, weight));
    if (weight >= SAME_ACTION) actions ||= actionOf(term) || actionOf(`${term}e`);
  }
  return {
    label,
    known,
    actions,
    weight: 1,
    alternatives: [...best].map(([term, weight]) => ({ term, weight })),
  };
}
