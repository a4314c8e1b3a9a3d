/** Thrown by a step that cannot go on; its message is the line a person reads. */
export class Stop extends Error {
  /**
   * @param {string} message one line: what failed and what to do
   * @param {string} [detail] output of the program that failed, printed above the line
   */
  constructor(message, detail = "") {
    super(message);
    this.detail = detail;
  }
}

/** One progress line; always on stderr, because the server promises one line on stdout. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/**
 * Announces work that takes a while and, every ten seconds, that it still goes on.
 * @template T
 * @param {string} what e.g. `installing packages`
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function during(what, work) {
  const since = performance.now();
  const seconds = () => ((performance.now() - since) / 1000).toFixed(0);
  say(`connecta: ${what} …`);
  const beat = setInterval(() => say(`connecta: still ${what} (${seconds()} s) …`), 10_000);
  try {
    const value = await work();
    say(`connecta: ${what}: done in ${seconds()} s`);
    return value;
  } finally {
    clearInterval(beat);
  }
}
