/**
 * What a soak did and found, as text.
 * @param {import("./ledger.mjs").Ledger} ledger
 * @param {ReturnType<typeof import("./watch.mjs").judge>} growth
 */
export function tables(ledger, growth) {
  const rows = ledger.rows().map(({ scenario, sent, cancelled, codes, ms }) => {
    const outcomes = [...codes].map(([code, count]) => `${code} ${count}`);
    if (cancelled > 0) outcomes.push(`closed ${cancelled}`);
    return [scenario, sent, quantile(ms, 0.5), quantile(ms, 0.95), outcomes.join(", ")];
  });
  const state = growth.map(({ name, first, last, grew }) => [
    name,
    first,
    last,
    grew ? "GREW" : "flat",
  ]);
  return [
    aligned([["scenario", "requests", "p50 ms", "p95 ms", "answers"], ...rows]),
    aligned([["at rest", "early, at most", "late, at least", ""], ...state]),
  ].join("\n\n");
}

function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  const found = sorted[Math.ceil(sorted.length * share) - 1];
  return found === undefined ? "–" : found.toFixed(1);
}

/** Columns as wide as they must be; numbers to the right. */
function aligned(rows) {
  const widths = rows[0].map((_, at) => Math.max(...rows.map((row) => String(row[at]).length)));
  const cell = (value, at) => {
    const text = String(value);
    const isNumber = /^[\d.–]/.test(text) && at > 0 && at < widths.length - 1;
    return isNumber ? text.padStart(widths[at]) : text.padEnd(widths[at]);
  };
  return rows.map((row) => row.map(cell).join("  ").trimEnd()).join("\n");
}
