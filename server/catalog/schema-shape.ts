/** A schema node that is an object; its members are not to be trusted to be what they should. */
export type SchemaNode = Readonly<Record<string, unknown>>;

/** What an object schema says about its properties, `allOf` and `$ref` followed. */
export interface ObjectShape {
  readonly properties: ReadonlyMap<string, unknown>;
  /** The properties' names, required ones first. */
  readonly names: readonly string[];
  readonly required: ReadonlySet<string>;
  readonly additional: unknown;
  /** How many members and characters had to be looked at. */
  readonly cost: number;
}

/** So many parts of an `allOf`, references included, are looked at. */
export const MAX_PARTS = 64;
/** Longer pointers are no honest reference. */
const MAX_POINTER_CHARS = 1_000;

/** Whether a value is a schema with members, rather than `true`, `false` or garbage. */
export function isNode(value: unknown): value is SchemaNode {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The node that a local `$ref` points to; `undefined` when it leads nowhere or elsewhere. */
export function follow(root: unknown, ref: string): unknown {
  if (ref === "#") return root;
  if (!ref.startsWith("#/") || ref.length > MAX_POINTER_CHARS) return undefined;
  let node = root;
  for (const part of ref.slice(2).split("/")) {
    const key = unescapePointer(part);
    if (Array.isArray(node)) node = node[Number(key)];
    else if (isNode(node) && Object.hasOwn(node, key)) node = node[key];
    else return undefined;
  }
  return node;
}

function unescapePointer(part: string): string {
  const plain = part.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

/** Properties and required names of a schema and everything it extends, each `$ref` once. */
export function shapeOf(schema: unknown, root: unknown): ObjectShape {
  const properties = new Map<string, unknown>();
  const required = new Set<string>();
  let additional: unknown;
  let cost = 0;
  const seen = new Set<unknown>();
  const queue: unknown[] = [schema];
  for (let i = 0; i < queue.length && i < MAX_PARTS; i++) {
    const node = queue[i];
    if (!isNode(node) || seen.has(node)) continue;
    seen.add(node);
    cost++;
    if (isNode(node.properties)) {
      for (const [name, child] of Object.entries(node.properties)) {
        cost++;
        if (!properties.has(name)) properties.set(name, child);
      }
    }
    if (Array.isArray(node.required)) cost += node.required.length;
    for (const name of strings(node.required)) required.add(name);
    additional ??= node.additionalProperties ?? firstPattern(node);
    if (typeof node.$ref === "string") {
      cost += Math.min(node.$ref.length, MAX_POINTER_CHARS);
      queue.push(follow(root, node.$ref));
    }
    if (Array.isArray(node.allOf)) queue.push(...node.allOf.slice(0, MAX_PARTS));
  }
  const all = [...properties.keys()];
  const names = [
    ...all.filter((name) => required.has(name)),
    ...all.filter((name) => !required.has(name)),
  ];
  return { properties, names, required, additional, cost };
}

function firstPattern(node: SchemaNode): unknown {
  if (!isNode(node.patternProperties)) return undefined;
  for (const pattern in node.patternProperties) return node.patternProperties[pattern];
  return undefined;
}

/** The strings of a list that should hold strings. */
export function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

/** The names of a schema's top-level properties, and those that every form of it requires. */
export function keysOf(schema: unknown): { keys: string[]; required: string[] } {
  const own = shapeOf(schema, schema);
  const keys = new Set(own.properties.keys());
  const required = new Set([...own.required].filter((name) => keys.has(name)));
  const forms = isNode(schema) ? [schema.anyOf, schema.oneOf].filter(Array.isArray).flat() : [];
  const shapes = forms.map((form) => shapeOf(form, schema));
  for (const shape of shapes) for (const name of shape.properties.keys()) keys.add(name);
  const [first] = shapes;
  for (const name of first?.required ?? []) {
    if (keys.has(name) && shapes.every((shape) => shape.required.has(name))) required.add(name);
  }
  return { keys: [...keys], required: [...required] };
}
