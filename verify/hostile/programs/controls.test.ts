import { fork } from "node:child_process";
import { describe, expect, test } from "vitest";
import { GROUPS, sourceOf, type Attack } from "./attacks.mjs";
import { onNaiveBridge } from "./support/naive.ts";

const UNWATCHED = new URL("support/unwatched.mjs", import.meta.url);

/** What the sandbox gives a program's heap. */
const HEAP_BYTES = 64 * 1024 * 1024;

/** An interrupt handler that works ends a program within this; an attack that hangs it does not. */
const INTERRUPT_MS = 50;
const HANGS_MS = 1_500;

const landing = (how: Attack["lands"]): Attack[] =>
  GROUPS.flatMap(({ attacks }) => attacks.filter(({ lands }) => lands === how));

const titled = (attack: Attack): [string, Attack] => [attack.title, attack];

interface Report {
  readonly step: string;
  readonly outcome?: string;
  readonly heapBytes?: number;
}

/** Runs an attack on a bare interpreter for as long as it takes, or as long as it is watched. */
async function onBareInterpreter(
  attack: Attack,
  bounds: { interruptMs?: number; stackless?: boolean; watchMs?: number },
): Promise<Report[]> {
  const { watchMs, ...rest } = bounds;
  const child = fork(UNWATCHED);
  const reports: Report[] = [];
  let timer: NodeJS.Timeout | undefined;
  try {
    child.send({ program: sourceOf(attack), interruptMs: 10_000, stackless: false, ...rest });
    await new Promise<void>((resolve, reject) => {
      child.on("error", reject);
      child.on("exit", resolve);
      child.on("message", (report: Report) => {
        reports.push(report);
        if (report.step === "the attack ended") resolve();
        if (report.step === "the attack begins" && watchMs !== undefined) {
          timer = setTimeout(resolve, watchMs);
        }
      });
    });
    return reports;
  } finally {
    clearTimeout(timer);
    child.kill("SIGKILL");
  }
}

describe("the controls of the hostile programs", () => {
  test("native calls hang an interpreter whose interrupt handler ends every loop", async () => {
    const attacks = landing("hangs");
    expect(attacks).toHaveLength(5);
    const bounds = { interruptMs: INTERRUPT_MS, watchMs: HANGS_MS };
    const seen = await Promise.all(attacks.map((attack) => onBareInterpreter(attack, bounds)));
    for (const reports of seen) {
      expect(reports).toEqual([
        { step: "an ordinary loop", outcome: "interrupted" },
        { step: "the attack begins" },
      ]);
    }
  });

  test("bombs outgrow the bound of an interpreter that has none", async () => {
    const small: string[] = [];
    for (const attack of landing("grows")) {
      const { heapBytes = 0 } = (await onBareInterpreter(attack, {})).at(-1) ?? {};
      if (heapBytes < 1.5 * HEAP_BYTES) small.push(`${attack.title}: ${heapBytes}`);
    }
    expect(small).toEqual([]);
  });

  test.each(landing("breaks").map(titled))(
    "%s breaks an interpreter without a limit",
    async (_, attack) => {
      const reports = await onBareInterpreter(attack, { stackless: true });
      expect(reports.at(-1)?.outcome).toMatch(/^broken: R/);
    },
  );

  test.each(landing("fools").map(titled))(
    "%s fools a bridge that trusts its guest",
    async (_, attack) => {
      const { code, result } = await onNaiveBridge(sourceOf(attack));
      const expected = { code: attack.code, ...("result" in attack && { result: attack.result }) };
      expect({ code, ...("result" in attack && { result }) }).not.toEqual(expected);
    },
  );
});
