import { Agent, request } from "node:http";

const PATIENCE_MS = 60_000;

/** Sends JSON-RPC requests and hands over every message that came back, however many. */
export class Wire {
  #url;
  #through;
  #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  /**
   * @param {string} url of an MCP endpoint
   * @param {(text: string) => string | undefined} through what happens to an answer on its way
   */
  constructor(url, through) {
    this.#url = new URL(url);
    this.#through = through;
  }

  /**
   * @param {string} id of the request
   * @param {string} name one of the seven tools
   * @param {object} args
   * @param {AbortSignal} [signal] closes the request
   * @returns {Promise<{ messages: any[], problem?: string, ms: number }>}
   */
  send(id, name, args, signal) {
    const params = { name, arguments: args };
    const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
    const since = performance.now();
    return new Promise((resolve) => {
      const end = (messages, problem) =>
        resolve({ messages, ms: performance.now() - since, ...(problem && { problem }) });
      const sent = request(this.#url, {
        method: "POST",
        agent: this.#agent,
        signal,
        timeout: PATIENCE_MS,
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2025-11-25",
        },
      });
      sent.on("timeout", () => sent.destroy(new Error(`no answer in ${PATIENCE_MS} ms`)));
      sent.on("error", (error) => end([], error.code ?? error.message));
      sent.on("response", (response) => {
        const chunks = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("error", (error) => end([], error.code ?? error.message));
        response.on("end", () => {
          const text = this.#through(Buffer.concat(chunks).toString("utf8"));
          end(...messagesIn(text ?? "", response.statusCode));
        });
      });
      sent.end(body);
    });
  }

  close() {
    this.#agent.destroy();
  }
}

/** Every message of a body, which is JSON or a stream of events. */
function messagesIn(text, status) {
  if (status !== 200) return [[], `http ${status}`];
  const lines = text.split("\n").flatMap((line) => {
    const json = line.startsWith("data: ") ? line.slice("data: ".length) : line;
    return json.startsWith("{") ? [json] : [];
  });
  try {
    return [lines.map((line) => JSON.parse(line)), undefined];
  } catch {
    return [[], "a body that is no JSON"];
  }
}
