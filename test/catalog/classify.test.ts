import { describe, expect, test } from "vitest";
import { isExplicitlyReadOnly } from "../../server/catalog/classify.ts";
import type { ToolAnnotations } from "../../server/shared/contracts.ts";

/** Annotations as a downstream may really send them. */
function annotated(annotations: unknown): { annotations: ToolAnnotations } {
  return { annotations: annotations as ToolAnnotations };
}

describe("C3: a tool is explicitly read-only", () => {
  test.each([
    [{ readOnlyHint: true }],
    [{ readOnlyHint: true, destructiveHint: false }],
    [{ readOnlyHint: true, openWorldHint: true, idempotentHint: false, title: "Read" }],
  ])("when it says so without contradiction: %j", (annotations) => {
    expect(isExplicitlyReadOnly(annotated(annotations))).toBe(true);
  });

  test.each([
    ["nothing", undefined],
    ["null", null],
    ["no hint", {}],
    ["false", { readOnlyHint: false }],
    ["a contradiction", { readOnlyHint: true, destructiveHint: true }],
    ["a malformed contradiction", { readOnlyHint: true, destructiveHint: "yes" }],
    ["null beside true", { readOnlyHint: true, destructiveHint: null }],
    ["the word true", { readOnlyHint: "true" }],
    ["one", { readOnlyHint: 1 }],
    ["a list", { readOnlyHint: [true] }],
    ["a string of annotations", "readOnlyHint"],
    ["an inherited hint", Object.create({ readOnlyHint: true })],
  ])("but never on %s", (_, annotations) => {
    expect(isExplicitlyReadOnly(annotated(annotations))).toBe(false);
  });
});
