import {
  McpUiHostContextSchema,
  McpUiInitializeResultSchema,
  McpUiToolResultNotificationSchema,
} from "@modelcontextprotocol/ext-apps";
import { describe, expect, test } from "vitest";
import {
  repairCallResult,
  repairError,
  repairHostContext,
  repairInitializeResult,
  repairNotification,
  repairToolResult,
} from "../../shell/src/repair.ts";
import { STYLE_VARIABLES } from "../../shell/src/variables.ts";

const initializeResult = {
  protocolVersion: "2026-01-26",
  hostInfo: { name: "host", version: "3" },
  hostCapabilities: { serverTools: {} },
  hostContext: { theme: "dark" },
};

describe("a host context that the official schema refuses", () => {
  const keep = { theme: "dark" };
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["an unknown theme", { theme: "system" }, { theme: undefined }],
    ["no locale", { ...keep, locale: null }, keep],
    [
      "an unknown display mode",
      { ...keep, displayMode: "sidebar" },
      { ...keep, displayMode: undefined },
    ],
    [
      "an unknown display mode among others",
      { availableDisplayModes: ["inline", "sidebar", null, "fullscreen"] },
      { availableDisplayModes: ["inline", "fullscreen"] },
    ],
    ["a tool without inputSchema", { ...keep, toolInfo: { tool: { name: "execute_code" } } }, keep],
    [
      "unknown style variables",
      { styles: { variables: { "--brand": "red", "--font-sans": " Inter " } } },
      { styles: { variables: { "--font-sans": "Inter" } } },
    ],
    [
      "style variables that are no text",
      { styles: { variables: { "--font-sans": 7, "--color-text-primary": null } } },
      { styles: { variables: {} } },
    ],
    ["styles that are no object", { styles: "dark" }, { styles: { variables: {} } }],
    [
      "lengths that are no numbers",
      { containerDimensions: { width: null, maxHeight: "75vh" } },
      { containerDimensions: {} },
    ],
    [
      "insets in part",
      { safeAreaInsets: { top: 20, left: Number.NaN } },
      { safeAreaInsets: { top: 20, right: 0, bottom: 0, left: 0 } },
    ],
    ["an unknown platform", { ...keep, platform: "fridge" }, keep],
    [
      "a list for a display mode",
      { ...keep, displayMode: ["inline"] },
      { ...keep, displayMode: undefined },
    ],
    [
      "lists of display modes in the list",
      { availableDisplayModes: [["inline"], { mode: "inline" }, "fullscreen"] },
      { availableDisplayModes: ["fullscreen"] },
    ],
    [
      "lists for lengths",
      { containerDimensions: { maxHeight: [400], width: ["300"] } },
      { containerDimensions: {} },
    ],
    ["a list for a theme", { theme: ["dark"] }, { theme: undefined }],
    [
      "a list for a style variable",
      { styles: { variables: { "--font-sans": ["Inter"] } } },
      { styles: { variables: {} } },
    ],
  ])("%s is repaired", (_, odd, expected) => {
    expect(McpUiHostContextSchema.safeParse(odd).success).toBe(false);
    expect(repairHostContext(odd)).toEqual(expected);
    expect(McpUiHostContextSchema.safeParse(repairHostContext(odd)).success).toBe(true);
  });

  test("keeps what it may say, and says nothing of what was not said", () => {
    const context = {
      theme: "light",
      displayMode: "inline",
      availableDisplayModes: ["inline"],
      containerDimensions: { maxHeight: 500, width: 300 },
      safeAreaInsets: { top: 1, right: 2, bottom: 3, left: 4 },
      styles: { variables: { "--color-text-primary": "red" } },
    };
    expect(repairHostContext(context)).toEqual(context);
    expect(Object.keys(repairHostContext({ locale: "de" }))).toEqual([]);
    for (const context of [undefined, null, "dark", []])
      expect(repairHostContext(context)).toEqual({});
  });
});

/** Values that a conversion to text would follow to the end of the stack, or change into others. */
const UNSPEAKABLE: [string, unknown][] = [
  ["a list", ["inline"]],
  ["a list without end", nested(100_000)],
  ["an object that refuses to be text", Object.create(null)],
  ["a number without fraction", 7n],
];

function nested(depth: number): unknown {
  let value: unknown[] = [];
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

describe.each(UNSPEAKABLE)("%s in the place of a text", (_, odd) => {
  const fails = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
    schema.safeParse(value).success ? "accepted" : "refused";

  test("does not stop a host context", () => {
    const context = {
      theme: odd,
      displayMode: odd,
      availableDisplayModes: [odd, "inline"],
      styles: { variables: { "--font-sans": odd } },
      containerDimensions: { height: odd, maxHeight: odd },
      safeAreaInsets: { top: odd },
    };
    const repaired = repairHostContext(context);
    expect(repaired).toEqual({
      theme: undefined,
      displayMode: undefined,
      availableDisplayModes: ["inline"],
      styles: { variables: {} },
      containerDimensions: {},
      safeAreaInsets: { top: 0, right: 0, bottom: 0, left: 0 },
    });
    expect(fails(McpUiHostContextSchema, repaired)).toBe("accepted");
  });

  test("does not stop the handshake", () => {
    const repaired = repairInitializeResult({
      protocolVersion: odd,
      hostInfo: { name: odd, version: odd },
      hostCapabilities: { serverTools: odd },
      hostContext: { displayMode: odd },
    });
    expect(fails(McpUiInitializeResultSchema, repaired)).toBe("accepted");
  });

  test("does not stop a result, an error or a cancellation", () => {
    const result = repairToolResult({ content: [{ type: odd, text: odd }, odd], isError: odd });
    expect(result).toEqual({
      content: [
        { type: "text", text: "" },
        { type: "text", text: "" },
      ],
    });
    expect(repairCallResult({ status: odd, content: [] })).toEqual({ content: [] });
    expect(repairCallResult({ status: "error", message: odd, error: odd })).toMatchObject({
      content: [{ text: "" }],
    });
    expect(repairError({ code: odd, message: odd })).toEqual({ code: -32603, message: "" });
    expect(repairNotification("ui/notifications/tool-cancelled", { reason: odd })).toEqual({});
  });
});

describe("lengths", () => {
  test("that no screen has are cut to what one may have", () => {
    const context = {
      containerDimensions: { height: 1e308, width: 10_001 },
      safeAreaInsets: { top: 1e12, right: 59, bottom: Number.MAX_VALUE, left: 257 },
    };
    expect(repairHostContext(context)).toEqual({
      containerDimensions: { height: 10_000, width: 10_000 },
      safeAreaInsets: { top: 256, right: 59, bottom: 256, left: 256 },
    });
  });

  test.each([-1, Infinity, -Infinity, Number.NaN])("%d is none", (length) => {
    expect(repairHostContext({ containerDimensions: { maxHeight: length } })).toEqual({
      containerDimensions: {},
    });
  });
});

describe("an initialize result that the official schema refuses", () => {
  test.each<[string, unknown]>([
    ["nothing but an object", {}],
    ["no host info", { ...initializeResult, hostInfo: null }],
    ["a host without version", { ...initializeResult, hostInfo: { name: "host" } }],
    ["no capabilities", { ...initializeResult, hostCapabilities: undefined }],
    ["a capability that is true", { ...initializeResult, hostCapabilities: { serverTools: true } }],
    ["no context", { ...initializeResult, hostContext: undefined }],
    ["no version of the protocol", { ...initializeResult, protocolVersion: 2 }],
  ])("%s is repaired", (_, odd) => {
    expect(McpUiInitializeResultSchema.safeParse(odd).success).toBe(false);
    expect(McpUiInitializeResultSchema.safeParse(repairInitializeResult(odd)).success).toBe(true);
  });

  test("keeps whether the host runs tools for views", () => {
    const serverTools = (value: unknown) =>
      repairInitializeResult({ ...initializeResult, hostCapabilities: { serverTools: value } })
        .hostCapabilities;
    expect(serverTools({ listChanged: true })).toEqual({ serverTools: {} });
    expect(serverTools(true)).toEqual({ serverTools: {} });
    for (const no of [false, undefined, null, "no"]) expect(serverTools(no)).toEqual({});
  });
});

describe("a tool result", () => {
  const text = (words: string) => ({ type: "text", text: words });

  test.each<[string, Record<string, unknown>]>([
    ["an unknown block", { content: [text("{}"), { type: "hologram", beams: 3 }] }],
    ["a block that is no object", { content: [null] }],
    ["annotations that are null", { content: [{ ...text("{}"), annotations: null }] }],
    ["isError that is a word", { content: [], isError: "yes" }],
    ["_meta that is null", { content: [], _meta: null }],
    ["no content at all", { content: null }],
  ])("with %s is repaired", (_, odd) => {
    const params = McpUiToolResultNotificationSchema.shape.params;
    expect(params.safeParse(odd).success).toBe(false);
    expect(params.safeParse(repairToolResult(odd)).success).toBe(true);
  });

  test("keeps its payload, its envelope and the places of its blocks", () => {
    const image = { type: "image", data: "AAAA", mimeType: "image/png" };
    const structuredContent = { result: 1, ui: true };
    const meta = { "connecta/ui": { html: "<p>" }, "other/key": 1 };
    const result = {
      content: [text("a"), image, text("b")],
      structuredContent,
      isError: true,
      _meta: meta,
    };
    expect(repairToolResult(result)).toEqual({
      content: [text("a"), text(""), text("b")],
      structuredContent,
      isError: true,
      _meta: { "connecta/ui": { html: "<p>" } },
    });
  });

  test.each(["result", "toolResult"])("is found inside { %s }", (key) => {
    expect(repairToolResult({ [key]: { content: [text("x")] } })).toEqual({ content: [text("x")] });
  });
});

describe("what else a host sends", () => {
  test("a call answered by { status: error } is an error with its message", () => {
    for (const odd of [
      { status: "error", message: "no" },
      { status: "error", error: "no" },
      { status: "error", error: { message: "no" } },
    ]) {
      expect(repairCallResult(odd)).toEqual({
        content: [{ type: "text", text: "no" }],
        isError: true,
      });
    }
  });

  test("an error always has an integer code and a message", () => {
    expect(repairError({ code: -32000, message: "no" })).toEqual({ code: -32000, message: "no" });
    expect(repairError({ code: "E_NO" })).toEqual({ code: -32603, message: "" });
    expect(repairError("no")).toEqual({ code: -32603, message: "no" });
    expect(repairError(null)).toEqual({ code: -32603, message: "" });
  });

  test("notifications that nobody listens to are dropped", () => {
    expect(repairNotification("ui/notifications/party", {})).toBeUndefined();
    expect(repairNotification("notifications/message", {})).toBeUndefined();
  });

  test("inputs are a sign of life whatever they hold", () => {
    expect(repairNotification("ui/notifications/tool-input", null)).toEqual({});
    expect(repairNotification("ui/notifications/tool-input-partial", { arguments: 7 })).toEqual({});
  });

  test("a cancellation may have no reason, or one that is no text", () => {
    const cancelled = (params: unknown) =>
      repairNotification("ui/notifications/tool-cancelled", params);
    expect(cancelled({ reason: "stopped" })).toEqual({ reason: "stopped" });
    for (const params of [undefined, {}, { reason: null }]) expect(cancelled(params)).toEqual({});
  });
});

test("the style variables are those of the official schema, no more and no less", () => {
  const official = (name: string) =>
    McpUiHostContextSchema.safeParse({ styles: { variables: { [name]: "x" } } }).success;
  expect(STYLE_VARIABLES).toHaveLength(76);
  expect(new Set(STYLE_VARIABLES).size).toBe(76);
  expect(STYLE_VARIABLES.filter((name) => !official(name))).toEqual([]);
  expect(official("--brand")).toBe(false);
  expect(STYLE_VARIABLES).toContain("--shadow-lg");
});
