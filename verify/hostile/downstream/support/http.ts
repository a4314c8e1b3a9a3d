import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request that a fake server got. */
export interface Asked {
  readonly http: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The JSON-RPC method; empty where there was no message. */
  readonly method: string;
  readonly id: string | number | undefined;
  readonly params: Readonly<Record<string, unknown>>;
  /** Resolves when the client let go of the request before it was answered. */
  readonly gone: Promise<void>;
}

/** Writes one answer; what it does not cover goes to `raw`. */
export interface Reply {
  readonly raw: ServerResponse;
  /** A JSON-RPC result as one JSON document. */
  result(result: unknown, headers?: Readonly<Record<string, string>>): void;
  /** A JSON-RPC error, with HTTP 200 unless told otherwise. */
  error(code: number, message: string, status?: number, data?: unknown): void;
  /** Messages as an event stream that then ends. */
  events(...messages: readonly unknown[]): void;
  /** No message at all. */
  status(code: number, headers?: Readonly<Record<string, string>>, body?: string): void;
}

/** Answers one request; one that is not answered stays open. */
export type Answering = (asked: Asked, reply: Reply) => unknown;

/** A server on the loopback address that does exactly what it is told. */
export interface FakeServer {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** The JSON-RPC methods in order, and HTTP methods where there was no message. */
  readonly methods: readonly string[];
  close(): Promise<void>;
}

/** Starts a fake server. */
export async function fakeServer(answer: Answering): Promise<FakeServer> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const message = parsed(Buffer.concat(chunks).toString());
      const one: Asked = {
        http: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        method: typeof message.method === "string" ? message.method : "",
        id: message.id as Asked["id"],
        params: (message.params ?? {}) as Asked["params"],
        gone: new Promise((resolve) => {
          response.on("close", () => response.writableEnded || resolve());
        }),
      };
      asked.push(one);
      answer(one, replyTo(one, response));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    asked,
    get methods() {
      return asked.map(({ method, http }) => method || http);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function replyTo({ id }: Asked, raw: ServerResponse): Reply {
  const json = (status: number, message: unknown, headers = {}) => {
    raw.writeHead(status, { "content-type": "application/json", ...headers });
    raw.end(JSON.stringify(message));
  };
  return {
    raw,
    result: (result, headers) => json(200, { jsonrpc: "2.0", id, result }, headers),
    error: (code, message, status = 200, data = undefined) =>
      json(status, { jsonrpc: "2.0", id, error: { code, message, data } }),
    events(...messages) {
      raw.writeHead(200, { "content-type": "text/event-stream" });
      for (const message of messages)
        raw.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
      raw.end();
    },
    status(code, headers = {}, body = "") {
      raw.writeHead(code, headers);
      raw.end(body);
    },
  };
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

const CAPABILITIES = { tools: { listChanged: true } };
const TOOL = {
  name: "echo",
  description: "Gives back what it gets.",
  inputSchema: { type: "object" },
  annotations: { readOnlyHint: true },
};

/** Answers a server of the newer generation, except for what `special` answers itself by returning true. */
export function modern(special: Answering = () => false): Answering {
  return (asked, reply) => {
    if (special(asked, reply) === true) return;
    if (asked.method === "server/discover") {
      const cache = { ttlMs: 0, cacheScope: "private" };
      const versions = { supportedVersions: ["2026-07-28"], capabilities: CAPABILITIES };
      return reply.result({ resultType: "complete", ...versions, ...cache });
    }
    answerTools(asked, reply, { resultType: "complete" });
  };
}

/** Answers like a server of the older generation, with a session where `session` is an id. */
export function legacy(special: Answering = () => false, session?: string): Answering {
  return (asked, reply) => {
    if (special(asked, reply) === true) return;
    if (asked.http === "DELETE") return reply.status(200);
    if (asked.http === "GET") return reply.status(405);
    if (asked.method === "initialize") {
      const server = { serverInfo: { name: "fake", version: "1" }, capabilities: CAPABILITIES };
      const headers = session === undefined ? {} : { "mcp-session-id": session };
      return reply.result({ protocolVersion: "2025-06-18", ...server }, headers);
    }
    if (asked.id === undefined) return reply.status(202);
    answerTools(asked, reply, {});
  };
}

function answerTools({ method, params }: Asked, reply: Reply, common: object): void {
  if (method === "tools/list") {
    return reply.result({ ...common, tools: [TOOL], ttlMs: 0, cacheScope: "private" });
  }
  if (method === "tools/call") {
    const text = JSON.stringify(params.arguments);
    return reply.result({ ...common, content: [{ type: "text", text }] });
  }
  reply.error(-32_601, "Method not found");
}
