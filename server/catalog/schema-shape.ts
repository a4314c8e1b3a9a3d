/** A schema node that is an object; its members are not to be trusted to be what they should. */
export type SchemaNode = Readonly<Record<string, unknown>>;

/** What an object schema says about its properties, `allOf` and `$ref` followed. */
export interface ObjectShape {
  readonly properties: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<string>;
  readonly additional: unknown;
}

const MAX_PARTS = 64;

/** Whether a value is a schema with members, rather than `true`, `false` or garbage. */
export function isNode(value: unknown): value is SchemaNode {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The node that a local `$ref` points to; `undefined` when it leads nowhere or elsewhere. */
export function follow(root: unknown, ref: string): unknown {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
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
  const seen = new Set<unknown>();
  const queue: unknown[] = [schema];
  for (let i = 0; i < queue.length && i < MAX_PARTS; i++) {
    const node = queue[i];
    if (!isNode(node) || seen.has(node)) continue;
    seen.add(node);
    if (isNode(node.properties)) {
      for (const [name, child] of Object.entries(node.properties)) {
        if (!properties.has(name)) properties.set(name, child);
      }
    }
    for (const name of strings(node.required)) required.add(name);
    additional ??= node.additionalProperties ?? firstPattern(node);
    if (typeof node.$ref === "string") queue.push(follow(root, node.$ref));
    if (Array.isArray(node.allOf)) queue.push(...node.allOf);
  }
  return { properties, required, additional };
}

function firstPattern(node: SchemaNode): unknown {
  return isNode(node.patternProperties) ? Object.values(node.patternProperties)[0] : undefined;
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
