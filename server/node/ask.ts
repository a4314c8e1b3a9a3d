import type { Connecta } from "../index.ts";
import { UsageError } from "./cli-command.ts";

/** What one of the seven tools answered. */
export interface Answer {
  readonly content: readonly { readonly type: string; readonly text?: unknown }[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/**
 * Calls one of the seven tools as a client would.
 * @throws UsageError where the request itself is refused, such as one that is too large
 */
export async function ask(
  connecta: Pick<Connecta, "fetch">,
  name: string,
  args: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const params = { name, arguments: args };
  const response = await connecta.fetch(
    new Request("http://localhost/mcp", {
      method: "POST",
      headers: {
        host: "localhost",
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-11-25",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    }),
  );
  const body = await response.text();
  const message: unknown = JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? body);
  const { result, error } = message as {
    readonly result?: Answer;
    readonly error?: { readonly message?: string };
  };
  if (result === undefined) throw new UsageError(error?.message ?? `HTTP ${response.status}.`);
  return result;
}
