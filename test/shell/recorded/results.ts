import type { CallAnswer } from "../../support/gateway.ts";
import recorded from "./results.json";

/** Text that would do harm wherever somebody took it for HTML. */
export const HOSTILE = `<img src=x onerror="boom()"></script><script>boom()</script>`;

/** A call and what the server answered. */
export interface Recorded {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly answer: CallAnswer;
}

/** One letter a hundred times or more is written as its count, so that a person can read the record. */
export function folded(json: string): string {
  return json.replace(/([a-z])\1{99,}/g, (run, letter: string) => `{${letter} * ${run.length}}`);
}

function unfolded(json: string): string {
  return json.replace(/\{([a-z]) \* (\d+)\}/g, (_, letter: string, count) =>
    letter.repeat(Number(count)),
  );
}

const RECORD = recorded as unknown as Readonly<Record<string, Recorded>>;

/** The names of everything that is on record. */
export const NAMES: readonly string[] = Object.keys(RECORD);

function entry(name: string): Recorded {
  const found = Object.hasOwn(RECORD, name) ? RECORD[name] : undefined;
  if (!found) throw new Error(`nothing is recorded as ${name}`);
  return JSON.parse(unfolded(JSON.stringify(found))) as Recorded;
}

/** An answer of the server, as it was recorded; a copy of its own. */
export function answerOf(name: string): CallAnswer {
  return entry(name).answer;
}

/** The arguments of the recorded call. */
export function argsOf(name: string): { readonly address?: unknown; readonly args?: unknown } {
  return entry(name).args;
}
