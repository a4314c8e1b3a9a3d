import { afterAll, afterEach, expect } from "vitest";
import { createConnecta, type Connecta, type ConnectaConfig } from "../../server/index.ts";
import { quickjsExecutor } from "../../server/sandbox/pool.ts";
import type { Connector, Executor, Tool, ToolPolicy } from "../../server/shared/contracts.ts";
import { fail, ok, type FailureCode } from "../../server/shared/failure.ts";
import type { ViewPayload } from "../../server/view/protocol.ts";
import { mergeArguments } from "../../shell/src/arguments.ts";
import { unwrapCall, type ReadOutcome } from "../../shell/src/unwrap.ts";
import type { CallAnswer } from "../support/gateway.ts";

const open: Connecta[] = [];
const sandbox = quickjsExecutor({ processes: 1 });
/** One sandbox for all deployments of a test file, each of which may close without it. */
export const SHARED: Executor = { execute: (...run) => sandbox.execute(...run) };
afterEach(async () => {
  for (const connecta of open.splice(0)) await connecta.close();
});
afterAll(() => sandbox.close());

const LIST: Tool = {
  name: "list",
  description: "List tickets.",
  inputSchema: { type: "object", properties: { cursor: { type: "integer" }, state: {} } },
  annotations: { readOnlyHint: true },
};
const CLOSE: Tool = { ...LIST, name: "close", annotations: { readOnlyHint: false } };

/** An integration that may change under a view; it keeps what reached it. */
export function ticketDesk() {
  const listeners: (() => void)[] = [];
  const desk = {
    tools: [LIST, CLOSE] as readonly Tool[],
    failing: undefined as FailureCode | undefined,
    reads: [] as unknown[],
    writes: [] as unknown[],
    /** Called at each read. */
    onRead: () => {},
    change(list: Partial<Tool> | undefined) {
      desk.tools = list ? [{ ...LIST, ...list }, CLOSE] : [CLOSE];
      for (const listener of listeners) listener();
    },
    connector(policy?: ToolPolicy): Connector {
      return {
        id: "desk",
        kind: "api",
        ...(policy && { policy }),
        onToolsChanged: (listener) => void listeners.push(listener),
        listTools: () => Promise.resolve(ok(desk.tools)),
        callTool: async (name, args, { signal }) => {
          if (desk.failing === "timeout") await new Promise((_, no) => (signal.onabort = no));
          if (desk.failing) return fail(desk.failing, "As it was asked to.");
          (name === "list" ? desk.reads : desk.writes).push(args);
          desk.onRead();
          return ok({ kind: "value", value: { first: "Printer on fire" } });
        },
      };
    },
  };
  return desk;
}

/** A {@link ticketDesk}. */
export type Desk = ReturnType<typeof ticketDesk>;

/** Serves these connectors until the end of the test. */
export function deploy(
  connectors: readonly Connector[],
  config: Partial<ConnectaConfig> = {},
): Connecta {
  const connecta = createConnecta({ connectors, executor: SHARED, ...config });
  open.push(connecta);
  return connecta;
}

/** What is special about a request. */
export interface Sent {
  readonly token?: string;
  readonly origin?: string;
  /** What a client of the newer protocol generation says that it can do; none is an older client. */
  readonly capabilities?: object;
}

/** Sends one request and hands back the response as it is. */
export function send(connecta: Connecta, method: string, params: object, sent: Sent = {}) {
  const { token, origin, capabilities } = sent;
  const { name } = params as { name?: string };
  const modern = capabilities && {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
  const headers: Record<string, string> = {
    host: "127.0.0.1:8787",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": modern ? "2026-07-28" : "2025-11-25",
    ...(modern && { "mcp-method": method, ...(name !== undefined && { "mcp-name": name }) }),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(origin !== undefined && { origin }),
  };
  const body = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: modern ?? {} } };
  return connecta.fetch(
    new Request("http://127.0.0.1:8787/mcp", {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    }),
  );
}

/** The JSON-RPC messages of an answer, which comes as one or as events. */
export const messages = (body: string) =>
  body.startsWith("{") ? [body] : [...body.matchAll(/^data: (.+)$/gm)].map(([, data = ""]) => data);

/** Calls one of the seven tools. */
export async function call(connecta: Connecta, name: string, args: object, sent?: Sent) {
  const response = await send(connecta, "tools/call", { name, arguments: args }, sent);
  const [message = ""] = messages(await response.text());
  return (JSON.parse(message) as { result: CallAnswer }).result;
}

/** The view that an answer carries. */
export const payloadOf = ({ _meta }: CallAnswer) =>
  _meta?.["connecta/ui"] as ViewPayload | undefined;

/** Renders a view with one read. */
export const PROGRAM = `await connecta.ui("<h1>Tickets</h1>", { reads: {
  page: { address: "desk.list", fixedArgs: { state: "open" }, viewArgs: ["cursor"] } } });
return { shown: 1 }`;

/** Renders the view of {@link PROGRAM}; its manifest is all that a host keeps of it. */
async function render(connecta: Connecta, sent?: Sent): Promise<ViewPayload> {
  const payload = payloadOf(await call(connecta, "execute_code", { code: PROGRAM }, sent));
  if (!payload) throw new Error("nothing was rendered");
  return payload;
}

/** The call that the shell makes for a read of the rendered view. */
export function callOf({ reads = {} }: ViewPayload, supplied: object = { cursor: 4 }) {
  const { page } = reads;
  const merged = page && mergeArguments(page, supplied);
  if (!merged?.ok) throw new Error("the shell refuses this read");
  return { address: page?.address, args: merged.value, resultMode: "value" };
}

/** One read, up to what the view is told. */
export async function read(
  connecta: Connecta,
  view: ViewPayload,
  sent?: Sent,
): Promise<ReadOutcome> {
  return unwrapCall(await call(connecta, "call_tool", callOf(view), sent));
}

/** How a read settles that reached the desk. */
export const VALUE = { ok: true, value: { first: "Printer on fire" } };
/** The code of a rejected read, or `ok`. */
export const codeOf = (outcome: ReadOutcome) => (outcome.ok ? "ok" : outcome.error.code);

/** A view that was rendered and whose read works: the control of every case below. */
export async function rendered(config: Partial<ConnectaConfig> = {}, sent?: Sent) {
  const desk = ticketDesk();
  const connecta = deploy([desk.connector()], config);
  const view = await render(connecta, sent);
  expect(await read(connecta, view, sent)).toEqual(VALUE);
  expect(desk.reads.splice(0)).toEqual([{ state: "open", cursor: 4 }]);
  return { desk, connecta, view };
}
