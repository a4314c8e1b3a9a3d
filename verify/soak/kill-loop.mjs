// `npm run soak:storage -- [--rounds N] [--seed N]`: no answered write is lost by kill -9.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sqliteStorage } from "connecta/node";
import { chance } from "./chance.mjs";
import { killRounds } from "./rounds.mjs";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "200" }, seed: { type: "string", default: "1" } },
});
const rounds = Number(values.rounds);
const folder = mkdtempSync(join(tmpdir(), "connecta-kill-"));
const file = join(folder, "store.db");

try {
  const { steps, lost } = await killRounds({
    file,
    rounds,
    random: chance(Number(values.seed)),
    module: "connecta/node",
    open: () => sqliteStorage({ file }),
    onRound: (round, count) => {
      if ((round + 1) % 20 === 0) console.log(`round ${round + 1}: ${count} steps answered`);
    },
  });
  for (const line of lost) console.error(line);
  console.log(`${rounds} kills, ${steps} writes answered, ${lost.length} rounds with a loss`);
  if (lost.length > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
