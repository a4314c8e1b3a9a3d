import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { isRecord } from "../shared/record.ts";

/** What was seen of the requests to one origin; no header's value and no body is kept. */
export interface Wire {
  /** Why the last attempt to connect failed, such as `ENOTFOUND`. */
  connectError: string | undefined;
  /** The last answer. */
  status: number | undefined;
  contentType: string | undefined;
  /** Whether a request was sent that only a server gets with which the handshake was made. */
  greeted: boolean;
  close(): void;
}

const CHANNELS = {
  connect: "undici:client:connectError",
  sent: "undici:client:sendHeaders",
  answered: "undici:request:headers",
} as const;

/** The first request of the newer generation; whatever else names a method comes after it. */
const FIRST_METHODS = /^(?:server\/discover|initialize)$/;

/** Watches the requests that this process makes to one origin, whoever makes them. */
export function watchWire({ origin, hostname }: URL): Wire {
  const wire: Wire = {
    connectError: undefined,
    status: undefined,
    contentType: undefined,
    greeted: false,
    close: () => {
      unsubscribe(CHANNELS.connect, onConnectError);
      unsubscribe(CHANNELS.sent, onSent);
      unsubscribe(CHANNELS.answered, onAnswered);
    },
  };
  const isOurs = (request: unknown) => isRecord(request) && String(request.origin) === origin;
  const onConnectError = (message: unknown) => {
    if (!isRecord(message) || !isRecord(message.connectParams)) return;
    if (String(message.connectParams.hostname) !== hostname.replace(/^\[|\]$/g, "")) return;
    wire.connectError = codeOf(message.error);
  };
  const onSent = (message: unknown) => {
    if (!isRecord(message) || !isOurs(message.request)) return;
    const { headers } = message.request as { readonly headers?: unknown };
    const names = lowerCased(headers);
    const method = names.get("mcp-method");
    if (names.has("mcp-session-id") || (method !== undefined && !FIRST_METHODS.test(method))) {
      wire.greeted = true;
    }
    if (method === undefined && names.has("mcp-protocol-version")) wire.greeted = true;
  };
  const onAnswered = (message: unknown) => {
    if (!isRecord(message) || !isOurs(message.request) || !isRecord(message.response)) return;
    const { statusCode, headers } = message.response;
    wire.status = typeof statusCode === "number" ? statusCode : undefined;
    wire.contentType = lowerCased(headers).get("content-type")?.split(";")[0]?.trim();
  };
  subscribe(CHANNELS.connect, onConnectError);
  subscribe(CHANNELS.sent, onSent);
  subscribe(CHANNELS.answered, onAnswered);
  return wire;
}

/** Headers as the client keeps them: names and values in turn. */
function lowerCased(headers: unknown): Map<string, string> {
  const list: unknown[] = Array.isArray(headers) ? headers : [];
  const found = new Map<string, string>();
  for (let i = 0; i + 1 < list.length; i += 2) {
    found.set(String(list[i]).toLowerCase(), String(list[i + 1]));
  }
  return found;
}

/** Several addresses of one name fail together; the first says why. */
function codeOf(error: unknown): string {
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const code = isRecord(first) || first instanceof Error ? Reflect.get(first, "code") : undefined;
  return typeof code === "string" ? code : "unknown";
}
