import { isJsonContentType, type McpHttpHandler } from "@modelcontextprotocol/server";
import { Hono } from "hono";
import { readBody } from "./body.ts";
import { readableBy } from "./cors.ts";
import { finishAuthorization, type Authorizations } from "./callback.ts";
import type { Bindings } from "./deferring.ts";
import { answerEarly, passGate, refuseForeignHost, type GateOptions } from "./gate.ts";
import { operatorRoutes, type OperatorSite } from "./operator/routes.ts";
import type { Log } from "../shared/log.ts";
import { refuse } from "./refusal.ts";
import type { Admitted, Requests } from "./requests.ts";

type App = Hono<{ Bindings: Bindings }>;

/** The routes of a deployment. */
export interface RouteOptions {
  readonly mcp: McpHttpHandler;
  readonly gate: GateOptions;
  readonly requests: Requests;
  /** Milliseconds in which the body of a request must have come. */
  readonly bodyTimeoutMs: number;
  /** What is under way; numbers, and names of connectors only for whoever may call. */
  readonly load: (mayCall: boolean) => object;
  readonly name: string;
  readonly version: string;
  /** Where browsers come back to from authorization servers, when any connector sends them there. */
  readonly authorizations?: Authorizations | undefined;
  /** The operator page, when somebody may open it. */
  readonly operator?: OperatorSite | undefined;
  readonly log: Log;
}

/**
 * `/mcp` behind the gate; `/health`, where to sign in, the way back from authorizations and the
 * operator page beside it; everything else is not here.
 */
export function createRoutes(options: RouteOptions): App {
  const { gate, load, name, version, authorizations, operator } = options;
  const app: App = new Hono();
  app.use(async ({ req }, next) => refuseForeignHost(req.raw, gate) ?? next());
  app.all("/mcp", async ({ req, env }) =>
    readableBy(gate.allowedOrigins, req.raw, await answer(req.raw, options, env)),
  );
  app.all("/.well-known/oauth-protected-resource/*", async ({ req }, next) => {
    return gate.resource?.answer(req.raw) ?? next();
  });
  if (authorizations !== undefined) addAuthorizations(app, authorizations, options);
  if (operator !== undefined) app.route("/operator", operatorRoutes(operator));
  app.get("/health", async ({ req, json }) => {
    return json({ status: "ok", name, version, ...load(await mayCall(req.raw, gate)) });
  });
  app.notFound(({ json }) => json({ error: "Not found: the MCP endpoint is /mcp." }, 404));
  app.onError((_, { json }) => json({ error: "The gateway failed to answer." }, 500));
  return app;
}

/** Answers one request to the endpoint, with a permit where it needs one. */
async function answer(request: Request, options: RouteOptions, env: Bindings): Promise<Response> {
  const early = answerEarly(request, options.gate);
  const work = (admitted: Admitted) => serve(request, options, admitted, env);
  return early ?? options.requests.admit(request, work);
}

async function serve(
  request: Request,
  { gate, mcp, bodyTimeoutMs }: RouteOptions,
  admitted: Admitted,
  { waitUntil }: Bindings,
): Promise<Response> {
  const passed = await passGate(request, gate);
  if (passed instanceof Response) return passed;
  if (!isJsonContentType(request.headers.get("content-type"))) {
    return refuse(415, "Send the request as application/json.");
  }
  const body = await readBody(request, bodyTimeoutMs);
  if (body instanceof Response) return body;
  const { json } = body;
  const tooMany = Array.isArray(json) ? admitted.count(json.length) : undefined;
  if (tooMany) return tooMany;
  // The one part of a request that the package hands on as it is.
  const authInfo = { token: "", clientId: passed.principal, scopes: [], extra: { waitUntil } };
  return mcp.fetch(request, { authInfo, parsedBody: json });
}

/** Whoever asks for `/health` mostly sends nothing, and is not taken for a failed sign-in. */
async function mayCall(request: Request, { authenticate }: GateOptions): Promise<boolean> {
  if (!authenticate) return true;
  if (!request.headers.has("authorization")) return false;
  return (await authenticate(request)).kind === "admitted";
}

function addAuthorizations(app: App, authorizations: Authorizations, { log }: RouteOptions): void {
  app.all("/oauth/callback/:id", (c) =>
    finishAuthorization(c, c.req.param("id"), authorizations, log),
  );
  app.get("/oauth/client.json", ({ json, notFound }) => {
    const document = authorizations.clientDocument();
    return document === undefined ? notFound() : json(document);
  });
}
