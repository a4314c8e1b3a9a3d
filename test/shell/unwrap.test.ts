import { describe, expect, test } from "vitest";
import { unwrapCall, unwrapRejection } from "../../shell/src/unwrap.ts";

const text = (value: unknown) => [
  { type: "text", text: typeof value === "string" ? value : JSON.stringify(value) },
];

describe("an answer of call_tool gives its value", () => {
  test.each<[string, unknown]>([
    ["an object", { items: [1] }],
    ["null", null],
    ["false", false],
    ["an empty text", ""],
    ["something that looks like a failure", { ok: false, error: { code: "x" } }],
  ])("%s", (_, data) => {
    const envelope = { ok: true, data };
    expect(unwrapCall({ structuredContent: envelope })).toEqual({ ok: true, value: data });
    expect(unwrapCall({ content: text(envelope) })).toEqual({ ok: true, value: data });
  });
});

describe("an answer without a value becomes a typed failure", () => {
  test.each<[string, Parameters<typeof unwrapCall>[0], object]>([
    [
      "V11: the server's own code, message and retryability",
      {
        isError: true,
        structuredContent: {
          ok: false,
          error: { code: "rate_limited", message: "slow down", retryable: true, address: "a.b" },
        },
      },
      { code: "rate_limited", message: "slow down", retryable: true },
    ],
    [
      "a failure from text alone",
      { content: text({ ok: false, error: { code: "auth_required", message: "sign in" } }) },
      { code: "auth_required", message: "sign in", retryable: false },
    ],
    [
      "a code that is none",
      { structuredContent: { ok: false, error: { code: "<b>", retryable: "yes" } } },
      { code: "connector_call_failed", message: "The read failed.", retryable: false },
    ],
    [
      "V10: a truncated answer, however much of it there is",
      { structuredContent: { ok: true, truncated: true, preview: "[1", data: [1] } },
      { code: "result_too_large", message: expect.any(String), retryable: false },
    ],
    [
      "isError beats a value",
      { isError: true, structuredContent: { ok: true, data: 1 }, content: text("no") },
      { code: "connector_call_failed", message: "no", retryable: false },
    ],
    [
      "a success without data",
      { structuredContent: { ok: true } },
      { code: "connector_call_failed", message: expect.any(String), retryable: false },
    ],
    [
      "an inherited ok",
      { structuredContent: Object.create({ ok: true, data: 1 }) },
      { code: "connector_call_failed", message: expect.any(String), retryable: false },
    ],
    [
      "text that is no JSON",
      { content: text("it rained") },
      { code: "connector_call_failed", message: "it rained", retryable: false },
    ],
  ])("%s", (_, result, error) => {
    expect(unwrapCall(result)).toEqual({ ok: false, error });
  });

  test("a message of any length stays short enough to show", () => {
    const outcome = unwrapCall({ isError: true, content: text("x".repeat(100_000)) });
    expect(outcome.ok ? 0 : outcome.error.message.length).toBe(2_001);
  });
});

describe("a call that never came back", () => {
  const thrown = (code: unknown, message = "") => Object.assign(new Error(message), { code });
  test.each<[string, unknown, object]>([
    ["for want of time", thrown("REQUEST_TIMEOUT"), { code: "timeout", retryable: true }],
    ["with the connection", thrown("CONNECTION_CLOSED"), { code: "unavailable", retryable: true }],
    ["without a connection", thrown("NOT_CONNECTED"), { code: "unavailable", retryable: true }],
    [
      "for want of the method",
      thrown(-32601, "Method not found"),
      { code: "reads_unavailable", retryable: false },
    ],
    [
      "at the word of the host",
      thrown(-32000, "the person said no"),
      { code: "connector_call_failed", message: "the person said no", retryable: false },
    ],
    ["for no reason", undefined, { code: "connector_call_failed", retryable: false }],
  ])("%s", (_, error, expected) => {
    expect(unwrapRejection(error)).toMatchObject(expected);
    expect(unwrapRejection(error).message).not.toBe("");
  });
});
