/** The key that every step of comparing writes. */
export const LAST = "last";

const PADDING = "é".repeat(1_000);

/**
 * What the writer of a round does at one step, the same whenever it is asked.
 * @param {number} round
 * @param {number} step
 * @returns {{ kind: "set" | "swap" | "delete", key: string, value?: string }}
 */
export function stepOf(round, step) {
  const key = `of ${round % 3}/${step % 40}`;
  const value = `${round}/${step}/${PADDING}`;
  if (step % 5 === 3) return { kind: "swap", key: LAST, value };
  return step % 11 === 10 ? { kind: "delete", key } : { kind: "set", key, value };
}
