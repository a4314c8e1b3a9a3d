/**
 * Edits between two short words: insertions, deletions, substitutions and swaps of neighbours.
 * @param limit the answer is `limit + 1` as soon as more edits are certain
 */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  const width = b.length + 1;
  let before = new Uint16Array(width);
  let above = Uint16Array.from({ length: width }, (_, j) => j);
  let row = new Uint16Array(width);
  for (let i = 1; i <= a.length; i++) {
    row[0] = i;
    let best = i;
    for (let j = 1; j < width; j++) {
      const cost = edits(a, b, i, j, before, above, row);
      row[j] = cost;
      if (cost < best) best = cost;
    }
    if (best > limit) return limit + 1;
    [before, above, row] = [above, row, before];
  }
  return above[b.length]!;
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
