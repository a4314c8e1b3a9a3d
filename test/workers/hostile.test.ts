import { describe, expect, test } from "vitest";
import { GROUPS, sourceOf, type Attack } from "../../verify/hostile/programs/attacks.mjs";
import { gateway } from "./support.ts";

/** What computes or holds without end is the platform's to stop, which no machine of ours does. */
const isThePlatforms = ({ code }: Attack) => code === "executor_limit";

/** What they come to here, where the engine is another one. */
const OTHERWISE: Readonly<Record<string, Partial<Attack>>> = {
  "awaiting what never settles": { code: "executor_timeout" },
  "every method of every prototype thrown away": { code: "program_error" },
  // A lone half of a pair cannot leave in UTF-8, and is three bytes of no meaning.
  "half of a pair in the source itself": { result: 3 },
  "everything that leads to the machine, looked for": { result: ["Atomics"] },
  "the Function constructor, which stays inside": { code: "program_error" },
  "a buffer that shrinks while a typed array is made on it": { code: "ok" },
};

const RUNNING = GROUPS.map(({ clauses, attacks }) => ({
  clauses,
  attacks: attacks.filter((attack) => !isThePlatforms(attack)),
})).filter(({ attacks }) => attacks.length > 0);

describe.each(RUNNING)("hostile programs ($clauses)", ({ attacks }) => {
  test.each(attacks.map((attack) => [attack.title, attack] as const))(
    "%s comes to what it comes to on Node, and harms nobody else",
    async (title, attack) => {
      const { run } = gateway("hostile");
      const { structuredContent } = await run(sourceOf(attack));
      const { error, result } = structuredContent as { error?: { code: string }; result?: unknown };
      const other = OTHERWISE[title];
      expect(error?.code ?? "ok").toBe(other?.code ?? attack.code);
      const expected = { ...attack, ...other };
      if (error === undefined && "result" in expected && other?.code === undefined) {
        expect(result).toEqual(expected.result);
      }
      expect((await run("return 6 * 7")).structuredContent).toEqual({ result: 42 });
    },
  );
});

test("no exception outlives the attack that it is for", () => {
  const titles = RUNNING.flatMap(({ attacks }) => attacks.map(({ title }) => title));
  expect(Object.keys(OTHERWISE).filter((title) => !titles.includes(title))).toEqual([]);
});
