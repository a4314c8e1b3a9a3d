import { identifier } from "../shared/identifier.ts";
import type { SchemaReading } from "./schema-reading.ts";
import { follow, isNode, MAX_PARTS, strings, type SchemaNode } from "./schema-shape.ts";

/** How much of a schema a rendering may show. */
export interface Detail {
  /** Nested objects and lists below this depth are not opened. */
  readonly depth: number;
  /** Characters of a description; 0 leaves descriptions out. */
  readonly description: number;
  /** Members of one enumeration or union. */
  readonly members: number;
}

const MAX_NODES = 1_500;
/** Of an object's properties: more fit into no text that anybody asks for. */
const MAX_PROPERTIES = 400;
/** Schemas inside schemas, whether or not they are shown as such. */
const MAX_NESTING = 100;
const MAX_LITERAL = 60;
/** JSON Schema has seven. */
const MAX_KINDS = 7;
const MAX_TYPE_NAME = 40;
const SCALARS: ReadonlySet<string> = new Set(["string", "number", "integer", "boolean", "null"]);

/** Renders one schema as a TypeScript-like type at one level of detail. */
export class SchemaRenderer {
  /** Whether part of the structure was left out. */
  cut = false;
  /** Whether the text is no whole type of the schema, since it takes too much work or room. */
  overflow = false;
  readonly #detail: Detail;
  readonly #reading: SchemaReading;
  readonly #room: number;
  readonly #open = new Set<string>();
  #nodes = 0;
  #nesting = 0;

  /**
   * @param reading the schema, which other renderings of it may share
   * @param room characters beyond which nobody wants the text
   */
  constructor(reading: SchemaReading, detail: Detail, room: number) {
    this.#reading = reading;
    this.#detail = detail;
    this.#room = room;
  }

  /** The whole schema. */
  whole(): string {
    return this.#type(this.#reading.root, 0);
  }

  /**
   * The properties of an object schema, each as `name?: type`, required ones first.
   * @param depth of the object itself
   */
  properties(node: unknown, depth: number): string[] {
    const { properties, names, required, additional } = this.#reading.shape(node);
    if (names.length > MAX_PROPERTIES && this.#room < Infinity) this.overflow = true;
    const lines: string[] = [];
    let chars = 0;
    for (const name of names.slice(0, MAX_PROPERTIES)) {
      if (this.#reading.spent || this.overflow) break;
      const child = properties.get(name);
      const mark = required.has(name) ? "" : "?";
      const line = `${propertyName(name)}${mark}: ${this.#type(child, depth + 1)}${this.#note(child)}`;
      this.#reading.small(line.length);
      chars += line.length;
      if (chars > this.#room) this.overflow = true;
      lines.push(line);
    }
    if (isNode(additional)) lines.push(`[key: string]: ${this.#type(additional, depth + 1)}`);
    return lines;
  }

  #type(schema: unknown, depth: number): string {
    if (schema === false) return "never";
    if (!isNode(schema)) return "unknown";
    this.#reading.node();
    this.overflow ||= this.#reading.spent;
    if (this.overflow) return "unknown";
    if (++this.#nodes > MAX_NODES || this.#nesting >= MAX_NESTING) return this.#leaveOut("unknown");
    this.#nesting++;
    const text = this.#known(schema, depth);
    this.#nesting--;
    return text;
  }

  #known(schema: SchemaNode, depth: number): string {
    if (typeof schema.$ref === "string") return this.#reference(schema, schema.$ref, depth);
    if ("const" in schema) return this.#members([schema.const], literal);
    if (Array.isArray(schema.enum)) {
      return schema.enum.length === 0 ? "never" : this.#members(schema.enum, literal);
    }
    const types = kindsOf(schema.type);
    const nullable = schema.nullable === true && !types.includes("null");
    const base = this.#alternatives(schema, types, depth);
    return nullable ? union([base, "null"]) : base;
  }

  #reference(schema: SchemaNode, ref: string, depth: number): string {
    if (this.#open.has(ref)) return `${typeName(ref)} /* recursive */`;
    this.#reading.small(ref.length);
    const target = follow(this.#reading.root, ref);
    if (target === undefined) return "unknown";
    this.#open.add(ref);
    const { $ref: _, ...beside } = schema;
    const extended =
      isNode(target) && isNode(beside.properties) ? { allOf: [target, beside] } : target;
    const text = this.#type(extended, depth);
    this.#open.delete(ref);
    return text;
  }

  /** `anyOf` and `oneOf` beside what the schema says itself. */
  #alternatives(schema: SchemaNode, types: readonly string[], depth: number): string {
    const forms = [schema.anyOf, schema.oneOf].find(Array.isArray);
    const own = this.#own(schema, types, depth);
    if (forms === undefined || forms.length === 0) return own;
    const shown = this.#members(forms, (form) => this.#type(form, depth));
    if (shown.split(" | ").every((member) => member === "unknown")) return own;
    if (own === "unknown" || own === "object" || SCALARS.has(own)) return shown;
    return `${bracket(own)} & ${bracket(shown)}`;
  }

  /** The type by the schema's own keywords. */
  #own(schema: SchemaNode, types: readonly string[], depth: number): string {
    const kinds = types.length > 0 ? types : implied(schema);
    if (kinds.length === 0) return this.#extended(schema, depth);
    return union(
      kinds.map((kind) => {
        if (kind === "array") return this.#list(schema, depth);
        if (kind === "object") return this.#object(schema, depth);
        return SCALARS.has(kind) ? kind : "unknown";
      }),
    );
  }

  /** An `allOf` without a type of its own: an object when its parts have properties. */
  #extended(schema: SchemaNode, depth: number): string {
    if (!Array.isArray(schema.allOf)) return "unknown";
    if (this.#reading.shape(schema).properties.size > 0) return this.#object(schema, depth);
    const parts = schema.allOf.slice(0, MAX_PARTS).map((part) => this.#type(part, depth));
    if (schema.allOf.length > MAX_PARTS) this.cut = true;
    const known = [...new Set(parts)].filter((part) => part !== "unknown");
    return known.length > 1 ? known.map(bracket).join(" & ") : (known[0] ?? "unknown");
  }

  #object(schema: SchemaNode, depth: number): string {
    const { properties, additional } = this.#reading.shape(schema);
    if (properties.size === 0 && !isNode(additional)) return additional === false ? "{}" : "object";
    if (depth >= this.#detail.depth) return this.#leaveOut("object");
    return `{ ${this.properties(schema, depth).join("; ")} }`;
  }

  #list(schema: SchemaNode, depth: number): string {
    const tuple = [schema.prefixItems, schema.items].find(Array.isArray);
    if (depth >= this.#detail.depth) {
      return tuple === undefined && schema.items === undefined
        ? "unknown[]"
        : this.#leaveOut("unknown[]");
    }
    if (tuple === undefined) return `${bracket(this.#type(schema.items, depth + 1))}[]`;
    const members = tuple.slice(0, this.#detail.members).map((item) => this.#type(item, depth + 1));
    if (tuple.length > members.length) return this.#leaveOut("unknown[]");
    const rest = schema.prefixItems === tuple ? schema.items : schema.additionalItems;
    if (isNode(rest)) members.push(`...${bracket(this.#type(rest, depth + 1))}[]`);
    return `[${members.join(", ")}]`;
  }

  /** A union of as many members as may be shown, each once. */
  #members(values: readonly unknown[], show: (value: unknown) => string | undefined): string {
    const shown = new Set<string>();
    const looked = values.slice(0, this.#detail.members * 2);
    this.#reading.small(looked.length);
    let hidden = values.length - looked.length;
    for (const value of looked) {
      const text = show(value);
      if (text === undefined || (shown.size >= this.#detail.members && !shown.has(text))) hidden++;
      else shown.add(text);
    }
    if (hidden === 0) return union([...shown]);
    return this.#leaveOut(`${union([...shown, "unknown"])} /* +${hidden} more */`);
  }

  #leaveOut(text: string): string {
    this.cut = true;
    return text;
  }

  /** What a property's schema says beside its type. */
  #note(schema: unknown): string {
    if (!isNode(schema)) return "";
    const parts = [...constraints(schema)];
    const { description } = schema;
    if (this.#detail.description > 0 && typeof description === "string") {
      const text = description.slice(0, 400).replace(/\s+/g, " ").trim();
      const limit = this.#detail.description;
      if (text !== "") parts.unshift(text.length > limit ? `${cutAt(text, limit - 1)}…` : text);
    }
    if (parts.length === 0) return "";
    return ` /* ${parts.join("; ").replaceAll("*/", "* /")} */`;
  }
}

/** What `type` names, each once. */
function kindsOf(type: unknown): string[] {
  return typeof type === "string" ? [type] : strings(type).slice(0, MAX_KINDS);
}

/** Kinds that keywords imply where no type is given. */
function implied(schema: SchemaNode): string[] {
  if (isNode(schema.properties) || isNode(schema.additionalProperties)) return ["object"];
  if (isNode(schema.patternProperties)) return ["object"];
  if (schema.items !== undefined || Array.isArray(schema.prefixItems)) return ["array"];
  return [];
}

function constraints(schema: SchemaNode): string[] {
  const found: string[] = [];
  if (typeof schema.format === "string") found.push(short(schema.format));
  const range = between(schema.minimum, schema.maximum);
  if (range !== undefined) found.push(range);
  const length = between(schema.minLength, schema.maxLength);
  if (length !== undefined) found.push(`${length} characters`);
  const items = between(schema.minItems, schema.maxItems);
  if (items !== undefined) found.push(`${items} items`);
  const value = schema.default;
  if (["string", "number", "boolean"].includes(typeof value)) {
    const shown = typeof value === "string" ? value.slice(0, MAX_LITERAL + 1) : value;
    found.push(`default ${short(JSON.stringify(shown))}`);
  }
  return found;
}

function between(least: unknown, most: unknown): string | undefined {
  const from = typeof least === "number" ? least : undefined;
  const to = typeof most === "number" ? most : undefined;
  if (from === undefined && to === undefined) return undefined;
  if (to === undefined) return `≥ ${from}`;
  return from === undefined ? `≤ ${to}` : `${from}–${to}`;
}

function short(text: string): string {
  return text.length > MAX_LITERAL ? `${cutAt(text, MAX_LITERAL)}…` : text;
}

/** The first so many UTF-16 units, without half a character at the end. */
function cutAt(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}

/** A value as a literal type; `undefined` for one too long to show. */
function literal(value: unknown): string | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "number";
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value !== "string") return Array.isArray(value) ? "unknown[]" : "object";
  return value.length > MAX_LITERAL ? undefined : JSON.stringify(value);
}

function union(members: readonly string[]): string {
  return [...new Set(members)].join(" | ");
}

function bracket(type: string): string {
  return /[|&]|\*\/$/.test(type) && !/^\{[^{}]*\}$/.test(type) ? `(${type})` : type;
}

function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function typeName(ref: string): string {
  const last = ref.split("/").at(-1) ?? "";
  return last === "#" || last === "" ? "Root" : identifier(last).slice(0, MAX_TYPE_NAME);
}
