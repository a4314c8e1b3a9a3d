import { env } from "cloudflare:test";
import { gatewayOf, type Gateway } from "../suites/executor/client.ts";

/** Sends a request to a deployment of the Worker, in a context of its own. */
export function send(deployment: string, request: Request): Promise<Response> {
  const headers = new Headers(request.headers);
  headers.set("x-deployment", deployment);
  return env.GATEWAY.fetch(new Request(request, { headers }));
}

/** Speaks MCP to a deployment of the Worker. */
export function gateway(deployment: string): Gateway {
  return gatewayOf((request) => send(deployment, request));
}
