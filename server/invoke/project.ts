import { fail, ok, type Outcome } from "../shared/failure.ts";
import { isRecord } from "../shared/record.ts";
import { clampUtf8 } from "../shared/text.ts";

/** A projected value, and the paths that were not there. */
export interface Projection {
  readonly data: unknown;
  readonly missingFields: readonly string[];
}

/** A place below a value: its name, and how many segments of the path it takes. */
interface Place {
  readonly key: string;
  readonly segments: number;
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
 * every element. A name that holds dots is found where no shorter one is. The shape above a selected
 * place stays; a path that leads nowhere, or that an element lacks, is reported once.
 */
export function project(value: unknown, fields: readonly string[]): Outcome<Projection> {
  const missing: string[] = [];
  let data: unknown;
  for (const field of new Set(fields)) {
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
  if (segment.key === "") return selectEach(value, search, at + 1);
  if (!isRecord(value)) return undefined;
  for (const { key, segments } of placesOf(search.path, at)) {
    if (!Object.hasOwn(value, key)) continue;
    const next = at + segments;
    const isEach = search.path[next - 1]?.each === true;
    const selected = (isEach ? selectEach : select)(value[key], search, next);
    if (selected !== undefined) return Object.defineProperty({}, key, entry(selected));
  }
  return undefined;
}

/** What the path may call by name here, shortest first: `a`, then `a.b` as one name. */
function* placesOf(path: readonly Segment[], at: number): Generator<Place> {
  let key = "";
  for (const [i, segment] of path.slice(at).entries()) {
    key += i === 0 ? segment.key : `.${segment.key}`;
    yield { key, segments: i + 1 };
    if (segment.each) return;
  }
}

function selectEach(value: unknown, search: Search, at: number): unknown {
  if (!Array.isArray(value)) return undefined;
  const items = value.map((item) => select(item, search, at));
  if (items.length > 0 && items.every((item) => item === undefined)) return undefined;
  return items.map((item, index) => {
    if (item !== undefined) return item;
    search.missed = true;
    return isRecord(value[index]) ? {} : null;
  });
}

function merge(left: unknown, right: unknown): unknown {
  if (left === undefined || left === null) return right;
  if (right === undefined || right === null) return left;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.map((item: unknown, index) => merge(item, right[index]));
  }
  if (isRecord(left) && isRecord(right)) {
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
