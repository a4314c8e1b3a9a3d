import { isJsonContentType, type McpHttpHandler } from "@modelcontextprotocol/server";
import { Hono } from "hono";
import { readBody } from "./body.ts";
import { readableBy } from "./cors.ts";
import { finishAuthorization, type Authorizations } from "./callback.ts";
import { passGate, refuseForeignHost, type GateOptions } from "./gate.ts";
import type { Log } from "../shared/log.ts";
import { refuse } from "./refusal.ts";

/** The routes of a deployment. */
export interface RouteOptions {
  readonly mcp: McpHttpHandler;
  readonly gate: GateOptions;
  readonly name: string;
  readonly version: string;
  /** Where browsers come back to from authorization servers, when any connector sends them there. */
  readonly authorizations?: Authorizations | undefined;
  readonly log: Log;
}

/**
 * `/mcp` behind the gate; `/health`, where to sign in and the way back from authorizations before
 * it; everything else is not here.
 */
export function createRoutes(options: RouteOptions): Hono {
  const { gate, name, version, authorizations } = options;
  const app = new Hono();
  app.use(async ({ req }, next) => refuseForeignHost(req.raw, gate) ?? next());
  app.all("/mcp", async ({ req }) =>
    readableBy(gate.allowedOrigins, req.raw, await answer(req.raw, options)),
  );
  app.all("/.well-known/oauth-protected-resource/*", async ({ req }, next) => {
    return gate.resource?.answer(req.raw) ?? next();
  });
  if (authorizations !== undefined) addAuthorizations(app, authorizations, options);
  app.get("/health", ({ json }) => json({ status: "ok", name, version }));
  app.notFound(({ json }) => json({ error: "Not found: the MCP endpoint is /mcp." }, 404));
  app.onError((_, { json }) => json({ error: "The gateway failed to answer." }, 500));
  return app;
}

/** Answers one request to the endpoint. */
async function answer(request: Request, { mcp, gate }: RouteOptions): Promise<Response> {
  const passed = await passGate(request, gate);
  if (passed instanceof Response) return passed;
  if (!isJsonContentType(request.headers.get("content-type"))) {
    return refuse(415, "Send the request as application/json.");
  }
  const body = await readBody(request);
  if (body instanceof Response) return body;
  const authInfo = { token: "", clientId: passed.principal, scopes: [] };
  return mcp.fetch(request, { authInfo, parsedBody: body.json });
}

function addAuthorizations(app: Hono, authorizations: Authorizations, { log }: RouteOptions): void {
  const report = (error: unknown, what: string) => log.fault(error, what);
  app.all("/oauth/callback/:id", ({ req }) =>
    finishAuthorization(req.raw, req.param("id"), authorizations, report),
  );
  app.get("/oauth/client.json", ({ json, notFound }) => {
    const document = authorizations.clientDocument();
    return document === undefined ? notFound() : json(document);
  });
}
