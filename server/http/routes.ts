import { isJsonContentType, type McpHttpHandler } from "@modelcontextprotocol/server";
import { Hono } from "hono";
import { readBody } from "./body.ts";
import { passGate, refuseForeignHost, type GateOptions } from "./gate.ts";
import { refuse } from "./refusal.ts";

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
    if (!isJsonContentType(req.raw.headers.get("content-type"))) {
      return refuse(415, "Send the request as application/json.");
    }
    const body = await readBody(req.raw);
    if (body instanceof Response) return body;
    const authInfo = { token: "", clientId: passed.principal, scopes: [] };
    return mcp.fetch(req.raw, { authInfo, parsedBody: body.json });
  });
  app.get("/health", ({ json }) => json({ status: "ok", name, version }));
  app.notFound(({ json }) => json({ error: "Not found: the MCP endpoint is /mcp." }, 404));
  app.onError((_, { json }) => json({ error: "The gateway failed to answer." }, 500));
  return app;
}
