import type { z } from "zod";
import type { Finding } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import { clampUtf8 } from "../shared/text.ts";

const MAX_FINDINGS = 3;

/** Where a value breaks which rule of a zod schema; places and rules, never what was there. */
export function findingsOf({ issues }: z.ZodError, root = "args"): readonly Finding[] {
  return issues.slice(0, MAX_FINDINGS).map((issue) => ({
    path: clampUtf8(issue.path.map(String).join(".") || root, LIMITS.nameBytes.value),
    code: issue.code,
    expected: "expected" in issue ? String(issue.expected) : issue.code,
  }));
}
