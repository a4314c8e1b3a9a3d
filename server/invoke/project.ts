import { fail, ok, type Outcome } from "../shared/failure.ts";
import { clampUtf8 } from "../shared/text.ts";

/** A projected value, and the paths that were not there. */
export interface Projection {
  readonly data: unknown;
  readonly missingFields: readonly string[];
}

/** One field on its way through the value, and whether some element lacked it. */
interface Search {
  readonly path: readonly Segment[];
  missed: boolean;
}

type Segment = { readonly key: string; readonly each: boolean };

const MAX_ECHO_BYTES = 128;

/**
 * Keeps only the named paths of a value: `a.b` selects a property, `items[].id` the property of
 * every element. The shape above a selected place stays; a path that an element lacks is reported.
 */
export function project(value: unknown, fields: readonly string[]): Outcome<Projection> {
  const missing: string[] = [];
  let data: unknown;
  for (const field of fields) {
    const path = parsePath(field);
    if (!path) {
      return fail("invalid_args", `fields has a path that is not like a.b or items[].id.`, {
        findings: [{ path: "fields", code: "format", expected: "a.b or items[].id" }],
      });
    }
    const search: Search = { path, missed: false };
    const selected = select(value, search, 0);
    if (selected === undefined || search.missed) missing.push(clampUtf8(field, MAX_ECHO_BYTES));
    if (selected !== undefined) data = merge(data, selected);
  }
  return ok({ data: data ?? (Array.isArray(value) ? [] : {}), missingFields: missing });
}

function parsePath(field: string): Segment[] | undefined {
  const segments: Segment[] = [];
  for (const part of field.split(".")) {
    const each = part.endsWith("[]");
    const key = each ? part.slice(0, -2) : part;
    if (key.includes("[") || (key === "" && !(each && segments.length === 0))) return undefined;
    segments.push({ key, each });
  }
  return segments;
}

function select(value: unknown, search: Search, at: number): unknown {
  const segment = search.path[at];
  if (!segment) return value;
  if (segment.key === "") return selectEach(value, search, at);
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, segment.key)) {
    return undefined;
  }
  const child = (value as Record<string, unknown>)[segment.key];
  const selected = segment.each ? selectEach(child, search, at) : select(child, search, at + 1);
  if (selected === undefined) return undefined;
  return Object.defineProperty({}, segment.key, entry(selected));
}

function selectEach(value: unknown, search: Search, at: number): unknown {
  if (!Array.isArray(value)) return undefined;
  const items = value.map((item) => select(item, search, at + 1));
  if (items.length > 0 && items.every((item) => item === undefined)) return undefined;
  return items.map((item, index) => {
    if (item !== undefined) return item;
    search.missed = true;
    return isObject(value[index]) ? {} : null;
  });
}

function merge(left: unknown, right: unknown): unknown {
  if (left === undefined || left === null) return right;
  if (right === undefined || right === null) return left;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.map((item: unknown, index) => merge(item, right[index]));
  }
  if (isObject(left) && isObject(right)) {
    // A copy: the selected parts are the connector's own objects, and may be frozen.
    const merged = { ...left };
    for (const [key, item] of Object.entries(right)) {
      const own = Object.hasOwn(left, key) ? left[key] : undefined;
      Object.defineProperty(merged, key, entry(merge(own, item)));
    }
    return merged;
  }
  return right;
}

function entry(value: unknown): PropertyDescriptor {
  // Defined, not assigned: a key named __proto__ stays an ordinary property.
  return { value, enumerable: true, writable: true, configurable: true };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
