/** An answer as it stood on the wire. */
export interface Answer {
  readonly status: number;
  /** The JSON text of the message, whether it came as JSON or as an event. */
  readonly text: string;
}

/** How a request is sent. */
export interface Sending {
  /** Beside, or instead of, those that a client of 2025 sends. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Takes the request in place of the network. */
  readonly fetch?: (request: Request) => Promise<Response>;
}

/** Sends one JSON-RPC request to the endpoint of a gateway. */
export async function post(
  url: string,
  method: string,
  params: unknown,
  { headers, fetch: send = fetch }: Sending = {},
): Promise<Answer> {
  const response = await send(
    new Request(`${url}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-11-25",
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    }),
  );
  const body = await response.text();
  return { status: response.status, text: /^data: (.*)$/m.exec(body)?.[1] ?? body };
}

/** The header of a caller with a token; none without one. */
export function bearer(token: string | undefined): Readonly<Record<string, string>> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}
