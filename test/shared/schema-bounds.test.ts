import { Validator, type Schema } from "@cfworker/json-schema";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { sizeOf } from "../../server/shared/schema-bounds.ts";
import { compileForeignSchema, compileSchema } from "../../server/shared/schema.ts";

/** Breaks off what holds the loop for longer than anything here may. */
const within = (timeout: number, work: () => unknown): unknown =>
  runInNewContext("work()", { work }, { timeout });

const endless = (work: () => unknown) => {
  try {
    within(300, work);
    return false;
  } catch (error) {
    return (error as { code?: string }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
  }
};

const plain = (schema: object, value: unknown) =>
  new Validator(structuredClone(schema) as Schema, "2020-12", false).validate(value);
const guarded = (schema: object, value: unknown) =>
  within(5_000, () => compileForeignSchema(schema as Record<string, unknown>).check(value));

const object = (properties: object) => ({ type: "object", properties });
const nested = (depth: number): object => (depth === 0 ? {} : { a: nested(depth - 1) });

/** Thirty definitions, each of which asks for the next one twice. */
const doubling = {
  $ref: "#/$defs/d0",
  $defs: Object.fromEntries(
    Array.from({ length: 30 }, (_, at) => {
      const next = { $ref: `#/$defs/d${at + 1}` };
      return [`d${at}`, at === 29 ? {} : { allOf: [next, next] }];
    }),
  ),
};
/** Each level of the value is checked twice as often as the one around it. */
const again = { allOf: [object({ a: { $ref: "#" } }), object({ a: { $ref: "#" } })] };
const ids = (depth: number): object =>
  depth === 0 ? {} : { $id: `https://a.example/${depth}`, ...object({ x: ids(depth - 1) }) };
const long = "a".repeat(40);
const members = Array.from({ length: 50_000 }, (_, at) => `member ${at}`);

const HOSTILE: readonly [string, object, unknown][] = [
  ["a pattern of nested repetitions", object({ id: { pattern: "^(a+)+$" } }), { id: `${long}!` }],
  ["a pattern of overlapping ways", object({ id: { pattern: "^(a|a)*$" } }), { id: `${long}!` }],
  [
    "a pattern of many optional parts",
    object({ id: { pattern: `^${"a?".repeat(40)}b$` } }),
    { id: long },
  ],
  [
    "a pattern of three repetitions and a long text",
    object({ id: { pattern: "\\s*\\s*\\s*$x" } }),
    { id: `${" ".repeat(100_000)}x` },
  ],
  ["a pattern for names", { patternProperties: { "^(a+)+$": true } }, { [`${long}!`]: 1 }],
  ["the format url", object({ id: { format: "url" } }), { id: `http://${long}${long}!` }],
  ["definitions that double", doubling, {}],
  ["properties that double", again, nested(40)],
  ["ids within ids", ids(40), {}],
  [
    "an enum of many members for many values",
    object({ a: { type: "array", items: { enum: members } } }),
    { a: Array(20_000).fill("x") },
  ],
  [
    "members that must differ, of a long list",
    object({ a: { uniqueItems: true } }),
    { a: Array.from({ length: 200_000 }, (_, at) => at) },
  ],
];

describe("I2: a schema that would hold the loop", () => {
  test.each(HOSTILE)("%s is not evaluated so far", (_, schema, value) => {
    expect(guarded(schema, value)).toEqual([]);
  });

  test.each(HOSTILE)("control: without bounds %s never ends", (_, schema, value) => {
    expect(endless(() => plain(schema, value))).toBe(true);
  });

  test("one that refers to itself without an end lets values pass", () => {
    expect(guarded({ $ref: "#" }, { a: 1 })).toEqual([]);
  });

  test("one that is as large as a catalog is not evaluated", () => {
    const large = object({ id: { enum: Array(200_000).fill("member") } });
    expect(guarded(large, { id: "other" })).toEqual([]);
  });
});

describe("I2: what is left of a bounded schema is enforced", () => {
  test("a pattern is held against texts of usual length, and everything but it against others", () => {
    const schema = object({
      id: { type: "string", pattern: "^[^@]+@[^@]+$" },
      n: { type: "integer" },
    });
    const pattern = { path: "id", code: "pattern", expected: "^[^@]+@[^@]+$" };
    const type = { path: "n", code: "type", expected: "integer" };
    expect(guarded(schema, { id: "ada", n: "x" })).toEqual([pattern, type]);
    expect(guarded(schema, { id: "a".repeat(100_000), n: "x" })).toEqual([type]);
  });

  test("beside a pattern that is left out, the other rules hold", () => {
    const schema = { ...object({ id: { type: "string", pattern: "^(a+)+$" } }), required: ["id"] };
    expect(guarded(schema, { id: 5 })).toEqual([{ path: "id", code: "type", expected: "string" }]);
    expect(guarded(schema, {})).toMatchObject([{ code: "required" }]);
  });

  test("leaving out never refuses more: under not, oneOf and if nothing is evaluated", () => {
    const risky = { pattern: "^(a+)+$" };
    for (const part of [{ not: risky }, { oneOf: [risky, { const: "b" }] }]) {
      expect(guarded(object({ id: part }), { id: "b" })).toEqual([]);
    }
    const refused = { ...(JSON.parse('{"then":false}') as object), if: risky };
    expect(guarded(object({ id: refused }), { id: "b" })).toEqual([]);
    expect(guarded(object({ id: { not: { pattern: "^b" } } }), { id: "b" })).toHaveLength(1);
  });

  test("what other drafts and formats mean is not taken for a rule of this one", () => {
    const exclusive = object({ n: { minimum: 0, exclusiveMinimum: true } });
    expect(guarded(exclusive, { n: 1 })).toEqual([]);
    expect(guarded(exclusive, { n: -1 })).toHaveLength(1);
    expect(guarded(object({ n: { type: "int32" } }), { n: 1 })).toEqual([]);
    expect(guarded(object({ n: { format: "hasOwnProperty" } }), { n: "x" })).toEqual([]);
    expect(guarded(object({ n: { format: "date" } }), { n: "soon" })).toHaveLength(1);
    const either = { oneOf: [{ format: "uri" }, { format: "email" }] };
    expect(guarded(object({ n: either }), { n: "ada@a.example" })).toEqual([]);
    expect(guarded(object({ n: either }), { n: "no such thing" })).not.toEqual([]);
  });

  test("a value nested too deeply to be checked does not pass as checked", () => {
    const tree = {
      properties: { t: { $ref: "#/$defs/t" } },
      $defs: { t: { items: { $ref: "#/$defs/t" } } },
    };
    const deep = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`) as unknown;
    expect(guarded(tree, { t: deep })).toMatchObject([{ code: "depth" }]);
  });

  test("the schema that clients are shown stays as it is", () => {
    const schema = object({ id: { pattern: "^(a+)+$", format: "url" } });
    const before = JSON.stringify(schema);
    guarded(schema, { id: "a" });
    expect(JSON.stringify(schema)).toBe(before);
  });
});

describe("I2: a schema that the deployment wrote", () => {
  test("is evaluated to its last pattern", () => {
    const schema = object({ path: { pattern: "^([a-z]+/)*[a-z]+$" } });
    expect(compileSchema(schema).check({ path: "../etc" })).toMatchObject([{ code: "pattern" }]);
  });

  test("refuses a list too long to be compared with itself", () => {
    const schema = object({ a: { uniqueItems: true } });
    const list = (length: number) => ({ a: Array.from({ length }, (_, at) => at) });
    expect(within(5_000, () => compileSchema(schema).check(list(200_000)))).toMatchObject([
      { path: "args", code: "size" },
    ]);
    expect(compileSchema(schema).check(list(100))).toEqual([]);
    expect(compileSchema(schema).check({ a: [1, 1] })).toMatchObject([{ code: "uniqueItems" }]);
  });
});

test("I2: an expectation is short, whatever the rule holds", () => {
  const schema = object({ id: { enum: members }, o: { enum: [{ a: 1 }, null] } });
  const found = compileForeignSchema({ ...schema, required: ["x".repeat(900)] }).check({
    id: 1,
    o: 2,
  });
  for (const { expected } of found) expect(expected.length).toBeLessThanOrEqual(160);
  expect(found).toHaveLength(3);
  expect(found).toContainEqual({ path: "o", code: "enum", expected: '{"a":1} | null' });
});

test("a value's size is counted without recursion, names included", () => {
  expect(sizeOf({ ab: ["xyz", 1, { c: null }] })).toEqual({
    values: 6,
    chars: 6,
    longest: 3,
    depth: 4,
  });
});
