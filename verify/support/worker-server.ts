import { createServer, request as ask, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { Miniflare } from "miniflare";
import { openHostPage, type HostPage } from "../../server/node/host-page.ts";
import { bundled } from "./bundle.ts";
import { ROOT } from "./chromium.ts";
import { serveFixtureTools } from "./fixture-tools.ts";
import type { Running } from "./server.ts";

/**
 * Serves what `startServer` serves, with the gateway as a Worker: `/mcp` and `/health` go to it as
 * they came, everything else is the host page.
 */
export async function startWorkerServer(cwd: string): Promise<Running> {
  const tools = await serveFixtureTools(cwd);
  const worker = new Miniflare({
    modules: true,
    script: await bundled(ROOT, "verify/support/fixture-worker.ts"),
    compatibilityDate: "2026-04-01",
    compatibilityFlags: ["enable_request_signal"],
    workerLoaders: { LOADER: {} },
    bindings: { TOOLS_URL: tools.url, TOOLS: tools.described },
    cf: false,
  });
  const target = await worker.ready;
  let page: HostPage["fetch"] = () => Promise.resolve(undefined);
  const files = getRequestListener(
    async (request) => (await page(request)) ?? new Response("Not found.\n", { status: 404 }),
  );
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    if (path === "/" || path.startsWith("/host/")) void files(request, response);
    else pass(request, response, target);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const opened = await openHostPage({
    directory: `${ROOT}dist/host`,
    port,
    hostname: "127.0.0.1",
    programsDirectory: `${ROOT}examples/node/programs`,
  });
  if (!opened.ok) throw new Error(opened.failure.message);
  page = opened.value.fetch;
  const origin = `http://127.0.0.1:${port}`;
  return {
    pid: undefined,
    origin,
    printed: { stdout: `listening ${origin}\n`, stderr: "" },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await Promise.all([opened.value.close(), worker.dispose(), tools.close()]);
    },
  };
}

/** Hands a request on with every header as it came, Host and Origin above all. */
export function pass(from: IncomingMessage, to: ServerResponse, { hostname, port }: URL): void {
  const { method, url, headers } = from;
  // A connection of its own: one that is kept may be closed by the other side meanwhile.
  const options = { hostname, port, method, path: url, headers, agent: false };
  const passed = ask(options, (answer) => {
    to.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(to);
  });
  passed.on("error", () => to.destroy());
  to.on("close", () => passed.destroy());
  from.pipe(passed);
}
