import { HOST_INFO } from "./host-info.ts";
import {
  Client,
  ProtocolError,
  StreamableHTTPClientTransport,
  type CallToolResult,
  type Tool,
} from "@modelcontextprotocol/client";
import {
  getToolUiResourceUri,
  RESOURCE_MIME_TYPE,
} from "@modelcontextprotocol/ext-apps/app-bridge";
import type { Problem, ToolCall } from "./result.ts";

/** A value, or what the person is told instead. */
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem };

/** Longer than any program or call may take, so that the server answers first. */
const CALL_TIMEOUT_MS = 130_000;

/** The page's MCP client: everything it knows of the server came over `/mcp`. */
export class Gateway {
  readonly server: string;
  readonly protocol: string;
  readonly tools: readonly Tool[];
  readonly #client: Client;
  readonly #shells = new Map<string, string>();

  private constructor(client: Client, tools: readonly Tool[]) {
    const { name, version } = client.getServerVersion() ?? { name: "server", version: "" };
    this.server = `${name} ${version}`.trim();
    this.protocol = client.getNegotiatedProtocolVersion() ?? "";
    this.tools = tools;
    this.#client = client;
  }

  /** Connects to an MCP endpoint and lists its tools. */
  static async connect(url: URL): Promise<Result<Gateway>> {
    const extension = { "io.modelcontextprotocol/ui": { mimeTypes: [RESOURCE_MIME_TYPE] } };
    const client = new Client(HOST_INFO, {
      capabilities: { extensions: extension },
      versionNegotiation: { mode: "auto" },
    });
    return attempt(async () => {
      await client.connect(new StreamableHTTPClientTransport(url));
      const { tools } = await client.listTools();
      return new Gateway(client, tools);
    });
  }

  tool(name: string): Tool | undefined {
    return this.tools.find((tool) => tool.name === name);
  }

  /** Calls a tool; a result with `isError` is a value here. */
  call(call: ToolCall, signal: AbortSignal): Promise<Result<CallToolResult>> {
    const params = { name: call.name, ...(call.arguments && { arguments: call.arguments }) };
    return attempt(() => this.#client.callTool(params, { signal, timeout: CALL_TIMEOUT_MS }));
  }

  /** The page that shows a tool's results, read once per address. */
  async shellOf(tool: Tool | undefined): Promise<Result<string>> {
    const uri = tool && getToolUiResourceUri(tool);
    if (uri === undefined) return refusal("no_view", "The server names no view for this tool.");
    const known = this.#shells.get(uri);
    if (known !== undefined) return { ok: true, value: known };
    const read = await attempt(() => this.#client.readResource({ uri }));
    if (!read.ok) return read;
    const [content] = read.value.contents;
    if (content === undefined || !("text" in content) || content.mimeType !== RESOURCE_MIME_TYPE) {
      return refusal("no_view", `The resource ${uri} is no ${RESOURCE_MIME_TYPE} page.`);
    }
    this.#shells.set(uri, content.text);
    return { ok: true, value: content.text };
  }
}

/** Whether the server lets views call a tool; one that says nothing lets both sides call it. */
export function isForViews(tool: Tool): boolean {
  const ui = tool._meta?.["ui"];
  if (typeof ui !== "object" || ui === null || !("visibility" in ui)) return true;
  return Array.isArray(ui.visibility) && ui.visibility.includes("app");
}

function refusal(code: string, message: string): { ok: false; problem: Problem } {
  return { ok: false, problem: { code, message } };
}

async function attempt<T>(work: () => Promise<T>): Promise<Result<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (error instanceof ProtocolError) {
      return refusal(`error ${error.code}`, error.message);
    }
    if (error instanceof TypeError) {
      return refusal(
        "no_answer",
        "The server does not answer. If it was stopped, start it again as before: npm start, or connecta dev with your configuration.",
      );
    }
    return refusal("failed", error instanceof Error ? error.message : String(error));
  }
}
