import type { Client, Transport, VersionNegotiationMode } from "@modelcontextprotocol/client";
import type { JsonSchema } from "../../shared/contracts.ts";
import { unpack } from "./carrier.ts";

/** Loaded with the first connection: it takes longer than everything else that starts. */
export const loadSdk = () => import("@modelcontextprotocol/client");

/** What servers are told about us. */
const CLIENT = { name: "connecta", version: "0.1.0" };

/** Requests end with their caller's signal; the client's own timer must not come first. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Results are checked by nobody here: what a tool promises is between it and its caller. */
const NO_VALIDATOR = {
  getValidator: () => () => ({
    valid: true as const,
    data: undefined as never,
    errorMessage: undefined,
  }),
};

/**
 * A client of the official kind that offers servers nothing and relays nothing.
 * @param mode which protocol generations to try
 * @param probeMs how long a server may be silent about the newer generation, in milliseconds
 */
export async function makeClient(mode: VersionNegotiationMode, probeMs: number): Promise<Client> {
  const { Client } = await loadSdk();
  return new Client(CLIENT, {
    capabilities: {},
    jsonSchemaValidator: NO_VALIDATOR,
    versionNegotiation: { mode, probe: { timeoutMs: probeMs } },
    inputRequired: { autoFulfill: false },
  });
}

/** Calls back when the server says on this connection that its tools changed. */
export function hearToolChanges(client: Client, changed: () => void): void {
  client.setNotificationHandler("notifications/tools/list_changed", changed);
}

/** One page of the tool list, as the server wrote it. */
export async function askForPage(
  client: Client,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  const params = cursor === undefined ? {} : { cursor };
  const options = { signal, timeout: NO_TIMEOUT_MS };
  return unpack(await client.request({ method: "tools/list", params }, options));
}

/** One call, as {@link askForResult} makes it. */
export interface ToolCall {
  readonly name: string;
  readonly args: Record<string, unknown>;
  /** Where the tool wants arguments repeated as HTTP headers; others may be left out. */
  readonly inputSchema?: JsonSchema | undefined;
}

/** A tool's result, as the server wrote it. */
export async function askForResult(
  client: Client,
  { name, args, inputSchema = {} }: ToolCall,
  signal: AbortSignal,
): Promise<unknown> {
  // Without a definition the client would list all tools before it gives up on a refused header.
  const toolDefinition = { name, inputSchema: { ...inputSchema, type: "object" as const } };
  const options = { signal, timeout: NO_TIMEOUT_MS, toolDefinition };
  return unpack(await client.callTool({ name, arguments: args }, options));
}

/** Makes the handshake, or takes up one that was made, within the signal. */
export function connect(client: Client, transport: Transport, signal: AbortSignal): Promise<void> {
  return client.connect(transport, { signal, timeout: NO_TIMEOUT_MS });
}
