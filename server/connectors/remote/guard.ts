import type { FetchLike } from "@modelcontextprotocol/client";
import { failure, type Failure } from "../../shared/failure.ts";
import { HostRefused, type OutboundFetch } from "../../shared/outbound.ts";
import { refused, Refused } from "../mcp/failures.ts";
import { retryAfter } from "../retry-after.ts";

/** Bounds of one exchange with a server. */
export interface GuardOptions {
  /** The connector that a failure's message names. */
  readonly id: string;
  /** Bytes of all answers together, after decompression. */
  readonly maxBytes: number;
  /** Whether redirects within the origin are followed; others never are. */
  readonly redirects: "same-origin" | "none";
  /** Milliseconds since the epoch, for a Retry-After that is a date. */
  readonly now: () => number;
  /** Makes the requests. */
  readonly fetch: OutboundFetch;
}

/** Requests under bounds, and what was learned from their answers. */
export interface Guard {
  readonly fetch: FetchLike;
  /** Why an answer was broken off, where the client does not pass the error on. */
  readonly broken: () => Refused | undefined;
  /** Whether the latest answer is a stream, on which a message may still come. */
  readonly isStreaming: () => boolean;
}

/** Thrown when the server does not know the session any more. */
export class SessionLost extends Refused {}

/** Makes the `fetch` of one exchange: statuses become typed failures, bodies are counted. */
export function guard(options: GuardOptions): Guard {
  const what = `The server of ${options.id}`;
  let broken: Refused | undefined;
  let streaming = false;
  let left = options.maxBytes;
  const breakOff = (reason: Refused) => (broken ??= reason);
  const tooLarge = () => {
    const { maxBytes } = options;
    return failure("result_too_large", `${what} sent more than ${maxBytes} bytes.`, { maxBytes });
  };
  const bounded = (body: Body, kind: Kind) => {
    const form = kind === "events" ? eventCount(what) : notAList(what, kind);
    return watched(body, {
      objection: (chunk) => {
        left -= chunk.byteLength;
        const failed = left < 0 ? tooLarge() : form(chunk);
        return failed && breakOff(new Refused(failed));
      },
      lost: (error) => breakOff(unreachable(what, error)),
    });
  };
  return {
    broken: () => broken,
    isStreaming: () => streaming,
    async fetch(url, init) {
      if (isStandingStream(init)) return new Response(null, { status: 405 });
      const response = await attempt(options, what, url, init);
      const refusal = refusalOf(what, response, init, options);
      if (refusal !== undefined) {
        void response.body?.cancel().catch(() => undefined);
        throw breakOff(refusal);
      }
      const { status, statusText, headers, body } = response;
      const kind = kindOf(headers.get("content-type") ?? "");
      streaming = kind === "events";
      if (body === null) return response;
      return new Response(bounded(body, kind), { status, statusText, headers });
    },
  };
}

/** Nobody listens between requests; only the rest of an interrupted answer is fetched with GET. */
function isStandingStream(init: RequestInit | undefined): boolean {
  return init?.method === "GET" && !new Headers(init.headers).has("last-event-id");
}

async function attempt(
  { id, fetch }: GuardOptions,
  what: string,
  url: string | URL,
  init: RequestInit | undefined,
): Promise<Response> {
  try {
    return await fetch(url, { ...init, redirect: "manual" });
  } catch (error) {
    if (error instanceof HostRefused) throw refused("connector_call_failed", error.told(id));
    if (init?.signal?.aborted === true) throw error;
    throw unreachable(what, error);
  }
}

function refusalOf(
  what: string,
  response: Response,
  init: RequestInit | undefined,
  options: GuardOptions,
): Refused | undefined {
  const { status, headers } = response;
  if (isRedirect(response)) {
    // The client follows those that stay within the origin, and no other.
    if (options.redirects === "same-origin") return undefined;
    const text = `${what} redirects (HTTP ${status || "3xx"}), which is not followed.`;
    return new Refused(failure("connector_call_failed", text), status);
  }
  if (status === 404 && new Headers(init?.headers).has("mcp-session-id")) {
    return new SessionLost(failure("unavailable", `${what} ended the session.`), status);
  }
  const wait = retryAfter(headers.get("retry-after"), options.now());
  const refused = statusFailure(status, what, wait === undefined ? {} : { retryAfterMs: wait });
  return refused && new Refused(refused, status, headers.get("www-authenticate") ?? undefined);
}

function statusFailure(
  status: number,
  what: string,
  wait: { readonly retryAfterMs?: number },
): Failure | undefined {
  switch (status) {
    case 401:
      return failure("auth_required", `${what} asks for a credential (HTTP 401).`);
    case 403:
      return failure("auth_required", `${what} does not accept the credential (HTTP 403).`);
    case 429:
      return failure("rate_limited", `${what} limits the rate of requests (HTTP 429).`, wait);
    default:
      if (status < 500) return undefined;
      return failure("unavailable", `${what} does not work at the moment (HTTP ${status}).`, wait);
  }
}

function isRedirect({ type, status }: Response): boolean {
  return type === "opaqueredirect" || [301, 302, 303, 307, 308].includes(status);
}

function unreachable(what: string, error: unknown): Refused {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const code: unknown = cause instanceof Error && "code" in cause ? cause.code : undefined;
  const known = typeof code === "string" && /^[A-Z_]{3,40}$/.test(code) ? ` (${code})` : "";
  return new Refused(failure("unavailable", `${what} cannot be reached${known}.`));
}

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;
type Kind = "events" | "json" | "other";
type Objection = (chunk: Uint8Array) => Failure | undefined;

function kindOf(contentType: string): Kind {
  if (/^\s*text\/event-stream\b/i.test(contentType)) return "events";
  return /^\s*application\/json\b/i.test(contentType) ? "json" : "other";
}

interface Watch {
  /** Why the body is read no further. */
  readonly objection: (chunk: Uint8Array) => Refused | undefined;
  readonly lost: (error: unknown) => Refused;
}

/** A body that is read until there is an objection, and whose end by force is a typed failure. */
function watched(body: Body, watch: Watch): Body {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      let objection: Refused | undefined;
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        objection = watch.objection(value);
        if (objection === undefined) return controller.enqueue(value);
      } catch (error) {
        return controller.error(watch.lost(error));
      }
      controller.error(objection);
      await reader.cancel().catch(() => undefined);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

const [NEWLINE, RETURN, SPACE, TAB, LIST] = [0x0a, 0x0d, 0x20, 0x09, 0x5b];
/** Each costs the client more than its bytes; progress of one call is never that fine. */
const MAX_EVENTS = 10_000;

/** Objects to more events than a call can have. */
function eventCount(what: string): Objection {
  let [events, last, isBlank] = [0, 0, false];
  const text = `${what} sent more than ${MAX_EVENTS} messages for one answer.`;
  return (chunk) => {
    for (const byte of chunk) {
      const endsLine = byte === NEWLINE ? last !== RETURN : byte === RETURN;
      if (endsLine && isBlank) events++;
      if (endsLine) isBlank = true;
      else if (byte !== NEWLINE) isBlank = false;
      last = byte;
    }
    return events > MAX_EVENTS ? failure("result_too_large", text) : undefined;
  };
}

/** Objects to a list of messages: one request has one answer, and checking each takes long. */
function notAList(what: string, kind: Kind): Objection {
  let begun = kind !== "json";
  return (chunk) => {
    if (begun) return undefined;
    const first = chunk.find((byte) => ![NEWLINE, RETURN, SPACE, TAB].includes(byte));
    begun = first !== undefined;
    if (first !== LIST) return undefined;
    return failure("connector_call_failed", `${what} answered with a list of messages.`);
  };
}
