/** Rows for words up to this long are kept from call to call: thousands are compared for one guess. */
const KEPT = 64;
const kept = [new Uint16Array(KEPT), new Uint16Array(KEPT), new Uint16Array(KEPT)] as const;

/**
 * Edits between two short words: insertions, deletions, substitutions and swaps of neighbours.
 * Its work grows with the length times the limit.
 * @param limit the answer is `limit + 1` as soon as more edits are certain
 */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  const width = b.length + 1;
  let [before, above, row] = width <= KEPT ? kept : rows(width);
  for (let j = 0; j < width; j++) above[j] = j;
  for (let i = 1; i <= a.length; i++) {
    // Cells further from the diagonal than the limit cost more than it; those beside count as such.
    const from = Math.max(1, i - limit);
    const to = Math.min(b.length, i + limit);
    row[from - 1] = from === 1 ? i : limit + 1;
    if (to === i + limit) above[to] = limit + 1;
    let best = row[from - 1]!;
    for (let j = from; j <= to; j++) {
      const cost = edits(a, b, i, j, before, above, row);
      row[j] = cost;
      if (cost < best) best = cost;
    }
    if (best > limit) return limit + 1;
    [before, above, row] = [above, row, before];
  }
  return Math.min(above[b.length]!, limit + 1);
}

function rows(width: number) {
  return [new Uint16Array(width), new Uint16Array(width), new Uint16Array(width)] as const;
}

/** The fewest edits between the first `i` and the first `j` units, from the cells around. */
function edits(
  a: string,
  b: string,
  i: number,
  j: number,
  before: Uint16Array,
  above: Uint16Array,
  row: Uint16Array,
): number {
  const last = a.charCodeAt(i - 1);
  const same = last === b.charCodeAt(j - 1) ? 0 : 1;
  const cost = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + same);
  const swapped =
    i > 1 && j > 1 && last === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1);
  return swapped ? Math.min(cost, before[j - 2]! + 1) : cost;
}
