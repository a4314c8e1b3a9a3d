import { readdir, readFile, stat } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { getMimeType } from "hono/utils/mime";
import { fail, ok, type Outcome } from "../shared/failure.ts";
import { isLoopback } from "../shared/loopback.ts";

/** The playground page and the second origin on which it shows views. */
export interface HostPage {
  /** Origin of the sandbox proxy, e.g. `http://127.0.0.1:8788`. */
  readonly sandboxOrigin: string;
  /** Answers the page's own paths; `undefined` for every other path. */
  fetch(request: Request): Promise<Response | undefined>;
  /** Stops the second origin and ends its open connections. */
  close(): Promise<void>;
}

/** What {@link openHostPage} needs to know. */
export interface HostPageOptions {
  /** The built page, `dist/host`. */
  readonly directory: string;
  /** Port of the first origin, already bound. */
  readonly port: number;
  /** Loopback name or address that both origins are bound to. */
  readonly hostname: string;
  /** Port of the second origin; without it the next free port after `port`. */
  readonly sandboxPort?: number;
  /** Folder with the example programs, one `.js` file each. */
  readonly programsDirectory?: string;
}

/** One example program as the page lists it. */
interface ExampleProgram {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly code: string;
}

/** What the Apps specification prescribes for a view that declares no domains. */
const DEFAULT_VIEW_CSP =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; media-src 'self' data:; connect-src 'none'";

const PAGE = "verify/host/index.html";
const PROXY = "verify/host/sandbox.html";
const ASSET = /^\/host\/assets\/([A-Za-z0-9_.-]+)$/;
const PORTS_TO_TRY = 32;

/**
 * Serves the built host page on the caller's port and its view sandbox on a second one.
 * @returns the page, or a failure of one line: no loopback name, nothing built, port in use
 */
export async function openHostPage(options: HostPageOptions): Promise<Outcome<HostPage>> {
  if (!isLoopback(options.hostname)) {
    return fail("invalid_args", `The host page is for loopback only, not ${options.hostname}.`);
  }
  for (const file of [PAGE, PROXY]) {
    if (await isFile(join(options.directory, file))) continue;
    return fail("not_found", `The host page is not built: run "npm run build" first.`);
  }
  const host = options.hostname.includes(":") ? "[::1]" : options.hostname;
  const framers = [...new Set([host, "127.0.0.1", "localhost"])].map(
    (name) => `http://${name}:${options.port}`,
  );
  const bound = await listenNear(options, (request) => serveSandbox(options, framers, request));
  if (!bound.ok) return bound;
  const { server, port } = bound.value;
  const sandboxOrigin = `http://${host}:${port}`;
  return ok({
    sandboxOrigin,
    fetch: (request) => servePage(options, sandboxOrigin, request),
    close: () => stop(server),
  });
}

async function servePage(
  options: HostPageOptions,
  sandboxOrigin: string,
  request: Request,
): Promise<Response | undefined> {
  const url = new URL(request.url);
  const { pathname } = url;
  if (pathname !== "/" && !pathname.startsWith("/host/")) return undefined;
  const refusal = refuse(request, url);
  if (refusal) return refusal;
  if (pathname === "/") {
    return sendFile(join(options.directory, PAGE), pageHeaders(sandboxOrigin));
  }
  if (pathname === "/host/config.json") return sendJson({ sandboxOrigin });
  if (pathname === "/host/programs.json") {
    return sendJson(await readPrograms(options.programsDirectory));
  }
  return serveAsset(options.directory, pathname);
}

async function serveSandbox(
  options: HostPageOptions,
  framers: readonly string[],
  request: Request,
): Promise<Response> {
  const url = new URL(request.url);
  const refusal = refuse(request, url);
  if (refusal) return refusal;
  if (url.pathname !== "/sandbox.html") return serveAsset(options.directory, url.pathname);
  // Two policies of one response both hold: the view's own stays as the specification words it.
  const headers = new Headers(COMMON_HEADERS);
  headers.append("Content-Security-Policy", DEFAULT_VIEW_CSP);
  headers.append("Content-Security-Policy", `frame-ancestors ${framers.join(" ")}`);
  return sendFile(join(options.directory, PROXY), headers);
}

const COMMON_HEADERS = {
  "Cache-Control": "no-cache",
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Resource-Policy": "same-origin",
};

function pageHeaders(sandboxOrigin: string): Headers {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // A browser that edits the program natively writes style attributes while it does.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "media-src data: blob:",
    "connect-src 'self'",
    `frame-src ${sandboxOrigin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  return new Headers({
    ...COMMON_HEADERS,
    "Content-Security-Policy": policy,
    "Cross-Origin-Opener-Policy": "same-origin",
  });
}

/** A foreign Host means a name rebound to loopback: such a page must not reach the files. */
function refuse(request: Request, url: URL): Response | undefined {
  if (!isLoopback(url.hostname)) return sendText(403, "This host name is not served here.\n");
  if (request.method === "GET" || request.method === "HEAD") return undefined;
  return sendText(405, "Only GET and HEAD are served here.\n", { Allow: "GET, HEAD" });
}

async function serveAsset(directory: string, pathname: string): Promise<Response> {
  const name = ASSET.exec(pathname)?.[1];
  if (name === undefined || name.startsWith(".")) return sendText(404, "Not found.\n");
  return sendFile(join(directory, "host/assets", name), new Headers(COMMON_HEADERS));
}

async function sendFile(file: string, headers: Headers): Promise<Response> {
  if (!(await isFile(file))) return sendText(404, "Not found.\n");
  headers.set("Content-Type", getMimeType(file) ?? "application/octet-stream");
  return new Response(await readFile(file), { headers });
}

function sendJson(value: unknown): Response {
  return Response.json(value, { headers: COMMON_HEADERS });
}

function sendText(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(text, {
    status,
    headers: { ...COMMON_HEADERS, ...headers, "Content-Type": "text/plain; charset=utf-8" },
  });
}

async function isFile(file: string): Promise<boolean> {
  return stat(file).then(
    (entry) => entry.isFile(),
    () => false,
  );
}

async function readPrograms(directory: string | undefined): Promise<readonly ExampleProgram[]> {
  if (directory === undefined) return [];
  const names = await readdir(directory).catch(() => []);
  const files = names.filter((name) => name.endsWith(".js")).sort();
  return Promise.all(
    files.map(async (name) => {
      const code = await readFile(join(directory, name), "utf8");
      return { id: name.slice(0, -".js".length), ...leadingComment(code, name), code };
    }),
  );
}

/** Title and description from the comment lines at the top: `// Title — description`. */
function leadingComment(code: string, name: string): { title: string; description: string } {
  const lines = code.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("//"));
  const comment = lines
    .slice(0, end === -1 ? lines.length : end)
    .map((line) => line.slice(2).trim())
    .join(" ");
  const [title = "", ...rest] = comment.split(" — ");
  return { title: title.trim() || name, description: rest.join(" — ").trim() };
}

interface Bound {
  readonly server: Server;
  readonly port: number;
}

async function listenNear(
  options: HostPageOptions,
  fetch: (request: Request) => Promise<Response>,
): Promise<Outcome<Bound>> {
  const { hostname, port, sandboxPort } = options;
  const tries =
    sandboxPort === undefined
      ? [...Array(PORTS_TO_TRY).keys()].map((n) => port + 1 + n).filter((n) => n < 65_536)
      : [sandboxPort];
  for (const candidate of tries) {
    const server = createServer(getRequestListener(fetch, { hostname }));
    const error = await listen(server, candidate, hostname);
    if (error === undefined) {
      const address = server.address();
      return ok({
        server,
        port: typeof address === "object" && address ? address.port : candidate,
      });
    }
    if (error.code !== "EADDRINUSE" || sandboxPort !== undefined) {
      return fail("unavailable", portProblem(candidate, error));
    }
  }
  return fail("unavailable", `No free port for the view's origin after port ${port}.`);
}

function portProblem(port: number, error: NodeJS.ErrnoException): string {
  const why = error.code === "EADDRINUSE" ? "is in use" : `cannot be used (${error.code})`;
  return `Port ${port} for the view's origin ${why}: set SANDBOX_PORT to a free one.`;
}

function listen(
  server: Server,
  port: number,
  hostname: string,
): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    server.once("error", resolve);
    server.listen(port, hostname, () => {
      server.off("error", resolve);
      resolve(undefined);
    });
  });
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
