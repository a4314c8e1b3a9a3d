import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openHostPage, type HostPage } from "../../server/node/host-page.ts";

const HOSTNAME = "127.0.0.1";
let root: string;
let port: number;
const closing: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "host-page-"));
  await mkdir(join(root, "dist/verify/host"), { recursive: true });
  await mkdir(join(root, "dist/host/assets"), { recursive: true });
  await mkdir(join(root, "programs"));
  await writeFile(join(root, "dist/verify/host/index.html"), "<title>page</title>");
  await writeFile(join(root, "dist/verify/host/sandbox.html"), "<title>proxy</title>");
  await writeFile(join(root, "dist/host/assets/index-1a2b.js"), "export {};");
  await writeFile(join(root, "secret.txt"), "secret");
  port = (await occupy(0)).port;
});

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
  await rm(root, { recursive: true });
});

/** Binds a port for the length of a test, as the main server does before it opens the page. */
async function occupy(wanted: number): Promise<{ port: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(wanted, HOSTNAME, resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return { port: address.port };
}

async function open(more: { sandboxPort?: number } = {}): Promise<HostPage> {
  const opened = await openHostPage({
    directory: join(root, "dist"),
    programsDirectory: join(root, "programs"),
    port,
    hostname: HOSTNAME,
    ...more,
  });
  if (!opened.ok) throw new Error(opened.failure.message);
  closing.push(() => opened.value.close());
  return opened.value;
}

function ask(page: HostPage, path: string, init?: RequestInit): Promise<Response | undefined> {
  return page.fetch(new Request(`http://${HOSTNAME}:${port}${path}`, init));
}

/** A request whose path and Host header reach the server exactly as written. */
function raw(
  origin: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port: to } = new URL(origin);
    const sent = httpRequest({ hostname, port: to, path, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    sent.on("error", reject).end();
  });
}

test("the page is served at / under a policy that allows only itself and the sandbox frame", async () => {
  const page = await open();
  const response = await ask(page, "/");
  expect(response?.status).toBe(200);
  expect(await response?.text()).toContain("page");
  expect(response?.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(response?.headers.get("cache-control")).toBe("no-cache");
  expect(response?.headers.get("x-content-type-options")).toBe("nosniff");
  const policy = response?.headers.get("content-security-policy")?.split("; ");
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).toContain(`frame-src ${page.sandboxOrigin}`);
  expect(policy).toContain("frame-ancestors 'none'");
});

test("the sandbox proxy has the specification's default policy and one that names who may frame it", async () => {
  const page = await open();
  const { headers } = await raw(page.sandboxOrigin, "/sandbox.html");
  expect(headers["content-security-policy"]).toBe(
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; " +
      "img-src 'self' data:; media-src 'self' data:; connect-src 'none', " +
      `frame-ancestors http://127.0.0.1:${port} http://localhost:${port}`,
  );
});

test("the second origin serves the proxy and its assets but not the page, its config or the programs", async () => {
  const { sandboxOrigin } = await open();
  expect((await raw(sandboxOrigin, "/sandbox.html")).text).toContain("proxy");
  expect((await raw(sandboxOrigin, "/host/assets/index-1a2b.js")).status).toBe(200);
  for (const path of ["/", "/index.html", "/host/config.json", "/host/programs.json", "/mcp"]) {
    expect({ path, status: (await raw(sandboxOrigin, path)).status }).toEqual({
      path,
      status: 404,
    });
  }
});

test("assets carry their content type, and unknown ones are not found", async () => {
  const page = await open();
  const script = await ask(page, "/host/assets/index-1a2b.js");
  expect(script?.headers.get("content-type")).toMatch(/^text\/javascript/);
  expect((await ask(page, "/host/assets/other.js"))?.status).toBe(404);
});

test("no path leads out of the built folder, whichever way it is written", async () => {
  const { sandboxOrigin } = await open();
  const paths = [
    "/host/assets/../../../secret.txt",
    "/host/assets/..%2f..%2f..%2fsecret.txt",
    "/host/assets/%2e%2e/%2e%2e/%2e%2e/secret.txt",
    "/host/assets/..\\..\\..\\secret.txt",
    "/host/assets//../secret.txt",
    "/host/assets/..",
  ];
  for (const path of paths) {
    const { status, text } = await raw(sandboxOrigin, path);
    const found = text.includes("secret");
    expect({ path, found, served: status < 400 }).toEqual({ path, found: false, served: false });
  }
  // The same reader does find a file that is where it should be.
  await writeFile(join(root, "dist/host/assets/secret.txt"), "secret");
  expect((await raw(sandboxOrigin, "/host/assets/secret.txt")).text).toBe("secret");
});

test("the config names the second origin, which is the next free port after the main one", async () => {
  const page = await open();
  const config: unknown = await (await ask(page, "/host/config.json"))?.json();
  expect(config).toEqual({ sandboxOrigin: page.sandboxOrigin });
  const sandboxPort = Number(new URL(page.sandboxOrigin).port);
  expect(sandboxPort).toBeGreaterThan(port);
  const second = await open();
  expect(Number(new URL(second.sandboxOrigin).port)).toBeGreaterThan(sandboxPort);
});

test("a port that is asked for is taken, and one in use gives one line that names the setting", async () => {
  const free = (await occupy(0)).port;
  await closing.pop()?.();
  const page = await open({ sandboxPort: free });
  expect(page.sandboxOrigin).toBe(`http://127.0.0.1:${free}`);
  const again = await openHostPage({
    directory: join(root, "dist"),
    port,
    hostname: HOSTNAME,
    sandboxPort: free,
  });
  expect(again).toMatchObject({ ok: false, failure: { code: "unavailable" } });
  expect(again.ok ? "" : again.failure.message).toBe(
    `Port ${free} for the view's origin is in use: set SANDBOX_PORT to a free one.`,
  );
});

test("programs are read when they are asked for, titled by their leading comment", async () => {
  const page = await open();
  const list = async (): Promise<unknown> => (await ask(page, "/host/programs.json"))?.json();
  expect(await list()).toEqual([]);
  const code = "// Commits — a page of the log,\n// with a cursor — and more\nasync () => 1\n";
  await writeFile(join(root, "programs/02-commits.js"), code);
  await writeFile(join(root, "programs/01-plain.js"), "async () => 1\n");
  await writeFile(join(root, "programs/notes.md"), "not a program");
  expect(await list()).toEqual([
    { id: "01-plain", title: "01-plain.js", description: "", code: "async () => 1\n" },
    {
      id: "02-commits",
      title: "Commits",
      description: "a page of the log, with a cursor — and more",
      code,
    },
  ]);
});

test("other paths are left to the caller", async () => {
  const page = await open();
  for (const path of ["/mcp", "/health", "/hosts", "/favicon.ico"]) {
    expect({ path, answer: await ask(page, path) }).toEqual({ path, answer: undefined });
  }
});

test("a foreign Host header gets nothing on either origin", async () => {
  const page = await open();
  const rebound = new Request(`http://evil.example:${port}/host/programs.json`);
  expect((await page.fetch(rebound))?.status).toBe(403);
  const { status } = await raw(page.sandboxOrigin, "/sandbox.html", { Host: "evil.example" });
  expect(status).toBe(403);
});

test("a method other than GET and HEAD is answered with what is allowed", async () => {
  const page = await open();
  const response = await ask(page, "/", { method: "POST" });
  expect(response?.status).toBe(405);
  expect(response?.headers.get("allow")).toBe("GET, HEAD");
});

test("a page that is not built gives one line that names the command", async () => {
  const opened = await openHostPage({ directory: join(root, "nowhere"), port, hostname: HOSTNAME });
  expect(opened).toMatchObject({ ok: false, failure: { code: "not_found" } });
  const message = opened.ok ? "" : opened.failure.message;
  expect(message).toContain("npm run build");
  expect(message).not.toContain("\n");
});

test("an address that others can reach is refused", async () => {
  const opened = await openHostPage({ directory: join(root, "dist"), port, hostname: "0.0.0.0" });
  expect(opened).toMatchObject({ ok: false, failure: { code: "invalid_args" } });
});

test("closing frees the second port and ends open connections", async () => {
  const page = await open();
  const { sandboxOrigin } = page;
  expect((await raw(sandboxOrigin, "/sandbox.html", { Connection: "keep-alive" })).status).toBe(
    200,
  );
  await page.close();
  closing.pop();
  await expect(raw(sandboxOrigin, "/sandbox.html")).rejects.toThrow(/ECONNREFUSED/);
});
