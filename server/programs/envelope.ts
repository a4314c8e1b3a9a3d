import type { Failure } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import { clampChars } from "../shared/text.ts";
import type { Diagnostics } from "./meter.ts";

/** What the model reads of a run that succeeded. */
export interface SuccessEnvelope {
  readonly result: unknown;
  readonly emitted?: number;
  readonly ui?: true;
  readonly logs?: string;
  readonly diagnostics?: Diagnostics;
}

/** What the model reads of a run that failed. */
export interface FailureEnvelope {
  readonly error: Failure;
  readonly logs?: string;
  readonly emittedDiscarded?: number;
  readonly uiDiscarded?: true;
  readonly diagnostics?: Diagnostics;
}

const HINT = "The result is too long to read here: return less — filter, count, or project.";

/** The stand-in for a return value over the bound; itself within the bound. */
export function truncated(preview: string, totalChars: number): Record<string, unknown> {
  const max = LIMITS.returnChars.value;
  let length = Math.min(preview.length, max);
  for (;;) {
    const envelope = { truncated: true, preview: preview.slice(0, length), totalChars, hint: HINT };
    const size = JSON.stringify(envelope).length;
    if (size <= max) return envelope;
    // Escapes make characters cost more than one each: cut by what they cost on average here.
    length -= Math.ceil(((size - max) * length) / size);
  }
}

/** Joins log lines in call order, bounded in characters. */
export function joinLogs(lines: readonly string[] | undefined): string | undefined {
  if (!lines || lines.length === 0) return undefined;
  return clampChars(lines.join("\n"), LIMITS.logChars.value);
}
