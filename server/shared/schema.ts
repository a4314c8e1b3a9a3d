import { dereference, Validator, type OutputUnit, type Schema } from "@cfworker/json-schema";
import type { JsonSchema } from "./contracts.ts";
import type { Finding } from "./failure.ts";
import {
  boundSchema,
  Exhausted,
  sizeOf,
  TYPES,
  type BoundedSchema,
  type ValueSize,
} from "./schema-bounds.ts";
import { clampUtf8 } from "./text.ts";

/** A JSON Schema ready to check values (2020-12). */
export interface CompiledSchema {
  /** At most three findings that name places and rules, never values; empty when valid. */
  check(value: unknown): readonly Finding[];
}

/** A value that exhausts the validator was not validated, so it must not pass. */
const TOO_DEEP: Finding = { path: "args", code: "depth", expected: "a value less deeply nested" };
const TOO_LARGE: Finding = { path: "args", code: "size", expected: "shorter lists" };

/** What is not so deep and exhausts the validator all the same has a schema without an end. */
const DEEP = 500;
/** Members of lists that are compared with each other. */
const MAX_UNIQUE = 10_000;
const MAX_FINDINGS = 3;
const MAX_MEMBERS = 20;
const EXPECTED_BYTES = 160;
const APPLICATORS = new Set([
  "properties",
  "patternProperties",
  "items",
  "prefixItems",
  "allOf",
  "$ref",
  "dependentSchemas",
  "if",
  "then",
  "else",
  "contains",
  "propertyNames",
  "additionalProperties",
  "unevaluatedProperties",
]);

/**
 * Prepares a schema that the deployment wrote. Its handlers rely on it, so that a value which
 * cannot be checked is refused; a schema that cannot be evaluated lets every value pass.
 */
export function compileSchema(schema: JsonSchema): CompiledSchema {
  const copy = attempt(() => structuredClone(schema) as Schema);
  const validator = copy && attempt(() => ownValidator(copy));
  if (!validator) return { check: () => [] };
  const isPairwise = JSON.stringify(schema).includes('"uniqueItems":true');
  return {
    check(value) {
      if (isPairwise && sizeOf(value).values > MAX_UNIQUE) return [TOO_LARGE];
      try {
        return findings(validator.validate(value), copy);
      } catch (error) {
        return error instanceof RangeError ? [TOO_DEEP] : [];
      }
    },
  };
}

/**
 * Prepares a schema that some server wrote, which judges its arguments itself: what takes too much
 * work is not checked, and a schema that cannot be evaluated lets every value pass.
 */
export function compileForeignSchema(schema: JsonSchema): CompiledSchema {
  const full = attempt(() => foreignValidator(schema, false));
  // Rarely needed: for values so large that a pattern could take long.
  let lean: Foreign | undefined | "unmade" = "unmade";
  const choose = (size: ValueSize): Foreign | undefined => {
    if (full?.bounds.permits(size)) return full;
    if (lean === "unmade") lean = attempt(() => foreignValidator(schema, true));
    return lean?.bounds.permits(size) ? lean : undefined;
  };
  return {
    check(value) {
      const size = sizeOf(value);
      const chosen = choose(size);
      if (!chosen) return [];
      const { bounds, validator } = chosen;
      bounds.start();
      try {
        return findings(validator.validate(value), bounds.schema);
      } catch (error) {
        if (error instanceof Exhausted) return [];
        return error instanceof RangeError && size.depth > DEEP ? [TOO_DEEP] : [];
      }
    },
  };
}

interface Foreign {
  readonly bounds: BoundedSchema;
  readonly validator: Validator;
}

function foreignValidator(schema: JsonSchema, isLean: boolean): Foreign | undefined {
  const bounds = boundSchema(schema, isLean);
  return bounds && { bounds, validator: new Validator(bounds.schema, "2020-12", false) };
}

/** The validator annotates the schema that it is given; it must not be the one that clients see. */
function ownValidator(copy: Schema): Validator {
  for (const part of Object.values(dereference(copy))) {
    // No format of the standard, and its check may take minutes.
    if (typeof part !== "boolean" && part.format === "url") delete part.format;
  }
  return new Validator(copy, "2020-12", false);
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/**
 * What makes a schema unusable, in one sentence, or `undefined`. Stricter than
 * {@link compileSchema}: for schemas that a deployment writes itself.
 */
export function schemaProblem(schema: unknown): string | undefined {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    return "is not a JSON Schema object";
  }
  try {
    const copy = structuredClone(schema) as Schema;
    const lookup = dereference(copy);
    for (const part of Object.values(lookup)) {
      if (typeof part === "boolean") continue;
      const target = part.__absolute_ref__;
      if (target !== undefined && !(target in lookup)) return `has a dangling $ref ${part.$ref}`;
      const problem = keywordProblem(part);
      if (problem !== undefined) return problem;
      if (part.pattern !== undefined) new RegExp(part.pattern, "u");
    }
    new Validator(structuredClone(schema) as Schema, "2020-12").validate({});
    return undefined;
  } catch (error) {
    return `does not compile: ${error instanceof Error ? error.message : "unknown reason"}`;
  }
}

/** A keyword whose value has a form that no validator could use. */
function keywordProblem(part: Schema): string | undefined {
  const types: readonly unknown[] = [part.type ?? []].flat();
  if (!types.every((type) => TYPES.includes(type as string))) return "has a type that is none";
  const { properties, required, enum: members } = part as Record<string, unknown>;
  if (properties !== undefined && (typeof properties !== "object" || Array.isArray(properties))) {
    return "has properties that are no object";
  }
  if (required !== undefined && !(Array.isArray(required) && required.every(isText))) {
    return "has required that is no list of names";
  }
  if (members !== undefined && !Array.isArray(members)) return "has an enum that is no list";
  return undefined;
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function findings(
  { valid, errors }: { readonly valid: boolean; readonly errors: readonly OutputUnit[] },
  schema: unknown,
): readonly Finding[] {
  if (valid) return [];
  const leaves = errors.filter(({ keyword }) => !APPLICATORS.has(keyword));
  const found: Finding[] = [];
  for (const error of leaves.length > 0 ? leaves : errors) {
    const finding = {
      path: place(error.instanceLocation),
      code: error.keyword === "false" ? "additionalProperties" : error.keyword,
      expected: expectation(error, schema),
    };
    if (found.some(({ path, code }) => path === finding.path && code === finding.code)) continue;
    found.push(finding);
    if (found.length === MAX_FINDINGS) break;
  }
  return found;
}

/** `#/items/0/id` as people write it: `items[0].id`; the root is `args`. */
function place(location: string): string {
  let path = "";
  for (const segment of location.split("/").slice(1)) {
    const name = segment.replaceAll("~1", "/").replaceAll("~0", "~");
    path += /^\d+$/.test(name) ? `[${name}]` : `${path ? "." : ""}${name}`;
  }
  return path === "" ? "args" : clampUtf8(path, EXPECTED_BYTES);
}

function expectation(error: OutputUnit, schema: unknown): string {
  if (error.keyword === "false") return "no such property";
  const rule = schemaAt(schema, error.keywordLocation);
  switch (error.keyword) {
    case "required":
      // The validator names the property in its sentence; properties are not values.
      return clampUtf8(
        `the property ${/property "([^"]*)"/.exec(error.error)?.[1] ?? "named in required"}`,
        EXPECTED_BYTES,
      );
    case "anyOf":
    case "oneOf":
      return `a value that matches ${error.keyword}`;
    default:
      return clampUtf8(rule === undefined ? error.keyword : text(rule), EXPECTED_BYTES);
  }
}

function text(rule: unknown): string {
  if (!Array.isArray(rule)) return typeof rule === "object" ? JSON.stringify(rule) : String(rule);
  return rule.slice(0, MAX_MEMBERS).map(text).join(" | ");
}

function schemaAt(schema: unknown, location: string): unknown {
  let at = schema;
  for (const segment of location.split("/").slice(1)) {
    const name = decodeURIComponent(segment).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}
