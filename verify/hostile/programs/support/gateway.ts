import { Agent, request } from "node:http";

/** How a program ended: "ok" with a result, or the code of its error. */
export interface Ended {
  readonly code: string;
  readonly limit?: string;
  readonly result?: unknown;
  readonly logs?: string;
}

/** What a request is answered with when its connection closed first. */
export const CLOSED: Ended = { code: "the connection closed" };

interface Answer {
  readonly status: number;
  readonly text: string;
}

interface Envelope {
  readonly result?: unknown;
  readonly logs?: string;
  readonly ok?: boolean;
  readonly data?: unknown;
  readonly error?: { readonly code: string; readonly limit?: string };
}

/** A client of the real endpoint; what it cannot read is thrown, not guessed. */
export class Gateway {
  readonly #origin: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Runs a program; {@link CLOSED} when the signal closed the request first. */
  async run(code: string, signal?: AbortSignal): Promise<Ended> {
    const answer = await this.#tool("execute_code", { code }, signal);
    if (answer === undefined) return CLOSED;
    const { error, result, logs } = answer;
    const said = logs === undefined ? {} : { logs };
    if (error === undefined) return { code: "ok", result, ...said };
    const { limit } = error;
    return { code: error.code, ...(limit !== undefined && { limit }), ...said };
  }

  /**
   * Calls one tool outside of any program.
   * @throws when the call failed
   */
  async call(address: string, args: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    const answer = await this.#tool("call_tool", { address, args });
    if (answer?.ok === true) return answer.data;
    throw new Error(`${address} failed: ${JSON.stringify(answer)}`);
  }

  /** The HTTP status of `/health`. */
  async health(): Promise<number> {
    const answer = await this.#send("GET", "/health");
    return answer?.status ?? 0;
  }

  /** Closes what is kept open. */
  close(): void {
    this.#agent.destroy();
  }

  async #tool(name: string, args: unknown, signal?: AbortSignal): Promise<Envelope | undefined> {
    const params = { name, arguments: args };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const answer = await this.#send("POST", "/mcp", body, signal);
    if (answer === undefined) return undefined;
    const text = /^data: (.+)$/m.exec(answer.text)?.[1] ?? answer.text;
    const message = JSON.parse(text) as { result?: { structuredContent?: Envelope } };
    const envelope = message.result?.structuredContent;
    if (answer.status === 200 && envelope !== undefined) return envelope;
    throw new Error(`${name} was answered with ${answer.status}: ${answer.text.slice(0, 500)}`);
  }

  #send(
    method: string,
    path: string,
    body = "",
    signal?: AbortSignal,
  ): Promise<Answer | undefined> {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "content-length": Buffer.byteLength(body),
    };
    const options = { method, headers, agent: this.#agent, ...(signal && { signal }) };
    return new Promise((resolve, reject) => {
      const failed = (error: Error) => (signal?.aborted ? resolve(undefined) : reject(error));
      const sent = request(`${this.#origin}${path}`, options, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("error", failed);
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      });
      sent.on("error", failed);
      sent.end(body);
    });
  }
}
