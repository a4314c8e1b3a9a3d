// `npm run soak -- [--minutes N] [--seed N] [--plant NAME | --self-test]`: nothing is lost, doubled,
// untyped or left behind under a mixed load. Exit code 1 when something is.
import { parseArgs } from "node:util";
import { FOUND_AS } from "./plants.mjs";
import { soak } from "./run.mjs";
import { tables } from "./table.mjs";

const SELF_TEST_MINUTES = 0.4;

const say = (line) => process.stderr.write(`soak: ${line}\n`);

function options() {
  const plants = Object.keys(FOUND_AS);
  try {
    const { values } = parseArgs({
      options: {
        minutes: { type: "string", default: "10" },
        seed: { type: "string", default: "1" },
        plant: { type: "string", default: "" },
        "self-test": { type: "boolean", default: false },
      },
    });
    const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
    const { plant } = values;
    if (!(minutes > 0 && minutes <= 600)) throw new Error("--minutes must be between 0 and 600");
    if (!Number.isSafeInteger(seed)) throw new Error("--seed must be a whole number");
    if (plant !== "" && !plants.includes(plant)) throw new Error(`there is no plant ${plant}`);
    return { minutes, seed, plant, selfTest: values["self-test"] };
  } catch (error) {
    say(
      `${error.message}. Options: --minutes N, --seed N, --plant ${plants.join("|")}, --self-test.`,
    );
    return undefined;
  }
}

/** One soak with its table. */
async function once({ minutes, seed, plant }) {
  const { ledger, growth } = await soak({ minutes, seed, plant, say });
  process.stdout.write(`${tables(ledger, growth)}\n\n`);
  for (const violation of ledger.violations) process.stdout.write(`VIOLATION ${violation}\n`);
  const requests = ledger.rows().reduce((sum, { sent }) => sum + sent, 0);
  const { length } = ledger.violations;
  process.stdout.write(`${minutes} minutes, ${requests} requests, ${length} violations\n`);
  return length === 0;
}

/** Every planted fault must be found as what it is, and without one nothing must be found. */
async function selfTest({ seed }) {
  let sound = true;
  for (const plant of ["", ...Object.keys(FOUND_AS)]) {
    const { ledger } = await soak({
      minutes: SELF_TEST_MINUTES,
      seed,
      plant,
      say: () => undefined,
    });
    const { violations } = ledger;
    const found = violations.find((violation) => violation.includes(FOUND_AS[plant]));
    const good = plant === "" ? violations.length === 0 : found !== undefined;
    sound &&= good;
    const shown = plant === "" ? (violations[0] ?? "nothing, as there is nothing") : found;
    process.stdout.write(
      `${good ? "ok  " : "FAIL"} planted ${plant || "nothing"}: found ${shown}\n`,
    );
  }
  return sound;
}

const chosen = options();
if (chosen && process.platform !== "linux")
  say("skipped: it looks into /proc, which only Linux has.");
else if (!chosen) process.exitCode = 1;
else if (!(await (chosen.selfTest ? selfTest(chosen) : once(chosen)))) process.exitCode = 1;
