import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { openHostPage, type HostPage as Served } from "../../server/node/host-page.ts";
import { ROOT } from "./chromium.ts";

/** The built host page on a loopback port of its own: nothing but its files, no MCP endpoint. */
export interface PreviewSite {
  /** Without a trailing slash. */
  readonly origin: string;
  close(): Promise<void>;
}

/**
 * Serves the built host page for its preview of the shell.
 * @throws when it is not built
 */
export async function servePreview(): Promise<PreviewSite> {
  let served: Served | undefined;
  const server = createServer(
    getRequestListener(async (request) => {
      const answer = await served?.fetch(request);
      return answer ?? new Response("not found", { status: 404 });
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  const opened = await openHostPage({
    directory: `${ROOT}dist/host`,
    port: address.port,
    hostname: "127.0.0.1",
  });
  if (!opened.ok) throw new Error(opened.failure.message);
  served = opened.value;
  return {
    origin: `http://127.0.0.1:${address.port}`,
    async close() {
      await opened.value.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
