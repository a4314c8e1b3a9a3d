import { describe, expect, test } from "vitest";
import { toJson, toJsonInSteps } from "../../server/shared/json.ts";
import { utf8Length } from "../../server/shared/text.ts";

const MIB = 1024 * 1024;

/** Writes a value in steps and counts how often others got their turn. */
async function written(value: unknown, maxBytes = 64 * MIB) {
  let rests = 0;
  const rest = async () => void rests++;
  return { outcome: await toJsonInSteps(value, "It", maxBytes, rest), rests };
}

const rows = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ id, name: `row ${id}`, tags: ["é", null] }));

class Point {
  x = "x".repeat(2 * MIB);
  hidden = undefined;
}

class Said {
  toJSON() {
    return { said: "y".repeat(2 * MIB) };
  }
}

const sparse: unknown[] = [];
sparse[3] = "z".repeat(MIB);

const ownProto = JSON.parse(`{"__proto__":${JSON.stringify(rows(60_000))},"b":1}`) as unknown;

const shared = rows(30_000);

describe("JSON in steps says what JSON at once says", () => {
  test.each([
    ["a list of rows", rows(90_000)],
    ["rows inside an object", { total: 90_000, rows: rows(90_000), more: false }],
    ["pages of rows", [rows(40_000), [], rows(3), rows(40_000)]],
    ["one long string", 'é😀\ud800"\n'.repeat(500_000)],
    ["a string whose pairs lie across every cut", `a${"😀".repeat(MIB)}`],
    ["long strings under odd names", { "": "a".repeat(2 * MIB), '"\n': "b".repeat(2 * MIB) }],
    ["names in the order of numbers", { b: rows(60_000), 2: "c".repeat(2 * MIB), 1: 0 }],
    ["a property named __proto__", ownProto],
    ["properties without a form", { a: undefined, b: rows(60_000), c: () => 1, d: Symbol("d") }],
    ["elements without a form", [undefined, rows(60_000), () => 1, Symbol("d"), Number.NaN]],
    ["holes", [sparse, sparse]],
    ["objects that say what they are", [new Date(0), new Said(), new Said(), rows(60_000)]],
    ["an own toJSON", { rows: rows(60_000), toJSON: () => "short" }],
    ["instances of a class", [new Point(), new Point()]],
    ["wrapped primitives", [new String("wrapped"), new Number(1), rows(60_000)]],
    ["bytes", { bytes: new Uint8Array(200_000), rows: rows(40_000) }],
    ["the same part twice", { a: shared, b: { c: shared } }],
    ["no prototype", Object.assign(Object.create(null), { rows: rows(60_000) })],
    ["deep nesting around a large part", { a: [[[{ b: [[{ c: rows(60_000) }]] }]]] }],
  ])("%s", async (_, value) => {
    const { outcome, rests } = await written(value);
    const at = toJson(value, "It");
    if (!outcome.ok || !at.ok) throw new Error("refused");
    expect(outcome.value.text === at.value).toBe(true);
    expect(outcome.value.bytes).toBe(utf8Length(at.value));
    expect(rests).toBeGreaterThan(0);
  });

  test.each([
    ["nothing", undefined, "null"],
    ["a function", () => 1, "null"],
    ["a number", 1.5, "1.5"],
    ["a date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["a small object", { a: [1, undefined], b: undefined }, '{"a":[1,null]}'],
  ])("%s takes one step, and nobody waits", async (_, value, text) => {
    const { outcome, rests } = await written(value);
    expect(outcome).toEqual({ ok: true, value: { text, bytes: text.length } });
    expect(rests).toBe(0);
  });

  test("many rests divide a large value: none stands for more than a few MiB", async () => {
    const { outcome, rests } = await written({ rows: rows(400_000) });
    if (!outcome.ok) throw new Error("refused");
    expect(outcome.value.bytes).toBeGreaterThan(16 * MIB);
    expect(outcome.value.bytes / rests).toBeLessThan(3 * MIB);
  });
});

describe("what has no JSON text", () => {
  const cycle: Record<string, unknown> = { rows: rows(60_000) };
  cycle.self = { inner: [cycle] };
  const late = [rows(60_000), { a: 1n }];
  const deep = JSON.parse(`${"[".repeat(200_000)}${"]".repeat(200_000)}`) as unknown;
  test.each([
    ["a cycle around a large part", cycle],
    ["a BigInt behind a large part", late],
    [
      "a getter that throws",
      {
        rows: rows(60_000),
        get bad() {
          throw new Error("no");
        },
      },
    ],
    ["nesting that no parser takes", [rows(60_000), deep]],
  ])("%s is refused as a whole", async (_, value) => {
    const { outcome } = await written(value);
    expect(outcome).toMatchObject({ failure: { code: "not_serializable" } });
  });

  test("a text over the bound is measured to its last byte and not kept", async () => {
    const value = { rows: rows(90_000) };
    const whole = toJson(value, "It");
    if (!whole.ok) throw new Error("refused");
    const bytes = utf8Length(whole.value);
    expect((await written(value, bytes - 1)).outcome).toEqual({
      ok: true,
      value: { text: undefined, bytes },
    });
    expect((await written(value, bytes)).outcome).toMatchObject({ value: { bytes } });
    expect((await written("four", 5)).outcome).toMatchObject({ value: { text: undefined } });
  });
});
