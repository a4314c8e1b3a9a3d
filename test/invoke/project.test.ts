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

  test("I6: a name that holds dots is selected, a nested one of the same spelling before it", () => {
    const dotted = { "a.b": { "c.d": 1, e: 2 }, f: [{ "g.h": 3 }], i: { j: 4 }, "i.j": 5 };
    const data = (...fields: string[]) => {
      const done = project(dotted, fields);
      return done.ok ? done.value : done.failure;
    };
    expect(data("a.b.c.d", "f[].g.h", "i.j")).toEqual({
      data: { "a.b": { "c.d": 1 }, f: [{ "g.h": 3 }], i: { j: 4 } },
      missingFields: [],
    });
    expect(data("a.b.x", "a")).toEqual({ data: {}, missingFields: ["a.b.x", "a"] });
  });

  test("I6: an array is entered by [] alone: an index, length or a bare name misses", () => {
    const fields = ["items.0.id", "items.length", "items.id"];
    expect(projected(...fields)).toEqual({ data: {}, missingFields: fields });
    expect(projected("items").data).toEqual({ items: VALUE.items });
  });

  test("I6: what is no array misses [] and what is no object misses a name", () => {
    const fields = ["owner[].name", "total.x", "[].total"];
    expect(projected(...fields)).toEqual({ data: {}, missingFields: fields });
  });

  test("I6: a field that is named twice or lies in another is selected, or missed, once", () => {
    expect(projected("total", "total", "owner", "owner.name")).toEqual({
      data: { total: 2, owner: VALUE.owner },
      missingFields: [],
    });
    expect(projected("items[].id", "items").data).toEqual({ items: VALUE.items });
    expect(projected("phone", "phone").missingFields).toEqual(["phone"]);
  });

  test("I6: a value that is null is there, what would lie below it is not", () => {
    expect(project({ owner: null }, ["owner", "owner.name"])).toMatchObject({
      value: { data: { owner: null }, missingFields: ["owner.name"] },
    });
  });

  test("I6: elements keep their places, whatever they are", () => {
    const mixed = { items: [{ a: 1 }, 5, null, [{ a: 2 }], { b: 3 }] };
    expect(project(mixed, ["items[].a", "items[].b"])).toMatchObject({
      value: {
        data: { items: [{ a: 1 }, null, null, null, { b: 3 }] },
        missingFields: ["items[].a", "items[].b"],
      },
    });
  });

  test("I6: of a list without elements nothing misses, of one without the field it does", () => {
    expect(project({ items: [] }, ["items[].a"])).toMatchObject({
      value: { data: { items: [] }, missingFields: [] },
    });
    expect(project({ items: [{ b: 1 }] }, ["items[].a"])).toMatchObject({
      value: { data: {}, missingFields: ["items[].a"] },
    });
  });

  test("I6: a text, a number or nothing has no fields, and says so", () => {
    for (const value of ["text", 5, null, true]) {
      expect(project(value, ["a", "length"])).toMatchObject({
        value: { data: {}, missingFields: ["a", "length"] },
      });
    }
  });
});
