import { dereference, Validator, type OutputUnit, type Schema } from "@cfworker/json-schema";
import type { JsonSchema } from "./contracts.ts";
import type { Finding } from "./failure.ts";
import { clampUtf8 } from "./text.ts";

/** A JSON Schema ready to check values (2020-12). */
export interface CompiledSchema {
  /** At most three findings that name places and rules, never values; empty when valid. */
  check(value: unknown): readonly Finding[];
}

/** A value that exhausts the validator was not validated, so it must not pass. */
const TOO_DEEP: Finding = { path: "args", code: "depth", expected: "a value less deeply nested" };

const MAX_FINDINGS = 3;
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
 * Prepares a schema once. A schema that cannot be evaluated lets every value pass: the
 * integration itself is the judge then.
 */
export function compileSchema(schema: JsonSchema): CompiledSchema {
  const validator = makeValidator(schema);
  if (!validator) return { check: () => [] };
  return {
    check(value) {
      try {
        const { valid, errors } = validator.validate(value);
        return valid ? [] : findings(errors, schema);
      } catch (error) {
        return error instanceof RangeError ? [TOO_DEEP] : [];
      }
    },
  };
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
      const shape = shapeProblem(part);
      if (shape !== undefined) return shape;
      if (part.pattern !== undefined) new RegExp(part.pattern, "u");
    }
    new Validator(structuredClone(schema) as Schema, "2020-12").validate({});
    return undefined;
  } catch (error) {
    return `does not compile: ${error instanceof Error ? error.message : "unknown reason"}`;
  }
}

const TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"];

/** A keyword whose value has a form that no validator could use. */
function shapeProblem(part: Schema): string | undefined {
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

function makeValidator(schema: JsonSchema): Validator | undefined {
  try {
    // The validator annotates the schema it is given; ours is shown to clients.
    return new Validator(structuredClone(schema) as Schema, "2020-12", false);
  } catch {
    return undefined;
  }
}

function findings(errors: readonly OutputUnit[], schema: JsonSchema): readonly Finding[] {
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

function expectation(error: OutputUnit, schema: JsonSchema): string {
  if (error.keyword === "false") return "no such property";
  const rule = schemaAt(schema, error.keywordLocation);
  switch (error.keyword) {
    case "required":
      // The validator names the property in its sentence; properties are not values.
      return `the property ${/property "([^"]*)"/.exec(error.error)?.[1] ?? "named in required"}`;
    case "anyOf":
    case "oneOf":
      return `a value that matches ${error.keyword}`;
    default:
      return clampUtf8(rule === undefined ? error.keyword : text(rule), EXPECTED_BYTES);
  }
}

function text(rule: unknown): string {
  return Array.isArray(rule) ? rule.map((item) => String(item)).join(" | ") : String(rule);
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
