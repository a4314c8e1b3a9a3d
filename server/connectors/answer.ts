import { z } from "zod";
import type { JsonSchema } from "../shared/contracts.ts";
import type { Finding } from "../shared/failure.ts";
import { compileSchema } from "../shared/schema.ts";
import { findingsOf } from "./findings.ts";

/** What an answer is by its schema, or where it is something else. */
export type AnswerCheck = (
  value: unknown,
) => { readonly value: unknown } | { readonly findings: readonly Finding[] };

/** Checking a JSON Schema takes a millisecond for some thousand values and lets nobody else run. */
const MAX_VALUES = 20_000;

const ROOT = "answer";

/**
 * What makes sure that answers are what a tool declares. A zod schema hands on what it parsed, so
 * that undeclared properties stay behind; a JSON Schema checks the JSON form and changes nothing.
 */
export function answerCheck(schema: JsonSchema | z.ZodType): AnswerCheck {
  if (schema instanceof z.ZodType) {
    return (value) => {
      const parsed = schema.safeParse(value);
      return parsed.success ? { value: parsed.data } : { findings: findingsOf(parsed.error, ROOT) };
    };
  }
  const compiled = compileSchema(schema);
  return (value) => {
    if (!isSmall(value)) return { value };
    // A date or an undefined property is no JSON yet, and may well be what is declared once it is.
    if (compiled.check(value).length === 0) return { value };
    const findings = compiled.check(jsonForm(value));
    if (findings.length === 0) return { value };
    return {
      findings: findings.map((each) => (each.path === "args" ? { ...each, path: ROOT } : each)),
    };
  };
}

/** What a caller would get; a value without a JSON form is refused where it is written. */
function jsonForm(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value) ?? "null");
  } catch {
    return value;
  }
}

function isSmall(value: unknown): boolean {
  const queue: unknown[] = [value];
  for (let i = 0; i < queue.length; i++) {
    const node = queue[i];
    if (typeof node !== "object" || node === null) continue;
    const members = Array.isArray(node) ? node : Object.values(node);
    if (queue.length + members.length > MAX_VALUES) return false;
    for (const member of members) queue.push(member);
  }
  return true;
}
