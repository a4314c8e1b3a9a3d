const REFUSED = -32_000;

/** An HTTP refusal that JSON-RPC clients can read as well. */
export function refuse(
  status: number,
  message: string,
  headers: Record<string, string> = {},
  code: number = REFUSED,
): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status, headers });
}
