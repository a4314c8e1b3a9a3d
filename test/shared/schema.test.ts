import { describe, expect, test } from "vitest";
import { compileSchema, schemaProblem } from "../../server/shared/schema.ts";

const schema = {
  type: "object",
  properties: {
    id: { type: "string", minLength: 2 },
    status: { enum: ["open", "closed"] },
    items: { type: "array", items: { type: "object", properties: { n: { type: "integer" } } } },
  },
  required: ["id"],
  additionalProperties: false,
};

describe("compiled schemas", () => {
  test("I2: a valid value has no findings", () => {
    expect(compileSchema(schema).check({ id: "r7", status: "open" })).toEqual([]);
  });

  test("I2: a finding names the place, the rule and what was expected, never the value", () => {
    const found = compileSchema(schema).check({ id: 5, items: [{ n: "secret-value" }] });
    expect(found).toContainEqual({ path: "id", code: "type", expected: "string" });
    expect(found).toContainEqual({ path: "items[0].n", code: "type", expected: "integer" });
    expect(JSON.stringify(found)).not.toContain("secret-value");
  });

  test("I2: a missing property is named", () => {
    expect(compileSchema(schema).check({})).toEqual([
      { path: "args", code: "required", expected: "the property id" },
    ]);
  });

  test("I2: an undeclared property is refused and a wrong enum says its members", () => {
    expect(compileSchema(schema).check({ id: "r7", extra: 1 })[0]).toMatchObject({
      path: "extra",
      expected: "no such property",
    });
    expect(compileSchema(schema).check({ id: "r7", status: "lost" })[0]).toEqual({
      path: "status",
      code: "enum",
      expected: "open | closed",
    });
  });

  test("I2: there are never more than three findings", () => {
    const many = {
      type: "object",
      properties: Object.fromEntries("abcdef".split("").map((k) => [k, { type: "string" }])),
    };
    expect(compileSchema(many).check({ a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 })).toHaveLength(3);
  });

  test("I2: a schema that cannot be evaluated lets values pass", () => {
    expect(compileSchema({ $ref: "#/$defs/missing" }).check({ a: 1 })).toEqual([]);
  });

  test("I2: a value nested too deeply to be checked does not pass as checked", () => {
    const tree = {
      type: "object",
      properties: { t: { $ref: "#/$defs/t" }, p: { pattern: "^a$" } },
      $defs: { t: { type: "array", items: { $ref: "#/$defs/t" } } },
    };
    const deep = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`) as unknown;
    expect(compileSchema(tree).check({ p: "../etc", t: deep })).toEqual([
      { path: "args", code: "depth", expected: "a value less deeply nested" },
    ]);
    expect(compileSchema(tree).check({ p: "a", t: [[[]]] })).toEqual([]);
  });

  test("checking does not write into the schema that clients are shown", () => {
    const before = JSON.stringify(schema);
    compileSchema(schema).check({});
    expect(JSON.stringify(schema)).toBe(before);
  });
});

describe("schemas that a deployment writes", () => {
  test("G7: a dangling reference, a broken pattern and a non-object are problems", () => {
    expect(schemaProblem({ type: "object", properties: { a: { $ref: "#/$defs/no" } } })).toContain(
      "dangling $ref #/$defs/no",
    );
    expect(schemaProblem({ type: "object", properties: { a: { pattern: "(" } } })).toContain(
      "does not compile",
    );
    expect(schemaProblem("x")).toBe("is not a JSON Schema object");
    expect(schemaProblem({ type: "strin" })).toContain("a type that is none");
    expect(schemaProblem({ type: "object", properties: 5 })).toContain("properties");
    expect(schemaProblem({ type: "object", required: "a" })).toContain("required");
    expect(schemaProblem({ properties: { a: { enum: "x" } } })).toContain("enum");
  });

  test("G7: a sound schema with a cyclic reference has no problem", () => {
    const tree = { type: "object", properties: { child: { $ref: "#" } } };
    expect(schemaProblem(tree)).toBeUndefined();
  });
});
