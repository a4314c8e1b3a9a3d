/** Schemas that real servers send, in small, and schemas that none should. */
export const SCHEMAS: Readonly<Record<string, unknown>> = {
  flat: {
    type: "object",
    properties: {
      limit: { type: "integer", minimum: 1, maximum: 200, default: 20, description: "Page size" },
      id: { type: "string", format: "uuid" },
      tags: { type: "array", items: { type: "string" }, minItems: 1 },
      note: { type: ["string", "null"] },
    },
    required: ["id"],
  },
  enums: {
    type: "object",
    properties: {
      status: { enum: ["open", "closed", null, 3, true] },
      none: { enum: [] },
      fixed: { const: "yes" },
      many: { enum: Array.from({ length: 400 }, (_, i) => `value-${i}`) },
      long: { enum: ["x".repeat(500), "short"] },
    },
  },
  unions: {
    type: "object",
    properties: {
      either: { anyOf: [{ type: "string" }, { type: "array", items: { type: "number" } }] },
      list: { type: "array", items: { oneOf: [{ type: "string" }, { type: "number" }] } },
      presence: { type: "object", properties: { a: {} }, anyOf: [{ required: ["a"] }, {}] },
      both: {
        type: "object",
        properties: { a: { type: "string" } },
        oneOf: [{ type: "object", properties: { b: {} } }],
      },
      maybe: { type: "string", nullable: true },
    },
  },
  composed: {
    allOf: [
      { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
      { $ref: "#/$defs/rest" },
    ],
    $defs: { rest: { properties: { b: { type: "boolean" } } } },
  },
  cyclic: {
    $ref: "#/$defs/Node",
    $defs: {
      Node: {
        type: "object",
        properties: {
          children: { type: "array", items: { $ref: "#/$defs/Node" } },
          up: { $ref: "#" },
        },
      },
    },
  },
  mutual: {
    type: "object",
    properties: { a: { $ref: "#/definitions/a" } },
    definitions: { a: { $ref: "#/definitions/b" }, b: { $ref: "#/definitions/a" } },
  },
  dangling: { type: "object", properties: { a: { $ref: "#/nowhere" }, b: { $ref: "http://x/y" } } },
  escaped: {
    type: "object",
    properties: { a: { $ref: "#/$defs/a~1b%20c" } },
    $defs: { "a/b c": { type: "integer" } },
  },
  tuples: {
    type: "object",
    properties: {
      pair: {
        type: "array",
        prefixItems: [{ type: "string" }, { type: "number" }],
        items: { type: "null" },
      },
      old: { type: "array", items: [{ type: "string" }], additionalItems: { type: "number" } },
    },
  },
  maps: {
    type: "object",
    properties: {
      any: { type: "object", additionalProperties: true },
      closed: { type: "object", additionalProperties: false },
      numbers: { type: "object", additionalProperties: { type: "number" } },
      pattern: { type: "object", patternProperties: { "^x": { type: "string" } } },
    },
  },
  names: {
    type: "object",
    properties: JSON.parse(
      '{"__proto__":{"type":"string"},"a-b":{"type":"string"},"\\"*/":{"type":"string"},"":{"type":"string"},"🦊":{"type":"string"}}',
    ),
    required: ["missing", "a-b", 7],
  },
  comments: {
    type: "object",
    properties: {
      a: { type: "string", description: "closes */ and\n\nopens /* and \u2028 goes on" },
    },
  },
  deep: nested(40),
  wide: {
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [
        `field_${i}`,
        { type: "string", description: "x".repeat(50) },
      ]),
    ),
    required: ["field_499"],
  },
  monstrousName: { type: "object", properties: { ["n".repeat(5_000)]: {}, b: { type: "string" } } },
  bush: bush(),
  yes: true,
  no: false,
  nothing: {},
  none: undefined,
  nil: null,
  text: "string",
  list: [{ type: "string" }],
  number: 7,
  wrongParts: {
    type: 7,
    properties: [1],
    required: "a",
    enum: "x",
    anyOf: {},
    allOf: 1,
    items: 3,
    $defs: null,
    format: {},
    minimum: "1",
    default: {},
    description: 4,
  },
  wrongChildren: {
    type: "object",
    properties: { a: 1, b: null, c: [], d: { type: [null, "string"] } },
  },
  unknownType: { type: "object", properties: { a: { type: "any" } } },
};

function nested(depth: number): unknown {
  return depth === 0
    ? { type: "string" }
    : { type: "object", properties: { down: nested(depth - 1) } };
}

/** Every reference opens two more: whoever follows them all never comes back. */
function bush(): unknown {
  const $defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [
      `n${i}`,
      {
        type: "object",
        properties: { l: { $ref: `#/$defs/n${i + 1}` }, r: { $ref: `#/$defs/n${i + 1}` } },
      },
    ]),
  );
  return { $ref: "#/$defs/n0", $defs };
}
