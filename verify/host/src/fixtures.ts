import type { CallToolResult } from "@modelcontextprotocol/client";
import { isPlainObject, PAYLOAD_KEY, type ViewPayload } from "../../../server/view/protocol.ts";
import plainView from "../views/plain.html?raw";
import readingView from "../views/reading.html?raw";
import type { ToolCall } from "./result.ts";

/** One state of the shell, brought about by fixed messages and no server. */
export interface Fixture {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Whether `tool-input` is sent before anything else. */
  readonly input: boolean;
  readonly result?: CallToolResult;
  /** Sent instead of a result, as `tool-cancelled`. */
  readonly cancelled?: string;
  /** What a button delivers afterwards. */
  readonly late?: CallToolResult;
  /** Whether the host offers the view server tools. */
  readonly serverTools: boolean;
  /** Whether the host then asks the view to end, and leaves its frame in the page. */
  readonly tornDown?: boolean;
  /** Height of the frame as CSS, in a host that takes no size from its views. */
  readonly fixedHeight?: string;
}

/** A result as `execute_code` gives it: envelope twice, payload for the view alone. */
function success(envelope: Record<string, unknown>, payload?: unknown): CallToolResult {
  return {
    content: [{ type: "text", text: JSON.stringify(envelope) }],
    structuredContent: envelope,
    ...(payload !== undefined && { _meta: { [PAYLOAD_KEY]: payload } }),
  };
}

function failure(error: Record<string, unknown>): CallToolResult {
  return { ...success({ error, logs: "about to read a.b" }), isError: true };
}

const plain: ViewPayload = { html: plainView };
const reading: ViewPayload = {
  html: readingView,
  reads: {
    measure: { address: "fixture.measure", fixedArgs: { unit: "ms" }, viewArgs: ["cursor"] },
  },
};
const shown = success({ result: { services: 3, slowest: "search" }, ui: true }, plain);

/** Every state of the shell that a host can bring about. */
export const FIXTURES: readonly Fixture[] = [
  {
    id: "waiting",
    title: "Waiting",
    description: "The arguments arrived, the result has not.",
    input: true,
    late: shown,
    serverTools: true,
  },
  {
    id: "view",
    title: "View",
    description: "A result with a plain payload.",
    input: true,
    result: shown,
    serverTools: true,
  },
  {
    id: "view-with-reads",
    title: "View with reads",
    description: "A payload whose reads the page answers with made-up numbers.",
    input: true,
    result: success({ result: { page: 1 }, ui: true }, reading),
    serverTools: true,
  },
  {
    id: "no-view",
    title: "No view",
    description: "A success without a payload takes as little room as the host allows.",
    input: true,
    result: success({ result: { total: 42 } }),
    serverTools: true,
  },
  {
    id: "failed",
    title: "Failed",
    description: "A result with isError and a typed failure.",
    input: true,
    result: failure({
      code: "program_error",
      message: "Cannot read properties of undefined (reading 'b')",
      retryable: false,
      line: 3,
      column: 12,
    }),
    serverTools: true,
  },
  {
    id: "cancelled",
    title: "Cancelled",
    description: "The call was cancelled before it had a result.",
    input: true,
    cancelled: "stopped by the person",
    serverTools: true,
  },
  {
    id: "malformed",
    title: "Malformed",
    description: "A payload of the wrong shape.",
    input: true,
    result: success({ result: null, ui: true }, { html: 42 }),
    serverTools: true,
  },
  {
    id: "reads-unavailable",
    title: "Reads unavailable",
    description: "The same view with reads in a host that lets views call no tool.",
    input: true,
    result: success({ result: { page: 1 }, ui: true }, reading),
    serverTools: false,
  },
  {
    id: "view-dropped",
    title: "View dropped",
    description: "The envelope speaks of a view, the host has removed it.",
    input: true,
    result: success({ result: { services: 3 }, ui: true }),
    serverTools: true,
  },
  {
    id: "no-result",
    title: "No result",
    description: "Nothing arrives; after a minute the shell says so. A late result still counts.",
    input: false,
    late: shown,
    serverTools: true,
  },
  {
    id: "torn-down",
    title: "Torn down",
    description: "The host has asked the view to end; what it showed stays, its reads have ended.",
    input: true,
    result: success({ result: { page: 1 }, ui: true }, reading),
    serverTools: true,
    tornDown: true,
  },
  ...["400px", "650px", "800px", "75vh"].map((height): Fixture => ({
    id: `no-view-${height}`,
    title: `No view, host fixed at ${height}`,
    description: `A success without a payload in a host whose views are all ${height} high.`,
    input: true,
    result: success({ result: { total: 42 } }),
    serverTools: true,
    fixedHeight: height,
  })),
  {
    id: "view-400px",
    title: "View, host fixed at 400px",
    description: "A view fills the frame of a host that takes no size from its views.",
    input: true,
    result: shown,
    serverTools: true,
    fixedHeight: "400px",
  },
];

const READ_STEPS = [118, 96, 143, 87, 105, 131, 92, 110];

/** Answers a read of a fixture as `call_tool` would in value mode. */
export function answerRead({ name, arguments: args = {} }: ToolCall): CallToolResult {
  const inner = isPlainObject(args["args"]) ? args["args"] : {};
  const cursor = typeof inner["cursor"] === "number" ? inner["cursor"] : 0;
  const samples = READ_STEPS.map((step, index) => step + ((cursor * 7 + index * 3) % 23));
  const data = { cursor, next: cursor + 1, samples, unit: inner["unit"] };
  const envelope =
    name === "call_tool" && args["address"] === "fixture.measure"
      ? { ok: true, data }
      : { ok: false, error: { code: "unknown_tool", message: "No such tool.", retryable: false } };
  const failed = envelope.ok ? {} : { isError: true };
  return {
    content: [{ type: "text", text: JSON.stringify(envelope) }],
    structuredContent: envelope,
    ...failed,
  };
}
