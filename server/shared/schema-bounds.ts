import { dereference, type Schema } from "@cfworker/json-schema";
import { patternWork, type PatternWork } from "./pattern-work.ts";
import { isRecord } from "./record.ts";

/** What a value weighs in the work of checking it. */
export interface ValueSize {
  readonly values: number;
  /** UTF-16 units of all texts, names of properties included, and of the longest. */
  readonly chars: number;
  readonly longest: number;
  readonly depth: number;
}

/** A schema made safe to evaluate, whoever wrote it. */
export interface BoundedSchema {
  readonly schema: Schema;
  /** Whether checking a value of this size is little work. */
  permits(size: ValueSize): boolean;
  /** Called before each check, so that {@link Exhausted} counts anew. */
  start(): void;
}

/** Thrown out of the validator by a schema that takes too much work. */
export class Exhausted extends Error {
  override readonly name = "Exhausted";
}

/** Parts of the schema that one check may visit: some tens of milliseconds. */
const MAX_VISITS = 100_000;
/** Characters of an enum or names of properties that weigh as much as a visit. */
const CHARS_PER_VISIT = 64;
/** Steps of all patterns, or comparisons of list members with each other. */
const MAX_STEPS = 10_000_000;
/** Real ones have at most a tenth. */
const MAX_SCHEMA_CHARS = 1024 * 1024;
/** Each is resolved twice as often as the one around it. */
const MAX_NESTED_IDS = 4;
const MAX_CHOICES = 100_000;
const LEAN_CHOICES = 8;
/** The names of types that a schema may give. */
export const TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"];
/** Where a part that accepts more makes the whole accept less. */
const INVERTING = ["not", "oneOf", "if", "maxContains"];

/**
 * A copy of a schema that some server wrote, without what could hold up everyone, or `undefined`
 * when nothing of it can be evaluated. What is left out makes it accept more, never less.
 * @param isLean leaves out all patterns and comparisons that are more than a little work
 */
export function boundSchema(given: object, isLean: boolean): BoundedSchema | undefined {
  if (JSON.stringify(given).length > MAX_SCHEMA_CHARS || nestedIds(given) > MAX_NESTED_IDS) {
    return undefined;
  }
  const schema = structuredClone(given) as Schema;
  const parts = new Set(Object.values(dereference(schema)).filter(isRecord));
  const work = { steps: 0, degree: 1, pairs: false, patterns: 0 };
  const meter = { left: MAX_VISITS };
  let omitted = false;
  for (const part of parts) {
    omitted = simplify(part, isLean, work) || omitted;
    if (!hasHarmlessNames(part, work)) return undefined;
    count(part, meter);
  }
  const inverts = [...parts].some((part) =>
    INVERTING.some((keyword) => Object.hasOwn(part, keyword)),
  );
  if (omitted && inverts) return undefined;
  return {
    schema,
    permits: ({ values, chars, longest }) =>
      work.steps * chars * longest ** (work.degree - 1) <= MAX_STEPS &&
      (!work.pairs || values ** 2 <= MAX_STEPS) &&
      work.patterns * values <= MAX_STEPS,
    start: () => void (meter.left = MAX_VISITS),
  };
}

/** Counts values, texts and depth without recursion, however deep they lie. */
export function sizeOf(value: unknown): ValueSize {
  const size = { values: 0, chars: 0, longest: 0, depth: 0 };
  const text = (length: number) => {
    size.chars += length;
    size.longest = Math.max(size.longest, length);
  };
  let [level, next]: unknown[][] = [[value], []];
  for (; level !== undefined && level.length > 0; [level, next] = [next, []]) {
    size.depth++;
    for (const each of level) {
      size.values++;
      if (typeof each === "string") text(each.length);
      if (typeof each !== "object" || each === null) continue;
      if (!Array.isArray(each)) for (const name of Object.keys(each)) text(name.length);
      for (const member of Object.values(each)) next?.push(member);
    }
  }
  return size;
}

interface Work {
  steps: number;
  degree: number;
  /** Whether members of a list are compared with each other. */
  pairs: boolean;
  /** Patterns that every property of an object is held against. */
  patterns: number;
}

/** Takes out what cannot be evaluated or costs too much; says whether anything was. */
function simplify(part: Record<string, unknown>, isLean: boolean, work: Work): boolean {
  const before = Object.keys(part).length;
  const { type, pattern, format, uniqueItems } = part;
  if (![type ?? []].flat().every((one) => TYPES.includes(one as string))) delete part.type;
  // In older drafts a flag of the limit beside it.
  for (const name of ["exclusiveMinimum", "exclusiveMaximum"]) {
    if (typeof part[name] === "boolean") delete part[name];
  }
  if (isNoFormat(format)) delete part.format;
  if (uniqueItems === true && isLean) delete part.uniqueItems;
  else work.pairs ||= uniqueItems === true;
  if (pattern !== undefined) {
    const costs = workOf(pattern);
    if (isTooMuch(costs, isLean)) delete part.pattern;
    else {
      work.steps += costs.choices;
      work.degree = Math.max(work.degree, costs.degree);
    }
  }
  // A format that there is not is a remark: without it nothing is lost.
  const lost = before - Object.keys(part).length;
  return lost > (isNoFormat(format) ? 1 : 0);
}

/** The check of `url`, which is none of the standard, may take minutes; the others are inherited. */
function isNoFormat(format: unknown): boolean {
  return format === "url" || (typeof format === "string" && format in Object.prototype);
}

function workOf(pattern: unknown): PatternWork {
  try {
    new RegExp(String(pattern), "u");
    return patternWork(String(pattern));
  } catch {
    return { degree: Number.POSITIVE_INFINITY, choices: 1 };
  }
}

function isTooMuch({ degree, choices }: PatternWork, isLean: boolean): boolean {
  return isLean
    ? degree > 1 || choices > LEAN_CHOICES
    : degree === Infinity || choices > MAX_CHOICES;
}

/** Left out they would turn the properties that they stand for into unknown ones. */
function hasHarmlessNames(part: Record<string, unknown>, work: Work): boolean {
  const { patternProperties } = part;
  if (!isRecord(patternProperties)) return true;
  const patterns = Object.keys(patternProperties);
  work.patterns += patterns.length;
  return patterns.every((pattern) => !isTooMuch(workOf(pattern), true));
}

/** Makes the validator's every visit count: it reads this keyword, which no schema of today has. */
function count(part: Record<string, unknown>, meter: { left: number }): void {
  const { enum: members, const: only, required, properties } = part;
  const listed = [members, only, required, isRecord(properties) && Object.keys(properties)];
  const weight = 1 + Math.floor(JSON.stringify(listed).length / CHARS_PER_VISIT);
  const value: unknown = part.$recursiveAnchor;
  Object.defineProperty(part, "$recursiveAnchor", {
    configurable: true,
    get() {
      meter.left -= weight;
      if (meter.left < 0) throw new Exhausted();
      return value;
    },
  });
}

/** How many ids lie within one another, in the deepest place. */
function nestedIds(schema: object): number {
  let deepest = 0;
  const open: [object, number][] = [[schema, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [node, around] = next;
    const { $id, id } = node as { $id?: unknown; id?: unknown };
    const ids = around + (typeof $id === "string" || typeof id === "string" ? 1 : 0);
    deepest = Math.max(deepest, ids);
    for (const member of Object.values(node))
      if (isRecord(member) || Array.isArray(member)) open.push([member, ids]);
  }
  return deepest;
}
