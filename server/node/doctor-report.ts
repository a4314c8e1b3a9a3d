/** What is wrong, why, and what mends it. */
export interface Finding {
  /** Stays the same across versions, for scripts. */
  readonly code: string;
  readonly cause: string;
  readonly fix: string;
  /** The end of what a process wrote before it died. */
  readonly errorOutput?: string;
}

/** One thing that was looked at. */
export interface Check {
  readonly step: string;
  /** `skipped` where an earlier step of the same part failed. */
  readonly state: "ok" | "failed" | "skipped";
  readonly findings: readonly Finding[];
  /** Worth a look, and no reason to fail. */
  readonly notes?: readonly string[];
}

/** The deployment itself, or one connector. */
export interface Part {
  readonly name: string;
  readonly checks: readonly Check[];
}

/** Whether all is well. */
export function isWell(parts: readonly Part[]): boolean {
  return parts.every(({ checks }) => checks.every(({ state }) => state === "ok"));
}

/** A step with what it found. */
export function checked(
  step: string,
  findings: readonly Finding[] = [],
  notes: readonly string[] = [],
): Check {
  const state = findings.length > 0 ? "failed" : "ok";
  return { step, state, findings, ...(notes.length > 0 && { notes }) };
}

/** Steps in their order, of which one failed: those before it are well, those after it unknown. */
export function stoppedAt(steps: readonly string[], step: string, finding: Finding): Check[] {
  const at = steps.indexOf(step);
  return steps.map((one, i) => {
    if (i === at) return checked(one, [finding]);
    return i < at ? checked(one) : { step: one, state: "skipped", findings: [] };
  });
}
