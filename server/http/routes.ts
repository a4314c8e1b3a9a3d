import type { McpHttpHandler } from "@modelcontextprotocol/server";
import { Hono } from "hono";
import { passGate, refuseForeignHost, type GateOptions } from "./gate.ts";

/** The routes of a deployment. */
export interface RouteOptions {
  readonly mcp: McpHttpHandler;
  readonly gate: GateOptions;
  readonly name: string;
  readonly version: string;
}

/** `/mcp` behind the gate, `/health` before MCP; everything else is not here. */
export function createRoutes(options: RouteOptions): Hono {
  const { mcp, gate, name, version } = options;
  const app = new Hono();
  app.use(async ({ req }, next) => refuseForeignHost(req.raw, gate) ?? next());
  app.all("/mcp", async ({ req }) => {
    const passed = await passGate(req.raw, gate);
    if (passed instanceof Response) return passed;
    const { principal } = passed;
    const answer = await mcp.fetch(req.raw, {
      authInfo: { token: "", clientId: principal, scopes: [] },
    });
    // The rest of the body was never read: the connection cannot carry another request.
    if (answer.status === 413) answer.headers.set("connection", "close");
    return answer;
  });
  app.get("/health", ({ json }) => json({ status: "ok", name, version }));
  app.notFound(({ json }) => json({ error: "Not found: the MCP endpoint is /mcp." }, 404));
  app.onError((_, { json }) => json({ error: "The gateway failed to answer." }, 500));
  return app;
}
