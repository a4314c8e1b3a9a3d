import type { McpHttpHandler } from "@modelcontextprotocol/server";
import { Hono } from "hono";
import { passGate, type GateOptions } from "./gate.ts";

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
  app.all("/mcp", async ({ req }) => {
    const passed = await passGate(req.raw, gate);
    if (passed instanceof Response) return passed;
    const { principal } = passed;
    return mcp.fetch(req.raw, { authInfo: { token: "", clientId: principal, scopes: [] } });
  });
  app.get("/health", ({ json }) => json({ status: "ok", name, version }));
  app.notFound(({ json }) => json({ error: "Not found: the MCP endpoint is /mcp." }, 404));
  app.onError((_, { json }) => json({ error: "The gateway failed to answer." }, 500));
  return app;
}
