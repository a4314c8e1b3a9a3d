import { describe, expect, test } from "vitest";
import { BUSY } from "./busy.ts";
import { NO_NETWORK } from "./isolation.ts";
import type { Run } from "./main.ts";
import type { Measured } from "./measure.ts";
import { byRow, inWords } from "./report.ts";
import { expected, isAudible, type Browser, type Outcome, type Vector } from "./vector.ts";
import { TABLE } from "./vectors/table.ts";

const NAMED = NO_NETWORK === undefined;

/** What is told beside a test that cannot run. */
const unheard = (vector: Vector) =>
  isAudible(vector, NAMED) ? "" : ` (skipped, no network of its own: ${NO_NETWORK})`;

/** Every vector of the table, and what it came to in one browser. */
export function checkTable(browser: Browser, run: () => Run): void {
  describe.each([...byRow(TABLE)])("%s", (_, vectors) => {
    for (const vector of vectors) {
      const outcome = expected(vector, browser, NAMED);
      const title = `${vector.name}: ${titleOf(outcome)}${unheard(vector)}`;
      test.skipIf(!isAudible(vector, NAMED))(`${title}`, () => {
        checkControl(run().table, vector, outcome);
        checkPlace(run().table, vector, "ordinary", outcome, outcome.leaks);
        if (!vector.ordinary) checkPlace(run().table, vector, "moved", outcome, outcome.other);
      });
    }
  });
}

/** Programs that go on and on. */
export function checkBusy(browser: Browser, run: () => Run): void {
  test.each(BUSY.map((one) => [one.row ?? "", one.name, one.effect[browser]] as const))(
    "%s %s",
    (_, name, effect) => {
      expect(run().busy.find((one) => one.name === name)).toEqual({ name, ...effect });
    },
  );
}

/** One vector at the other place of a table of its own. */
export function checkOther(
  browser: Browser,
  measured: () => readonly Measured[],
  place: string,
  vector: Vector,
): void {
  const outcome = expected(vector, browser, NAMED);
  const title = `${vector.row}, ${vector.name}: ${wordsOf(outcome.other)}${unheard(vector)}`;
  test.skipIf(!isAudible(vector, NAMED))(`${title}`, () => {
    checkControl(measured(), vector, outcome);
    checkPlace(measured(), vector, place, outcome, outcome.other);
  });
}

/** The attack lands where nothing holds it: otherwise silence elsewhere would say nothing. */
function checkControl(all: readonly Measured[], vector: Vector, { lands }: Outcome): void {
  expect(find(all, vector, "control").heard).toEqual(expect.arrayContaining([...lands]));
}

function checkPlace(
  all: readonly Measured[],
  vector: Vector,
  place: string,
  { chance }: Outcome,
  leaks: Outcome["leaks"],
): void {
  const { heard, ran } = find(all, vector, place);
  expect({ place, ran }).toEqual({ place, ran: true });
  const known = chance ? leaks.filter((channel) => heard.includes(channel)) : leaks;
  expect({ place, heard }).toEqual({ place, heard: known });
}

function find(all: readonly Measured[], { row, name }: Vector, place: string): Measured {
  const found = all.find((one) => one.row === row && one.name === name && one.place === place);
  if (!found) throw new Error(`${row}, ${name} was not measured at ${place}`);
  return found;
}

const wordsOf = (channels: Outcome["leaks"]) =>
  channels.length === 0 ? "closed" : `open (${inWords(channels)})`;

function titleOf({ lands, leaks, other, chance }: Outcome): string {
  if (lands.length === 0 && leaks.length === 0) return "not in this browser";
  const moved = inWords(other) === inWords(leaks) ? "" : `, moved ${wordsOf(other)}`;
  return wordsOf(leaks) + moved + (chance ? " at times" : "");
}
