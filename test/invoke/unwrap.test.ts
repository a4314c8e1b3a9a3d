import { describe, expect, test } from "vitest";
import { unwrap } from "../../server/invoke/unwrap.ts";

const text = (value: string) => ({ type: "text", text: value });

describe("unwrapping a tool result", () => {
  test("a plain value is itself, undefined becomes null", () => {
    expect(unwrap("a.b", { kind: "value", value: { n: 1 } })).toEqual({
      ok: true,
      value: { n: 1 },
    });
    expect(unwrap("a.b", { kind: "value", value: undefined })).toEqual({ ok: true, value: null });
  });

  test("structured content wins over text", () => {
    const result = { kind: "mcp", content: [text("1")], structuredContent: { n: 2 } } as const;
    expect(unwrap("a.b", result)).toEqual({ ok: true, value: { n: 2 } });
  });

  test("texts are joined and parsed when they are JSON", () => {
    expect(unwrap("a.b", { kind: "mcp", content: [text("[1,"), text("2]")] })).toEqual({
      ok: true,
      value: [1, 2],
    });
    expect(unwrap("a.b", { kind: "mcp", content: [text("not json")] })).toEqual({
      ok: true,
      value: "not json",
    });
  });

  test("blocks other than text come whole", () => {
    const content = [text("see"), { type: "image", data: "AA==", mimeType: "image/png" }];
    expect(unwrap("a.b", { kind: "mcp", content })).toEqual({ ok: true, value: { content } });
  });

  test("E1: an error result becomes connector_call_failed with its text, bounded", () => {
    const result = { kind: "mcp", content: [text("x".repeat(9_000))], isError: true } as const;
    const failed = unwrap("a.b", result);
    expect(failed).toMatchObject({
      failure: { code: "connector_call_failed", retryable: false, address: "a.b" },
    });
    if (!failed.ok) expect(failed.failure.message.length).toBeLessThanOrEqual(2_000);
  });
});
