/** A tool result as a client reads it. */
export interface ToolAnswer {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent: Record<string, unknown>;
  readonly isError?: boolean;
  readonly _meta?: Record<string, unknown>;
}

/** How a call is made. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Whether to speak as clients of the newer protocol generation do. */
  readonly modern?: boolean;
}

/** What a case has of a deployment: its MCP surface and nothing else. */
export interface Gateway {
  /** Runs a program. */
  run(code: string, options?: CallOptions & { diagnostics?: boolean }): Promise<ToolAnswer>;
  /** Calls any of the seven tools. */
  tool(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<ToolAnswer>;
}

/** Speaks MCP to a deployment through its `fetch`, wherever it runs. */
export function gatewayOf(fetch: (request: Request) => Promise<Response>): Gateway {
  const tool: Gateway["tool"] = async (name, args, options = {}) => {
    const response = await fetch(request(name, args, options));
    const body = await response.text();
    const message = JSON.parse(messageIn(body)) as { result?: ToolAnswer };
    if (message.result === undefined) throw new Error(body);
    return message.result;
  };
  return {
    tool,
    run: (code, { diagnostics, ...options } = {}) =>
      tool("execute_code", { code, ...(diagnostics && { diagnostics }) }, options),
  };
}

/** The JSON of an answer, which comes as such or as an event; lines end with \n alone. */
function messageIn(body: string): string {
  const data = body.split("\n").find((line) => line.startsWith("data: "));
  return data === undefined ? body : data.slice("data: ".length);
}

const MODERN = "2026-07-28";
const META = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

function request(
  name: string,
  args: Record<string, unknown>,
  { signal, modern = false }: CallOptions,
): Request {
  const method = "tools/call";
  return new Request("http://127.0.0.1:8787/mcp", {
    method: "POST",
    ...(signal && { signal }),
    headers: {
      host: "127.0.0.1:8787",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": modern ? MODERN : "2025-11-25",
      ...(modern && { "mcp-method": method, "mcp-name": name }),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: { name, arguments: args, ...(modern && { _meta: META }) },
    }),
  });
}
