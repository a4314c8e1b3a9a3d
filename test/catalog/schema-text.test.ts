import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseSync } from "vite";
import { describe, expect, test } from "vitest";
import { keysOf } from "../../server/catalog/schema-shape.ts";
import { schemaText } from "../../server/catalog/schema-text.ts";
import { SCHEMAS } from "../support/schemas.ts";

/** What is wrong with a text as a TypeScript type; empty when nothing is. */
function faults(type: string): readonly string[] {
  return parseSync("type.ts", `type T = ${type};`).errors.map(({ message }) => message);
}

const bytes = (text: string) => new TextEncoder().encode(text).length;

describe("S3: a schema as compact text", () => {
  test.each([
    [
      "flat",
      "{ id: string /* uuid */; limit?: integer /* Page size; 1–200; default 20 */; tags?: string[] /* ≥ 1 items */; note?: string | null }",
    ],
    [
      "unions",
      "{ either?: string | number[]; list?: (string | number)[]; presence?: { a?: unknown }; both?: { a?: string } & { b?: unknown }; maybe?: string | null }",
    ],
    ["composed", "{ a: string; b?: boolean }"],
    ["cyclic", "{ children?: (Node /* recursive */)[]; up?: Node /* recursive */ }"],
    ["dangling", "{ a?: unknown; b?: unknown }"],
    ["escaped", "{ a?: integer }"],
    ["tuples", "{ pair?: [string, number, ...null[]]; old?: [string, ...number[]] }"],
    [
      "maps",
      "{ any?: object; closed?: {}; numbers?: { [key: string]: number }; pattern?: { [key: string]: string } }",
    ],
    ["comments", "{ a?: string /* closes * / and opens /* and goes on */ }"],
    ["yes", "unknown"],
    ["no", "never"],
    ["nothing", "unknown"],
    ["nil", "unknown"],
    ["unknownType", "{ a?: unknown }"],
  ])("reads like TypeScript: %s", (name, expected) => {
    expect(schemaText(SCHEMAS[name])).toEqual({ text: expected, truncated: false });
  });

  test("names required fields first", () => {
    const { text } = schemaText(SCHEMAS.names);
    expect(text.startsWith('{ "a-b": string; ')).toBe(true);
    expect(text).toContain("__proto__?: string");
  });

  test("shows as much of an enumeration as fits and says how much does not", () => {
    const { text, truncated } = schemaText(SCHEMAS.enums);
    expect(truncated).toBe(true);
    expect(text).toContain('"open" | "closed" | null | 3 | true');
    expect(text).toMatch(/unknown \/\* \+\d+ more \*\//);
  });

  test("drops descriptions before it drops structure", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [
        `p${i}`,
        { type: "string", description: "d".repeat(60) },
      ]),
    );
    const { text, truncated } = schemaText({ type: "object", properties });
    expect(truncated).toBe(false);
    expect(text).not.toContain("ddd");
    expect(text).toContain("p29?: string");
  });

  test("keeps required fields when not all fields fit, and counts the rest", () => {
    const { text, truncated } = schemaText(SCHEMAS.wide);
    expect(truncated).toBe(true);
    expect(text.startsWith("{ field_499: string; ")).toBe(true);
    expect(text).toMatch(/\/\* \+\d+ more \*\/ \}$/);
  });

  test.each(Object.keys(SCHEMAS))("is a complete type within any bound: %s", (name) => {
    for (const bound of [1_024, 200, 60, 10]) {
      const { text } = schemaText(SCHEMAS[name], bound);
      expect(bytes(text)).toBeLessThanOrEqual(bound);
      expect(faults(text)).toEqual([]);
    }
  });

  test("would be found out if it were cut through the middle", () => {
    expect(faults(schemaText(SCHEMAS.flat).text.slice(0, 60))).not.toEqual([]);
  });
});

describe("S3: the keys of a schema", () => {
  test("are those of the object and of everything it extends", () => {
    expect(keysOf(SCHEMAS.composed)).toEqual({ keys: ["a", "b"], required: ["a"] });
    expect(keysOf(SCHEMAS.cyclic)).toEqual({ keys: ["children", "up"], required: [] });
  });

  test("name as required only what exists", () => {
    expect(keysOf(SCHEMAS.names).required).toEqual(["a-b"]);
  });

  test("of several forms are all their keys, required where every form requires them", () => {
    const form = (name: string) => ({
      type: "object",
      properties: { kind: { const: name }, [name]: {} },
      required: ["kind", name],
    });
    expect(keysOf({ oneOf: [form("a"), form("b")] })).toEqual({
      keys: ["kind", "a", "b"],
      required: ["kind"],
    });
  });

  test.each(["none", "nil", "text", "list", "wrongParts", "mutual"])(
    "of %s are few or none",
    (name) => {
      expect(keysOf(SCHEMAS[name]).required).toEqual([]);
    },
  );
});

/** Tool lists of real servers, where a checkout has them beside it or `CONNECTA_CATALOGS` says where. */
const directory =
  process.env.CONNECTA_CATALOGS ??
  fileURLToPath(new URL("../../../shared/data/catalogs", import.meta.url));
const present = existsSync(directory);
const files = present ? readdirSync(directory).filter((name) => name.endsWith(".json")) : [];

describe(`S3: every schema of the real catalogs ${present ? "" : "(none here: skipped)"}`, () => {
  test.skipIf(!present)("is found where the catalogs are", () => {
    expect(files.length).toBeGreaterThan(0);
  });

  test.each(files)("is a complete type of at most 1,024 bytes: %s", (file) => {
    const { tools } = JSON.parse(readFileSync(`${directory}/${file}`, "utf8")) as {
      tools: { inputSchema: unknown; outputSchema?: unknown }[];
    };
    const texts = tools
      .flatMap(({ inputSchema, outputSchema }) => [inputSchema, outputSchema])
      .filter((schema) => schema !== undefined)
      .map((schema) => schemaText(schema).text);
    expect(texts.filter((text) => bytes(text) > 1_024)).toEqual([]);
    const all = texts.map((text, i) => `type T${i} = ${text};`).join("\n");
    expect(parseSync("types.ts", all).errors).toEqual([]);
  });
});
