// What the downstream servers of the soak have in common: tools that answer, and tools that fail.
const READ = { readOnlyHint: true };
const INPUT = { type: "object", properties: { nonce: { type: "string" } } };

/** Every tool is asked with a nonce; only `echo` gives it back. */
const NAMES = ["echo", "hang", "garbage", "crash", "refuse"];

/**
 * Answers one JSON-RPC message as an MCP server of 2025 does.
 * @param {any} message
 * @returns {{ body?: object, misbehave?: string }} nothing of both for what needs no answer
 */
export function answerTo({ id, method, params }) {
  const result = (value) => ({ body: { jsonrpc: "2.0", id, result: value } });
  if (id === undefined) return {};
  if (method === "initialize") {
    return result({
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "soak downstream", version: "1" },
    });
  }
  if (method === "tools/list") {
    const tools = NAMES.map((name) => ({ name, inputSchema: INPUT, annotations: READ }));
    return result({ tools });
  }
  if (method !== "tools/call") {
    return { body: { jsonrpc: "2.0", id, error: { code: -32_601, message: "Method not found" } } };
  }
  const { name, arguments: args } = params;
  if (name === "echo") {
    const value = { nonce: args.nonce };
    return result({
      content: [{ type: "text", text: JSON.stringify(value) }],
      structuredContent: value,
    });
  }
  if (name === "refuse") {
    return result({ content: [{ type: "text", text: "Refused." }], isError: true });
  }
  return { misbehave: name };
}
