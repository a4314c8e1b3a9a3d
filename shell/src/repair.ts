import { PAYLOAD_KEY, isPlainObject } from "../../server/view/protocol.ts";
import { STYLE_VARIABLES } from "./variables.ts";

type Fields = Record<string, unknown>;

/**
 * The shell reads a handful of fields. Each function here takes what a host sent and keeps those,
 * in the form that `App` accepts; whatever else a host says can then no longer stop the view.
 */
export function repairInitializeResult(result: unknown): Fields {
  const given = fieldsOf(result);
  const info = fieldsOf(given.hostInfo);
  const { serverTools } = fieldsOf(given.hostCapabilities);
  return {
    protocolVersion: text(given.protocolVersion) ?? "2026-01-26",
    hostInfo: { name: text(info.name) ?? "host", version: text(info.version) ?? "0" },
    hostCapabilities: serverTools === true || isPlainObject(serverTools) ? { serverTools: {} } : {},
    hostContext: repairHostContext(given.hostContext),
  };
}

/** Keeps of a host context what the shell uses; a refused value becomes `undefined`, so that it resets. */
export function repairHostContext(context: unknown): Fields {
  const given = fieldsOf(context);
  const repaired: Fields = {};
  for (const [name, repair] of Object.entries(CONTEXT_FIELDS)) {
    if (Object.hasOwn(given, name)) repaired[name] = repair(given[name]);
  }
  return repaired;
}

const DISPLAY_MODES = ["inline", "fullscreen", "pip"];
const isDisplayMode = (value: unknown) =>
  typeof value === "string" && DISPLAY_MODES.includes(value);

// A host's nonsense would otherwise become a page of millions of pixels, or edges that leave the
// view no room. No screen is higher than the one, no device covers more at an edge than the other.
const LONGEST = 10_000;
const WIDEST_EDGE = 256;

const CONTEXT_FIELDS: Record<string, (value: unknown) => unknown> = {
  theme: (value) => (value === "light" || value === "dark" ? value : undefined),
  displayMode: (value) => (isDisplayMode(value) ? value : undefined),
  availableDisplayModes: (value) =>
    Array.isArray(value) ? value.filter(isDisplayMode) : undefined,
  styles: (value) => ({ variables: styleVariables(fieldsOf(value).variables) }),
  containerDimensions: (value) =>
    lengths(value, LONGEST, ["height", "maxHeight", "width", "maxWidth"]),
  safeAreaInsets: (value) => ({
    top: 0,
    right: 0,
    bottom: 0,
    left: 0,
    ...lengths(value, WIDEST_EDGE, ["top", "right", "bottom", "left"]),
  }),
};

/** Keeps of a tool result what the shell reads; blocks keep their places, only their text counts. */
export function repairToolResult(result: unknown): Fields {
  const outer = fieldsOf(result);
  const wrapped = outer.content === undefined ? (outer.result ?? outer.toolResult) : undefined;
  const given = isPlainObject(wrapped) ? wrapped : outer;
  const blocks: unknown[] = Array.isArray(given.content) ? given.content : [];
  const meta = fieldsOf(given._meta);
  const repaired: Fields = {
    content: blocks.map((block) => ({ type: "text", text: text(fieldsOf(block).text) ?? "" })),
  };
  if (isPlainObject(given.structuredContent)) repaired.structuredContent = given.structuredContent;
  if (given.isError === true) repaired.isError = true;
  if (Object.hasOwn(meta, PAYLOAD_KEY)) repaired._meta = { [PAYLOAD_KEY]: meta[PAYLOAD_KEY] };
  return repaired;
}

/** The result of a view's call; some hosts report a failure as `{ status: "error" }` instead. */
export function repairCallResult(result: unknown): Fields {
  const given = fieldsOf(result);
  if (given.status !== "error") return repairToolResult(result);
  const { error } = given;
  const message = text(given.message) ?? text(error) ?? text(fieldsOf(error).message) ?? "";
  return { content: [{ type: "text", text: message }], isError: true };
}

/** A JSON-RPC error object with an integer code and a message, whatever the host sent. */
export function repairError(error: unknown): Fields {
  const { code, message } = fieldsOf(error);
  const known = typeof code === "number" && Number.isSafeInteger(code);
  return { code: known ? code : -32603, message: text(message) ?? text(error) ?? "" };
}

/** The parameters of a notification that the shell listens to, or `undefined` to drop it. */
export function repairNotification(method: string, params: unknown): Fields | undefined {
  switch (method) {
    case "ui/notifications/tool-input":
    case "ui/notifications/tool-input-partial":
      return {};
    case "ui/notifications/tool-result":
      return repairToolResult(params);
    case "ui/notifications/tool-cancelled": {
      const reason = text(fieldsOf(params).reason);
      return reason === undefined ? {} : { reason };
    }
    case "ui/notifications/host-context-changed":
      return repairHostContext(params);
    default:
      return undefined;
  }
}

function fieldsOf(value: unknown): Fields {
  return isPlainObject(value) ? value : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Pixels, at most `most`; what is no length is left out. */
function lengths(value: unknown, most: number, names: readonly string[]): Fields {
  const given = fieldsOf(value);
  const kept: Fields = {};
  for (const name of names) {
    const length = given[name];
    if (typeof length !== "number" || !Number.isFinite(length) || length < 0) continue;
    kept[name] = Math.min(length, most);
  }
  return kept;
}

function styleVariables(value: unknown): Record<string, string> {
  const given = fieldsOf(value);
  const kept: Record<string, string> = {};
  for (const name of STYLE_VARIABLES) {
    const declared = text(given[name])?.trim();
    if (declared) kept[name] = declared;
  }
  return kept;
}
