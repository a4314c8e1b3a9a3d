import { describe, expect, test } from "vitest";
import { readResult } from "../../shell/src/result.ts";

const payload = { html: "<p>x</p>" };
const text = (value: unknown) => [
  { type: "text", text: typeof value === "string" ? value : JSON.stringify(value) },
];
const meta = (value: unknown) => ({ _meta: { "connecta/ui": value } });

describe("a result means", () => {
  test.each<[string, Parameters<typeof readResult>[0], unknown]>([
    ["a view when it has a payload", meta(payload), { state: "view", payload }],
    [
      "a view even where the envelope was stripped or says otherwise",
      { ...meta(payload), content: text("nonsense"), isError: true },
      { state: "view", payload },
    ],
    [
      "a malformed view",
      meta({ html: "" }),
      { state: "malformed", message: "html is not a non-empty string" },
    ],
    ["a malformed view for null", meta(null), { state: "malformed", message: expect.any(String) }],
    ["no view", { structuredContent: { result: 1 } }, { state: "none" }],
    ["no view, from text alone", { content: text({ result: null, logs: "x" }) }, { state: "none" }],
    [
      "a view that was dropped",
      { structuredContent: { result: 1, ui: true } },
      { state: "dropped" },
    ],
    [
      "a view that was dropped, from text",
      { content: text({ result: 1, ui: true }) },
      { state: "dropped" },
    ],
    [
      "a failure",
      { isError: true, structuredContent: { error: { code: "timeout", message: "slow" } } },
      { state: "failed", code: "timeout", message: "slow" },
    ],
    [
      "a failure from text, even without its mark",
      { content: text({ error: { code: "timeout", message: "slow" } }) },
      { state: "failed", code: "timeout", message: "slow" },
    ],
    [
      "a failure of unknown shape",
      { structuredContent: { error: "boom" } },
      { state: "failed", code: "error", message: "" },
    ],
    [
      "a refusal on the way",
      { isError: true, content: text("Tool not permitted") },
      { state: "refused", message: "Tool not permitted" },
    ],
  ])("%s", (_, result, expected) => {
    expect(readResult(result)).toEqual(expected);
  });
});

describe("a result of another call means nothing", () => {
  test.each<[string, Parameters<typeof readResult>[0]]>([
    ["a value of call_tool", { structuredContent: { ok: true, data: { result: 1 } } }],
    ["a failure of call_tool", { isError: true, structuredContent: { ok: false, error: {} } }],
    ["a failure of call_tool, as text", { isError: true, content: text({ ok: false, error: {} }) }],
    ["plain text", { content: text("done") }],
    ["a list", { content: text([1, 2]) }],
    ["an object of others", { structuredContent: { items: [] } }],
    ["an inherited result", { structuredContent: Object.create({ result: 1 }) }],
    ["nothing", {}],
    ["an image", { content: [{ type: "image" }] }],
  ])("%s", (_, result) => {
    expect(readResult(result)).toBeUndefined();
  });
});
