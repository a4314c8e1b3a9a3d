import { describe, expect, test } from "vitest";
import { redactor } from "../../../server/connectors/mcp/redact.ts";
import { readResult } from "../../../server/connectors/mcp/result.ts";

const asIs = (text: string) => text;
const read = (answer: unknown, redact = asIs) => readResult("crm.get", answer, redact);

describe("reading a downstream tool's result", () => {
  test("I7: blocks of every kind stay the objects that they were", () => {
    const content = [
      { type: "text", text: "a", annotations: { audience: ["user"] }, _meta: { k: 1 } },
      { type: "image", data: "no base64 !!", mimeType: 7 },
      { type: "audio", data: "", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "ui://x", blob: "%%%" } },
      { type: "resource_link", uri: "no uri", name: null },
      { type: "hologram", depth: 3 },
    ];
    const result = read({ content });
    expect(result).toEqual({ ok: true, value: { kind: "mcp", content } });
    if (!result.ok || result.value.kind !== "mcp") throw new Error("no result");
    expect(result.value.content.map((block, at) => block === content[at])).not.toContain(false);
  });

  test.each([[[1, 2]], ["text"], [0], [null], [false], [{ a: 1 }]])(
    "structuredContent may be any JSON: %j",
    (structuredContent) => {
      expect(read({ content: [], structuredContent })).toEqual({
        ok: true,
        value: { kind: "mcp", content: [], structuredContent },
      });
    },
  );

  test("a result without content has none, and only a literal true makes an error", () => {
    expect(read({ resultType: "complete", isError: "true", _meta: {} })).toEqual({
      ok: true,
      value: { kind: "mcp", content: [] },
    });
    expect(read({ content: [], isError: true })).toMatchObject({ value: { isError: true } });
  });

  test("E2: a tool that asks for input is input_required_unsupported", () => {
    expect(read({ resultType: "input_required", inputRequests: {} })).toMatchObject({
      ok: false,
      failure: { code: "input_required_unsupported", retryable: false },
    });
  });

  test.each([
    ["no object", []],
    ["nothing", undefined],
    ["an unknown kind of result", { resultType: "partial", content: [] }],
    ["a task", { task: { taskId: "1" } }],
    ["a text as content", { content: "text" }],
    ["a block that is no object", { content: ["text"] }],
    ["a block without a type", { content: [{ text: "a" }] }],
  ])("%s is connector_call_failed", (_, answer) => {
    expect(read(answer)).toMatchObject({ ok: false, failure: { code: "connector_call_failed" } });
  });

  test("E4: a credential is taken out of an error's text, and out of no other result", () => {
    const redact = redactor(["Bearer tok-123456"]);
    const content = [
      { type: "text", text: "tok-123456 expired" },
      { type: "image", data: "tok-123456" },
    ];
    expect(read({ content, isError: true }, redact)).toMatchObject({
      value: { content: [{ text: "[redacted] expired" }, content[1]] },
    });
    expect(read({ content }, redact)).toMatchObject({ value: { content } });
  });
});

describe("taking credentials out of texts", () => {
  test("E4: a header's value and its parts are taken out, its scheme and short values are not", () => {
    const redact = redactor(["Bearer tok-123456", "eu-1", "hunter2"]);
    expect(redact("Bearer tok-123456")).toBe("[redacted]");
    expect(redact("The Bearer of tok-123456 in eu-1: hunter2")).toBe(
      "The Bearer of [redacted] in eu-1: [redacted]",
    );
  });

  test("E4: a credential that contains another one leaves nothing behind", () => {
    expect(redactor(["abcdefgh", "abcdefgh-ijkl"])("abcdefgh-ijkl")).toBe("[redacted]");
  });

  test("without credentials a text stays as it is", () => {
    expect(redactor([""])("text")).toBe("text");
  });
});
