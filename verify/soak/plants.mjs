// Faults for the soak to find, so that a soak that finds nothing says something.
import { spawn } from "node:child_process";

const KEPT = [];

const LEAKS = {
  timers: () => setInterval(() => undefined, 60_000),
  memory: () => KEPT.push(Array.from({ length: 4_000 }, () => KEPT.length)),
  listeners: () => process.on("SIGUSR2", () => undefined),
  processes: everySo(40, () => spawn("sleep", ["300"], { stdio: "ignore" })),
};

const WIRES = {
  doubled: everySo(100, (text) => `${text}\n${text}`, same),
  crossed: crossed(),
  lost: everySo(100, () => undefined, same),
  untyped: (text) => text.replaceAll('"code":"not_found"', '"code":"oops"'),
};

/** What each plant must be found as: a word of the violation. */
export const FOUND_AS = {
  timers: "timers",
  memory: "heap",
  listeners: "listeners",
  processes: "processes",
  doubled: "answered 2 times",
  crossed: "somebody else's",
  lost: "answered 0 times",
  untyped: "no code of ours",
};

/**
 * What a handler of the server leaves behind each time it is called.
 * @param {string} plant
 */
export function leakOf(plant) {
  return LEAKS[plant] ?? (() => undefined);
}

/**
 * What happens to an answer on its way to the client; `undefined` is lost.
 * @param {string} plant
 * @returns {(text: string) => string | undefined}
 */
export function wireOf(plant) {
  return WIRES[plant] ?? same;
}

function same(text) {
  return text;
}

function everySo(often, act, otherwise = () => undefined) {
  let count = 0;
  return (given) => (++count % often === 0 ? act(given) : otherwise(given));
}

/** Now and then the answer before this one. */
function crossed() {
  let last;
  return everySo(
    100,
    (text) => last ?? text,
    (text) => (last = text),
  );
}
