// A client thin enough that what it measures is the server.
import http from "node:http";

/** Sends JSON-RPC over kept-alive connections and keeps the time of each answer. */
export class Client {
  #url;
  #agent = new http.Agent({ keepAlive: true, maxSockets: 1024, scheduling: "lifo" });
  #id = 0;

  /** @param {string} url of an MCP endpoint */
  constructor(url) {
    this.#url = new URL(url);
  }

  /**
   * @param {string} method
   * @param {object} params
   * @param {AbortSignal} [signal] closes the request
   * @returns {Promise<{ ms: number, failure: string | undefined, result: any }>}
   */
  send(method, params, signal) {
    const body = JSON.stringify({ jsonrpc: "2.0", id: ++this.#id, method, params });
    const since = performance.now();
    return new Promise((resolve) => {
      const ended = (failure, result) =>
        resolve({ ms: performance.now() - since, failure, result });
      const request = http.request(
        this.#url,
        { method: "POST", agent: this.#agent, headers: headers(body), signal },
        (response) => {
          const chunks = [];
          response.on("data", (chunk) => chunks.push(chunk));
          response.on("error", (error) => ended(error.code ?? error.message));
          response.on("end", () => ended(...read(response.statusCode, Buffer.concat(chunks))));
        },
      );
      request.on("error", (error) => ended(error.code ?? error.message));
      request.end(body);
    });
  }

  /** Calls a tool of the gateway. */
  tool(name, args, signal) {
    return this.send("tools/call", { name, arguments: args }, signal);
  }

  /** Runs a program. */
  run(code, signal) {
    return this.tool("execute_code", { code }, signal);
  }

  /** An instant read, the same on the floor, which knows this one tool. */
  read() {
    return this.tool("call_tool", { address: "crm.get_record", args: { id: "r7" } });
  }

  close() {
    this.#agent.destroy();
  }
}

function headers(body) {
  return {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
  };
}

/** The failure of an answer, if any, and its result. */
function read(status, bytes) {
  const text = bytes.toString("utf8");
  if (status !== 200) return [`http ${status}`, undefined];
  const message = JSON.parse(
    text.startsWith("{") ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? "{}"),
  );
  if (message.result === undefined) return [`rpc ${message.error?.code}`, undefined];
  const { result } = message;
  if (result.isError !== true) return [undefined, result];
  return [result.structuredContent?.error?.code ?? "isError", result];
}

/** The value below which this share of the samples lies. */
export function quantile(samples, share) {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? NaN;
}

/** The middle of the samples. */
export function median(samples) {
  return quantile(samples, 0.5);
}

/**
 * Milliseconds of `count` calls one after the other.
 * @param {() => Promise<{ ms: number, failure: string | undefined }>} call
 * @throws when one fails: a figure of failures would look like a good one
 */
export async function sequence(call, count) {
  const samples = [];
  for (let index = 0; index < count; index++) {
    const { ms, failure } = await call();
    if (failure !== undefined) throw new Error(`a measured call failed: ${failure}`);
    samples.push(ms);
  }
  return samples;
}
