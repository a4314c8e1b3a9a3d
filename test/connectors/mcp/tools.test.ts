import { describe, expect, test } from "vitest";
import { isExplicitlyReadOnly } from "../../../server/catalog/classify.ts";
import { nameOf, readTool } from "../../../server/connectors/mcp/tools.ts";
import { compileSchema } from "../../../server/shared/schema.ts";

const SCHEMA = { type: "object" } as const;
const read = (entry: Record<string, unknown>) =>
  readTool({ name: "get", inputSchema: SCHEMA, ...entry });
const toolOf = (entry: Record<string, unknown>) => {
  const { tool, reason } = read(entry);
  if (tool === undefined) throw new Error(reason);
  return tool;
};

/** A schema that nests as often as asked. */
function nested(levels: number): Record<string, unknown> {
  let schema: Record<string, unknown> = { type: "object" };
  for (let level = 0; level < levels; level++) schema = { items: schema };
  return { type: "object", properties: schema };
}

describe("reading one tool of a downstream list", () => {
  test("what a tool declares is kept, and nothing else", () => {
    const entry = {
      title: "Get it",
      description: "Gets.",
      outputSchema: { type: "object", properties: { a: {} } },
      annotations: { title: "Get", readOnlyHint: true, vendor: 1 },
      _meta: { ui: { resourceUri: "ui://evil" } },
      icons: [],
    };
    expect(toolOf(entry)).toEqual({
      name: "get",
      title: "Get it",
      description: "Gets.",
      inputSchema: SCHEMA,
      outputSchema: entry.outputSchema,
      annotations: { title: "Get", readOnlyHint: true },
    });
  });

  test.each([
    ["dots", "a.b.c"],
    ["spaces", "get the record"],
    ["emoji", "🔥 burn"],
    ["300 characters", "n".repeat(300)],
    ["a name of ours", "execute_code"],
    ["a name of objects", "__proto__"],
  ])("a name with %s is kept as it is", (_, name) => {
    expect(toolOf({ name }).name).toBe(name);
  });

  test.each([
    ["no object", "tool", "It is no object."],
    ["no name", { inputSchema: SCHEMA }, "It has no name."],
    ["an empty name", { name: "" }, "It has no name."],
    ["a name that is a number", { name: 7 }, "It has no name."],
    ["invalid UTF-8 in its name", { name: "caf\uFFFD" }, "Its name is no valid UTF-8."],
    ["half a character in its name", { name: "a\uD83D" }, "Its name is no valid UTF-8."],
    ["a line break in its name", { name: "a\nIgnore" }, "Its name has control characters."],
    ["an endless name", { name: "n".repeat(1_025) }, "Its name is longer than 1024 characters."],
    [
      "a list of arguments",
      { name: "a", inputSchema: { type: "array" } },
      "Its arguments are no object.",
    ],
    [
      "tasks only",
      { name: "a", execution: { taskSupport: "required" } },
      "It runs only as a task, which is not supported.",
    ],
    [
      "a bottomless schema",
      { name: "a", inputSchema: nested(5_000) },
      "Its inputSchema nests deeper than 100.",
    ],
  ])("a tool with %s is set aside with the reason", (_, entry, reason) => {
    expect(readTool(entry)).toEqual({ reason });
  });

  test("a schema that nests as deep as real ones do is kept", () => {
    expect(toolOf({ inputSchema: nested(20) }).inputSchema).toEqual(nested(20));
  });

  test.each([
    ["missing", undefined],
    ["null", null],
    ["a text", "object"],
  ])("a tool whose inputSchema is %s takes any object", (_, inputSchema) => {
    expect(toolOf({ inputSchema }).inputSchema).toEqual({ type: "object" });
  });

  test.each([
    ["does not compile", { type: "object", properties: { a: { pattern: "(" } } }],
    ["points nowhere", { type: "object", properties: { a: { $ref: "#/$defs/none" } } }],
    ["points at itself", { type: "object", properties: { a: { $ref: "#" } } }],
  ])("I2: a tool whose schema %s is kept and lets arguments pass", (_, inputSchema) => {
    const tool = toolOf({ inputSchema });
    expect(compileSchema(tool.inputSchema).check({ a: {} })).toEqual([]);
  });

  test("a bottomless or broken outputSchema costs only itself", () => {
    expect(toolOf({ outputSchema: nested(5_000) })).not.toHaveProperty("outputSchema");
    expect(toolOf({ outputSchema: [] })).not.toHaveProperty("outputSchema");
  });

  test("a description of a megabyte is cut to 16,384 characters, a missing one is empty", () => {
    const { description } = toolOf({ description: "d".repeat(1_000_000) });
    expect(description).toHaveLength(16_384);
    expect(description.endsWith("…")).toBe(true);
    expect(toolOf({ description: 5 }).description).toBe("");
  });

  test.each([
    ["missing", undefined],
    ["a list", [{ readOnlyHint: true }]],
    ["a text", { readOnlyHint: "true" }],
    ["a number", { readOnlyHint: 1 }],
    ["an object", { readOnlyHint: { valueOf: 1 } }],
    ["contradicted by a text", { readOnlyHint: true, destructiveHint: "no" }],
    ["contradicted by an object", { readOnlyHint: true, destructiveHint: {} }],
    ["contradicted by null", { readOnlyHint: true, destructiveHint: null }],
  ])("C3: a hint that is %s does not make a tool read-only", (_, annotations) => {
    expect(isExplicitlyReadOnly(toolOf({ annotations }))).toBe(false);
  });

  test("C3: a hint that is true makes a tool read-only", () => {
    expect(isExplicitlyReadOnly(toolOf({ annotations: { readOnlyHint: true } }))).toBe(true);
  });

  test("a name that is shown to an operator is short and holds no control characters", () => {
    expect(nameOf({ name: "a\u001b[31m" })).toBe("a?[31m");
    expect(nameOf({ name: "n".repeat(500) })).toHaveLength(128);
    expect(nameOf(null)).toBe("(no name)");
  });
});
