import type { z } from "zod";
import { fail, type Finding, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import { clampUtf8 } from "../shared/text.ts";

const MAX_FINDINGS = 3;

type Issue = z.core.$ZodIssue;

/**
 * Refuses arguments by where they break which rule, never by what was sent.
 * @param what the function or tool whose arguments they are
 */
export function invalidArguments(what: string, error: z.ZodError): Outcome<never> {
  const findings = error.issues.slice(0, MAX_FINDINGS).map(finding);
  return fail("invalid_args", `The arguments of ${what} are not valid.`, { findings });
}

function finding(issue: Issue): Finding {
  const unknownField = issue.code === "unrecognized_keys" ? issue.keys[0] : undefined;
  const path = unknownField === undefined ? issue.path : [...issue.path, unknownField];
  return {
    path: clampUtf8(path.map(String).join("."), LIMITS.nameBytes.value),
    code: issue.code,
    expected: expected(issue),
  };
}

function expected(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.expected;
    case "too_small":
      return `at least ${issue.minimum}`;
    case "too_big":
      return `at most ${issue.maximum}`;
    case "invalid_value":
      return issue.values.map((value) => JSON.stringify(value)).join(" or ");
    case "unrecognized_keys":
      return "no such field";
    default:
      return issue.message;
  }
}
