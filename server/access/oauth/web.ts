import { LIMITS } from "../../shared/limits.ts";
import { isLoopback } from "../../shared/loopback.ts";
import { bareFetch } from "../../shared/outbound.ts";

/** What requests to authorization servers are made with. */
export type Web = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Thrown where something is not asked for, or is no answer; its message holds nothing secret. */
export class WebError extends Error {
  override readonly name = "WebError";
}

/**
 * Requests that follow from one protected server: bounded in time and size, and only to where
 * nobody between can read along. Redirects are left to the caller.
 * @param resource the protected server's URL; whoever uses plain HTTP there, gets it there
 */
export function webOf(resource: string, fetchLike: Web = bareFetch): Web {
  const own = new URL(resource);
  return async (url, init = {}) => {
    if (new URL(url).origin !== own.origin && !isConfidential(url, isLoopback(own.hostname))) {
      throw new WebError("it names an address without https");
    }
    const late = AbortSignal.timeout(LIMITS.oauthTimeoutMs.value);
    const signal = init.signal ? AbortSignal.any([init.signal, late]) : late;
    const response = await fetchLike(url, { ...init, signal, redirect: "manual" });
    const { status, statusText, headers, body } = response;
    if (body === null) return response;
    return new Response(await bounded(body), { status, statusText, headers });
  };
}

async function bounded(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<Blob> {
  const reader = body.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts);
    bytes += value.byteLength;
    if (bytes > LIMITS.oauthAnswerBytes.value) {
      void reader.cancel().catch(() => undefined);
      throw new WebError("it sends more than it may");
    }
    parts.push(value);
  }
}

/** Whether nobody between reads along what is sent to an address. */
export function isConfidential(url: string | URL, alsoLoopback: boolean): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || (protocol === "http:" && alsoLoopback && isLoopback(hostname));
}
