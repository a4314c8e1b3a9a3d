import {
  api,
  createConnecta,
  ToolError,
  type Connecta,
  type ConnectaConfig,
  type Connector,
} from "../../server/index.ts";
import { quickjsExecutor } from "../../server/sandbox/pool.ts";
import { post, type Answer as Posted } from "../../verify/support/messages.ts";

/** A JSON-RPC answer, taken apart. */
export interface Answer extends Posted {
  readonly result: Record<string, unknown>;
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Protocol generation of a request. */
export type Era = "legacy" | "modern";

const MODERN = "2026-07-28";

/** Whatever answers requests, a whole deployment or a part of one. */
interface Served {
  fetch(request: Request): Promise<Response>;
}

/** Sends one JSON-RPC request to a deployment without a socket between. */
export async function rpc(
  connecta: Served,
  method: string,
  params: Record<string, unknown> = {},
  era: Era = "legacy",
): Promise<Answer> {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const name = typeof params.name === "string" ? params.name : params.uri;
  const modern = {
    "mcp-protocol-version": MODERN,
    "mcp-method": method,
    ...(typeof name === "string" && { "mcp-name": name }),
  };
  const { status, text } = await post(
    "http://127.0.0.1:8787",
    method,
    era === "modern" ? { ...params, _meta: meta } : params,
    {
      headers: { host: "127.0.0.1:8787", ...(era === "modern" && modern) },
      fetch: (request) => connecta.fetch(request),
    },
  );
  const message = JSON.parse(text) as Pick<Answer, "result" | "error">;
  return { status, text, result: message.result, error: message.error };
}

/** A tool result, typed as far as tests look into it. */
export interface CallAnswer {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
  readonly _meta?: Record<string, unknown>;
}

/** Calls one of the seven tools. */
export async function callTool(
  connecta: Served,
  name: string,
  args: Record<string, unknown> = {},
  era: Era = "legacy",
): Promise<CallAnswer> {
  const answer = await rpc(connecta, "tools/call", { name, arguments: args }, era);
  if (answer.result === undefined) throw new Error(answer.text);
  return answer.result as unknown as CallAnswer;
}

/** Runs a program and hands back the whole tool result. */
function run(connecta: Served, code: string, diagnostics = false) {
  return callTool(connecta, "execute_code", { code, ...(diagnostics && { diagnostics }) });
}

const READ = { readOnlyHint: true } as const;
const ID = {
  type: "object",
  properties: { id: { type: "string" } },
  required: ["id"],
  additionalProperties: false,
} as const;

/** What the fixture's writing tool was called with. */
export interface Fixture {
  readonly connecta: Connecta;
  readonly written: unknown[];
  readonly slow: Slow;
}

/** Follows the tool that answers only when it is cancelled. */
export interface Slow {
  readonly started: Promise<void>;
  readonly aborted: Promise<void>;
  start(): void;
  abort(): void;
}

function followSlow(): Slow {
  let [start, abort] = [() => {}, () => {}];
  const started = new Promise<void>((resolve) => (start = resolve));
  const aborted = new Promise<void>((resolve) => (abort = resolve));
  return { started, aborted, start, abort };
}

/** Two small connectors; what the writing tool was called with lands in `written`. */
export function fixtureConnectors(written: unknown[] = [], slow = followSlow()): Connector[] {
  const crm = api({
    id: "crm",
    description: "Customer records",
    usageGuide: "Use ids like r7.",
    tools: {
      get_record: {
        description: "Get one record by id.",
        inputSchema: ID,
        annotations: READ,
        handler: ({ id }: { id: string }) => {
          if (id === "gone") throw new ToolError("No such record.", { code: "not_found" });
          return { id, name: `Record ${id}`, amount: 137 };
        },
      },
      big: {
        description: "A large text.",
        inputSchema: { type: "object", properties: { chars: { type: "integer" } } },
        annotations: READ,
        handler: ({ chars = 200_000 }: { chars?: number }) => "é".repeat(chars),
      },
      slow: {
        description: "Waits until it is cancelled.",
        inputSchema: { type: "object" },
        annotations: READ,
        handler: (_: never, { signal }) =>
          new Promise((_, reject) => {
            slow.start();
            signal.addEventListener("abort", () => {
              slow.abort();
              reject(new Error("aborted"));
            });
          }),
      },
      update_record: {
        description: "Change a record.",
        inputSchema: ID,
        annotations: { readOnlyHint: false, destructiveHint: true },
        handler: (args: unknown) => {
          written.push(args);
          return { changed: true };
        },
      },
    },
  });
  const tickets = api({
    id: "tickets-eu",
    tools: {
      "list-open": {
        description: "List open tickets.",
        inputSchema: { type: "object" },
        annotations: READ,
        handler: () => [{ id: 1 }, { id: 2 }],
      },
    },
  });
  return [crm, tickets];
}

/** A deployment of the fixture connectors; close it when done. */
export function fixtureGateway(config: Partial<ConnectaConfig> = {}): Fixture {
  const written: unknown[] = [];
  const slow = followSlow();
  const connecta = createConnecta({
    connectors: fixtureConnectors(written, slow),
    executor: quickjsExecutor({ processes: 1 }),
    ...config,
  });
  return { connecta, written, slow };
}

/** Short ways to run a program on a deployment: the whole answer, its result, its error. */
export function programs(fixture: () => Fixture) {
  const whole = (code: string, diagnostics = false) => run(fixture().connecta, code, diagnostics);
  return {
    run: whole,
    result: async (code: string) => (await whole(code)).structuredContent?.result,
    /** The error of a program that must fail, whose text must say the same as its structure. */
    error: async (code: string) => {
      const { isError, content, structuredContent } = await whole(code);
      const [only, ...more] = content;
      if (isError !== true || more.length > 0 || only?.text !== JSON.stringify(structuredContent)) {
        throw new Error(`not a plain failure: ${JSON.stringify(content)}`);
      }
      return (structuredContent as { error: Record<string, unknown> }).error;
    },
  };
}
