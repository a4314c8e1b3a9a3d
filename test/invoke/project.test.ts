import { describe, expect, test } from "vitest";
import { project } from "../../server/invoke/project.ts";

const VALUE = Object.freeze({
  total: 2,
  owner: Object.freeze({ name: "Ada", mail: "ada@example.com" }),
  items: [
    { id: 1, note: "a", tags: [{ name: "x" }, { name: "y" }] },
    { id: 2, note: "b", tags: [] },
  ],
});

function projected(...fields: string[]) {
  const done = project(VALUE, fields);
  if (!done.ok) throw new Error(done.failure.message);
  return done.value;
}

describe("projection", () => {
  test("I6: keeps the named paths and the shape above them", () => {
    expect(projected("owner.name", "items[].id").data).toEqual({
      owner: { name: "Ada" },
      items: [{ id: 1 }, { id: 2 }],
    });
  });

  test("I6: several fields of the same elements meet, and arrays in arrays work", () => {
    expect(projected("items[].id", "items[].tags[].name").data).toEqual({
      items: [
        { id: 1, tags: [{ name: "x" }, { name: "y" }] },
        { id: 2, tags: [] },
      ],
    });
  });

  test("I6: a path that selects nothing is reported, the others still hold", () => {
    expect(projected("total", "owner.phone", "nothing[].x")).toEqual({
      data: { total: 2 },
      missingFields: ["owner.phone", "nothing[].x"],
    });
  });

  test("I6: a path that only some elements have is selected and reported", () => {
    expect(project({ items: [{ a: 1 }, { b: 2 }] }, ["items[].a"])).toEqual({
      ok: true,
      value: { data: { items: [{ a: 1 }, {}] }, missingFields: ["items[].a"] },
    });
  });

  test("I6: an array at the top is selected with []", () => {
    expect(project([{ a: 1, b: 2 }, { a: 3 }], ["[].a"])).toMatchObject({
      value: { data: [{ a: 1 }, { a: 3 }] },
    });
  });

  test("I6: inherited names select nothing and __proto__ stays an ordinary key", () => {
    expect(projected("constructor", "toString").missingFields).toHaveLength(2);
    const odd = JSON.parse('{"__proto__":{"x":1}}') as unknown;
    const done = project(odd, ["__proto__.x"]);
    expect(JSON.stringify(done)).toContain('"__proto__":{"x":1}');
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  test("I6: a path in another notation is refused", () => {
    expect(project(VALUE, ["items[0].id"])).toMatchObject({ failure: { code: "invalid_args" } });
    expect(project(VALUE, ["a..b"])).toMatchObject({ failure: { code: "invalid_args" } });
  });
});
