import { api, ToolError, type Connector, type ConnectaConfig } from "../../../server/index.ts";
import { fail, ok } from "../../../server/shared/failure.ts";
import type { ToolResult } from "../../../server/shared/contracts.ts";
import { HOSTILE } from "./results.ts";

/** One call whose answer is recorded. */
export interface Request {
  readonly tool: "execute_code" | "call_tool";
  readonly args: Readonly<Record<string, unknown>>;
}

const READ = { readOnlyHint: true } as const;
const ANY = { type: "object" } as const;
const PAGE = {
  type: "object",
  properties: { cursor: { type: "integer" }, state: { enum: ["open", "closed"] } },
  additionalProperties: false,
} as const;

function tickets(): Connector {
  const reading = (description: string, handler: () => unknown) => ({
    description,
    inputSchema: ANY,
    annotations: READ,
    handler,
  });
  return api({
    id: "tickets",
    tools: {
      list: {
        description: "List tickets, page by page.",
        inputSchema: PAGE,
        annotations: READ,
        handler: ({ cursor = 0 }: { cursor?: number }) => ({
          items: [{ id: cursor + 1, title: "Printer on fire" }],
          nextCursor: cursor + 1,
        }),
      },
      none: reading("Nothing.", () => null),
      note: reading("A text that somebody else wrote.", () => HOSTILE),
      export: reading("More than comes in one answer.", () => "x".repeat(60_000)),
      gone: reading("What is no longer there.", () => {
        throw new ToolError(`No ticket ${HOSTILE}.`, { code: "not_found" });
      }),
      slow: reading("Does not answer.", () => new Promise(() => {})),
      close: {
        description: "Close a ticket.",
        inputSchema: ANY,
        annotations: { readOnlyHint: false, destructiveHint: true },
        handler: () => ({ closed: true }),
      },
    },
  });
}

const text = (value: string) => ({ type: "text", text: value });

function mail(): Connector {
  const answers: Readonly<Record<string, ToolResult>> = {
    unread: { kind: "mcp", content: [text("two")], structuredContent: { unread: 2 } },
    folders: { kind: "mcp", content: [text('["in","out"]')] },
    photo: { kind: "mcp", content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] },
    full: { kind: "mcp", content: [text("The mailbox is full.")], isError: true },
  };
  return {
    id: "mail",
    kind: "mcp",
    listTools: () =>
      Promise.resolve(
        ok(
          [...Object.keys(answers), "busy", "locked"].map((name) => ({
            name,
            description: `Mail: ${name}.`,
            inputSchema: ANY,
            annotations: READ,
          })),
        ),
      ),
    callTool: (name) => {
      const answer = answers[name];
      if (answer) return Promise.resolve(ok(answer));
      if (name === "locked") return Promise.resolve(fail("auth_required", "Sign in first."));
      return Promise.resolve(fail("rate_limited", "Not so fast.", { retryAfterMs: 30_000 }));
    },
  };
}

/** The deployment whose answers are recorded. */
export const DEPLOYMENT: Pick<ConnectaConfig, "connectors" | "execute"> = {
  connectors: [tickets(), mail()],
  execute: { cpuMs: 100, maxHostCalls: 3 },
};

const program = (code: string, diagnostics = false): Request => ({
  tool: "execute_code",
  args: { code, ...(diagnostics && { diagnostics }) },
});
const call = (address: string, more: object = {}): Request => ({
  tool: "call_tool",
  args: { address, ...more },
});
/** As the shell makes the call of a view. */
const read = (address: string, args: object = {}): Request =>
  call(address, { args, resultMode: "value" });

const SHOW = 'await connecta.ui("<h1>Tickets</h1><p>One is open.</p>");';

/** Everything that is asked, by the name of its answer. */
export const REQUESTS: Readonly<Record<string, Request>> = {
  "a view": program(`${SHOW} return { open: 1 }`),
  "a view with reads": program(`await connecta.ui("<h1>Live tickets</h1>", { reads: {
    page: { address: "tickets.list", fixedArgs: { state: "open" }, viewArgs: ["cursor"] },
    note: { address: "tickets.note" },
  } }); return { open: 1 }`),
  "a view of hostile text": program(
    `await connecta.ui(${JSON.stringify(HOSTILE)}); return ${JSON.stringify(HOSTILE)}`,
  ),
  "a view beside a truncated result": program(`${SHOW} return "x".repeat(30000)`),
  "a view with blocks, logs and diagnostics": program(
    `${SHOW} await connecta.emit({ type: "text", text: "beside" }); console.log("one"); return 1`,
    true,
  ),
  "no view": program("return { open: 1 }"),
  "no view, with nothing to return": program("return undefined"),
  "no view, truncated": program('return "x".repeat(30000)'),
  "no view, with logs": program(`console.log(${JSON.stringify(HOSTILE)}); return 1`),
  "no view, of what looks like one": program(
    'return { ui: true, ok: true, error: { code: "x" }, "connecta/ui": { html: "<p>" } }',
  ),
  "failed: program_error": program(`throw new Error(${JSON.stringify(HOSTILE)})`),
  "failed: program_error after a view": program(
    `${SHOW} await connecta.emit({ type: "text", text: "a" }); console.log("b"); return null.x`,
  ),
  "failed: invalid_program": program("async () => { return <b>1</b> }"),
  "failed: not_serializable": program("return { ids: new Map() }"),
  "failed: unknown_tool": program('return connecta.call("tickets.lst")'),
  "failed: unknown_address": program('return connecta.call("nobody.home")'),
  "failed: destructive_tool_requires_approval": program("return tickets.close()"),
  "failed: invalid_args": program("return tickets.list({ cursor: 'first' })"),
  "failed: not_found": program("return tickets.gone()"),
  "failed: auth_required": program("return mail.locked()"),
  "failed: rate_limited": program("return mail.busy()"),
  "failed: connector_call_failed": program("return mail.full()"),
  "failed: budget_exceeded": program("for (;;) await tickets.none()"),
  "failed: executor_limit": program("for (;;);"),
  "value: an object": read("tickets.list", { state: "open", cursor: 4 }),
  "value: null": read("tickets.none"),
  "value: hostile text": read("tickets.note"),
  "value: structure of an MCP server": read("mail.unread"),
  "value: JSON text of an MCP server": read("mail.folders"),
  "value: a block that is no text": read("mail.photo"),
  "value: truncated": read("tickets.export"),
  "value: refused, as it writes": read("tickets.close"),
  "value: refused, as there is no such tool": read("tickets.lst"),
  "value: refused, as there is no such connector": read("nobody.home"),
  "value: refused, for its arguments": read("tickets.list", { cursor: "first" }),
  "value: failed with hostile text": read("tickets.gone"),
  "value: failed, too often": read("mail.busy"),
  "value: failed, signed out": read("mail.locked"),
  "value: failed at the MCP server": read("mail.full"),
  "value: failed, too late": call("tickets.slow", { resultMode: "value", timeoutMs: 20 }),
  "call: an api tool's default": call("tickets.list"),
  "call: an api tool's blocks": call("tickets.list", { resultMode: "mcp" }),
  "call: an MCP tool's default": call("mail.unread"),
  "call: an MCP tool's error": call("mail.full"),
  "call: an image": call("mail.photo"),
  "call: fields, of which one is missing": call("tickets.list", {
    fields: ["items[].id", "total"],
  }),
  "call: with diagnostics": call("tickets.none", { diagnostics: true }),
};
