import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Connector, Scope } from "../../server/index.ts";
import { git } from "../../examples/node/git.mjs";
import { system } from "../../examples/node/system.mjs";

/** The demo's connectors for somebody who cannot run them: what they list, and where they answer. */
export interface FixtureTools {
  readonly url: string;
  /** JSON: per connector its id, title and tools. */
  readonly described: string;
  close(): Promise<void>;
}

/** Serves the tools of the demo, which read this machine, to a Worker, which has none. */
export async function serveFixtureTools(cwd: string): Promise<FixtureTools> {
  const connectors: readonly Connector[] = [system(), git({ cwd })];
  const described = await Promise.all(
    connectors.map(async (connector) => {
      const { id, title, description, usageGuide } = connector;
      const tools = await connector.listTools(scopeOf(new AbortController().signal));
      return { id, title, description, usageGuide, tools: tools.ok ? tools.value : [] };
    }),
  );
  const server = createServer(async (request, response) => {
    const [, id, tool = ""] = decodeURI(request.url ?? "").split("/");
    const leaving = new AbortController();
    response.once("close", () => leaving.abort());
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += String(chunk);
    const connector = connectors.find((one) => one.id === id);
    const args: unknown = JSON.parse(body);
    const outcome = await connector?.callTool(tool, args, scopeOf(leaving.signal));
    response.end(JSON.stringify(outcome));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    described: JSON.stringify(described),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function scopeOf(signal: AbortSignal): Scope {
  return {
    signal,
    now: Date.now,
    defer: () => undefined,
    principal: "anonymous",
    requestId: "fixture",
    report: () => undefined,
  };
}
