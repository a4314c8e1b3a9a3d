// Writes to a store until it is killed, and says of each step when it was answered.
import { LAST, stepOf } from "./steps.mjs";

const { sqliteStorage } = await import(process.env.STORE_MODULE ?? "connecta/node");
const [file = "", round = ""] = process.argv.slice(2);
const store = sqliteStorage({ file });

let last = valueOf(await store.get(LAST));
// Who was forgotten ends by itself.
for (let step = 0; step < 10_000; step++) {
  const { kind, key, value } = stepOf(Number(round), step);
  if (kind === "set") valueOf(await store.set(key, value));
  else if (kind === "delete") valueOf(await store.delete(key));
  else if (valueOf(await store.compareAndSet(LAST, last, value))) last = value;
  else throw new Error("somebody else wrote");
  // No step begins before the answer of the last one has left, so that no kill takes it back.
  await new Promise((resolve) => process.stdout.write(`${step}\n`, resolve));
}

function valueOf(outcome) {
  if (!outcome.ok) throw new Error(outcome.failure.message);
  return outcome.value;
}
