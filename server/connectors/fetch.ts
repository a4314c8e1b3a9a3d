import { onAbort } from "../shared/aborts.ts";
import { HostRefused, type OutboundFetch } from "../shared/outbound.ts";
import { ToolError } from "./tool-error.ts";

/** The `fetch` of a handler: bounded in time, size and, with a base URL, in where it leads. */
export type ToolFetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** What bounds the requests of one connector. */
export interface FetchBounds {
  /** Names the connector in errors. */
  readonly id: string;
  /** Nothing outside it is asked for. */
  readonly base: Base | undefined;
  /** Time for one request with its redirects and its body, in milliseconds. */
  readonly timeoutMs: number;
  /** Size of one response body once it is unpacked, in bytes. */
  readonly maxResponseBytes: number;
  /** Makes the requests. */
  readonly fetch: OutboundFetch;
}

/** A base URL: what it is, and what lies below it. */
export interface Base {
  readonly url: URL;
  /** The same with a slash at its end. */
  readonly folder: URL;
}

/** The requests of one call; closing ends what its handler left unread. */
export interface Fetching {
  readonly fetch: ToolFetch;
  close(): void;
}

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const EMPTY: ReadonlySet<number> = new Set([204, 205, 304]);
/** They describe the body as it was sent, not as it is handed on. */
const OF_THE_WIRE = ["content-encoding", "content-length", "transfer-encoding"];
const OF_A_BODY = ["content-type", "content-length", "content-encoding", "content-language"];
const DECODINGS = 3;

/**
 * Reads a base URL.
 * @returns a sentence's end for what is wrong with it
 */
export function readBase(text: unknown): Base | string {
  const url = typeof text === "string" ? parsed(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return "is no http or https address";
  if (url.username !== "" || url.password !== "") return "holds a credential: send a header";
  if (url.search !== "" || url.hash !== "") return "has a query or a fragment: leave it out";
  const folder = new URL(url);
  if (!folder.pathname.endsWith("/")) folder.pathname += "/";
  return { url, folder };
}

/** Opens the requests of one call, which end with its signal. */
export function openFetch(bounds: FetchBounds, signal: AbortSignal): Fetching {
  const open = new Set<Exchange>();
  let closed = false;
  return {
    async fetch(input, init = {}) {
      if (closed) throw new TypeError("This call has ended: fetch belongs to it.");
      const exchange = new Exchange(bounds, [signal, ...(init.signal ? [init.signal] : [])]);
      open.add(exchange);
      exchange.onEnd = () => void open.delete(exchange);
      return exchange.run(destination(bounds, input), init);
    },
    close() {
      closed = true;
      for (const exchange of open) exchange.end();
    },
  };
}

/** One request with its redirects and the body that answers it. */
class Exchange {
  readonly #bounds: FetchBounds;
  readonly #controller = new AbortController();
  readonly #release: (() => void)[];
  #reason: unknown;
  onEnd = () => {};

  constructor(bounds: FetchBounds, signals: readonly AbortSignal[]) {
    this.#bounds = bounds;
    const timer = setTimeout(() => this.#stop(this.#late()), bounds.timeoutMs);
    this.#release = [
      () => clearTimeout(timer),
      ...signals.map((signal) => onAbort(signal, () => this.#stop(signal.reason))),
    ];
  }

  async run(url: URL, init: RequestInit): Promise<Response> {
    try {
      return this.#bounded(await this.#follow(url, init));
    } catch (error) {
      this.end();
      throw this.#explained(error);
    }
  }

  /** Stops what is still under way. */
  end(): void {
    for (const release of this.#release.splice(0)) release();
    this.onEnd();
    this.#controller.abort();
  }

  async #follow(first: URL, init: RequestInit): Promise<Response> {
    let url = first;
    let request = init;
    for (let redirects = 0; ; redirects++) {
      const response = await this.#ask(url, request);
      const location = response.headers.get("location");
      if (location === null || !REDIRECTS.has(response.status)) return response;
      if (init.redirect === "manual") return response;
      await response.body?.cancel();
      if (init.redirect === "error") throw this.#failed("redirects");
      if (redirects === MAX_REDIRECTS) throw this.#failed("redirects more often than is followed");
      url = this.#next(url, location);
      request = redirected(request, response.status);
    }
  }

  async #ask(url: URL, init: RequestInit): Promise<Response> {
    // Made first: what is wrong with it is the handler's fault and no failure of the network.
    const request = new Request(url, {
      ...init,
      redirect: "manual",
      signal: this.#controller.signal,
    });
    try {
      return await this.#bounds.fetch(request);
    } catch (error) {
      throw this.#unreachable(error);
    }
  }

  #next(from: URL, location: string): URL {
    const url = parsed(location, from);
    if (url === undefined) throw this.#failed("redirects to no address");
    if (url.origin !== from.origin) throw this.#failed("redirects to another origin");
    if (!isInside(this.#bounds.base, url)) throw this.#failed("redirects outside its base URL");
    return url;
  }

  /** The response with a body that ends with the first byte too many. */
  #bounded(response: Response): Response {
    const { status, statusText, body } = response;
    const { maxResponseBytes } = this.#bounds;
    if (Number(response.headers.get("content-length") ?? 0) > maxResponseBytes)
      throw this.#tooLarge();
    const headers = new Headers(response.headers);
    for (const name of OF_THE_WIRE) headers.delete(name);
    const empty = body === null || EMPTY.has(status);
    if (empty) this.end();
    const bounded = new Response(empty ? null : this.#limited(body), {
      status,
      statusText,
      headers,
    });
    return Object.defineProperty(bounded, "url", { value: response.url });
  }

  #limited(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    let bytes = 0;
    return new ReadableStream({
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read();
          bytes += value?.byteLength ?? 0;
          if (bytes > this.#bounds.maxResponseBytes) throw this.#tooLarge();
          if (!done) return controller.enqueue(value);
          this.end();
          controller.close();
        } catch (error) {
          const reason = this.#explained(this.#unreachable(error));
          this.end();
          controller.error(reason);
        }
      },
      cancel: () => this.end(),
    });
  }

  #stop(reason: unknown): void {
    this.#reason ??= reason;
    this.#controller.abort(reason);
  }

  /** What a caller is told: why it was stopped, when it was. */
  #explained(error: unknown): unknown {
    return this.#reason ?? error;
  }

  #late(): ToolError {
    const { id, timeoutMs } = this.#bounds;
    return new ToolError(`${id} did not answer within ${timeoutMs} ms.`, { code: "timeout" });
  }

  #tooLarge(): ToolError {
    const { id, maxResponseBytes } = this.#bounds;
    return new ToolError(`${id} answered with more than ${maxResponseBytes} bytes.`, {
      code: "result_too_large",
    });
  }

  #failed(what: string): ToolError {
    return new ToolError(`${this.#bounds.id} ${what}.`);
  }

  #unreachable(error: unknown): ToolError {
    if (error instanceof ToolError) return error;
    if (error instanceof HostRefused) return new ToolError(error.told(this.#bounds.id));
    const { cause } = error as { readonly cause?: { readonly code?: unknown } };
    const { code } = cause ?? {};
    const why = typeof code === "string" && /^[A-Z_]{1,40}$/.test(code) ? ` (${code})` : "";
    return new ToolError(`${this.#bounds.id} could not be reached${why}.`, { code: "unavailable" });
  }
}

/** Where a request goes: a text without a scheme stands below the base, with or without a slash. */
function destination({ id, base }: FetchBounds, input: string | URL): URL {
  const text = String(input);
  if (base === undefined) {
    const url = parsed(text);
    if (url !== undefined && /^https?:$/.test(url.protocol)) return url;
    throw new TypeError(`fetch needs a whole address, or api(${id}) a baseUrl to begin it.`);
  }
  const isWhole = /^(?:[a-z][a-z0-9+.-]*:|[/\\]{2})/i.test(text);
  const isBase = text === "" || /^[?#]/.test(text);
  const url = isBase
    ? parsed(text, base.url)
    : parsed(isWhole ? text : text.replace(/^\//, "./"), base.folder);
  if (url !== undefined && isInside(base, url)) return url;
  throw new ToolError(`The arguments lead outside of what ${id} may ask for.`, {
    code: "invalid_args",
  });
}

function parsed(text: string, base?: URL): URL | undefined {
  return URL.canParse(text, base?.href) ? new URL(text, base) : undefined;
}

/** Whether a URL lies below the base, also for a server that decodes before it looks. */
function isInside(base: Base | undefined, url: URL): boolean {
  if (base === undefined) return true;
  if (url.origin !== base.url.origin) return false;
  const { pathname } = url;
  if (!pathname.startsWith(base.folder.pathname) && pathname !== base.url.pathname) return false;
  let decoded = pathname;
  for (let time = 0; time < DECODINGS; time++) {
    decoded = decodedOnce(decoded);
    if (decoded.split(/[/\\]/).includes("..")) return false;
  }
  return true;
}

function decodedOnce(path: string): string {
  return path.replace(/%(2e|2f|5c|25)/gi, (escape) => decodeURIComponent(escape));
}

/** What is sent on: as browsers do, a POST that was moved is asked for, and 303 always is. */
function redirected(init: RequestInit, status: number): RequestInit {
  const method = (init.method ?? "GET").toUpperCase();
  const becomesGet = status === 303 ? method !== "HEAD" : status < 303 && method === "POST";
  if (becomesGet) {
    const headers = new Headers(init.headers);
    for (const name of OF_A_BODY) headers.delete(name);
    return { ...init, method: "GET", body: null, headers };
  }
  if (!(init.body instanceof ReadableStream)) return init;
  throw new ToolError("A redirect asks for a body again that was a stream and is gone.");
}
