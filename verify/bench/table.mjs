// One row of the report: what was measured, beside what, and the figure to reach.

/**
 * @typedef {object} Row
 * @property {string} row
 * @property {string} unit
 * @property {number} ours
 * @property {number} [floor] what ours is compared with, in the same unit
 * @property {number} [ratio] ours / floor
 * @property {string} goal as the specification gives it
 * @property {boolean} met
 * @property {string} [note]
 */

/** The p50 of one call on the bare SDK server, in ms, on the machine that the goals were set on. */
const SDK_P50 = 0.26;
/** Requests per second, eight at once, of the same. */
const SDK_RATE = 4_000;

/**
 * A time whose goal was given for a machine where the floor takes 0.26 ms: met when the same
 * multiple of today's floor is.
 */
export function timed(row, ours, goalMs, floor) {
  const ratio = ours / floor;
  const times = goalMs / SDK_P50;
  const goal = `≤ ${goalMs} ms (${round(times)} × sdk)`;
  return { row, unit: "ms", floor, ours, ratio, goal, met: ratio <= times };
}

/** A rate whose goal was given for a machine where the floor answers 4,000 requests a second. */
export function rated(row, ours, goalRate, floor) {
  const ratio = ours / floor;
  const times = goalRate / SDK_RATE;
  const goal = `≥ ${goalRate}/s (${round(times)} × sdk)`;
  return { row, unit: "/s", floor, ours, ratio, goal, met: ratio >= times };
}

/** A figure that may be at most so many times the one beside it. */
export function atMostTimes(row, unit, ours, floor, times) {
  const ratio = ours / floor;
  return { row, unit, floor, ours, ratio, goal: `≤ ${times} ×`, met: ratio <= times };
}

/** A figure that must be at least so many times the one beside it. */
export function atLeastTimes(row, unit, ours, floor, times) {
  const ratio = ours / floor;
  return { row, unit, floor, ours, ratio, goal: `≥ ${times} ×`, met: ratio >= times };
}

/** A figure with a bound of its own. */
export function atMost(row, unit, ours, bound) {
  return { row, unit, ours, goal: `≤ ${bound} ${unit}`.trimEnd(), met: ours <= bound };
}

/** A row that could not be measured, with the reason. */
export function failed(row, reason) {
  return { row, unit: "", ours: NaN, goal: "", met: false, note: reason };
}

/** @param {Row[]} rows */
export function table(rows) {
  const head = ["row", "floor", "ours", "ratio", "goal", "met"];
  const cells = rows.map((one) => [
    one.row,
    one.floor === undefined ? "–" : `${round(one.floor)} ${one.unit}`,
    one.note ?? `${round(one.ours)} ${one.unit}`,
    one.ratio === undefined ? "–" : `${round(one.ratio)} ×`,
    one.goal,
    one.met ? "yes" : "no",
  ]);
  const widths = head.map((title, at) =>
    Math.max(title.length, ...cells.map((row) => row[at].length)),
  );
  const line = (row) => `| ${row.map((cell, at) => cell.padEnd(widths[at])).join(" | ")} |`;
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  return [line(head), rule, ...cells.map(line)].join("\n");
}

function round(value) {
  if (!Number.isFinite(value)) return "–";
  const digits = Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}
