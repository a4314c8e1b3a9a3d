import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { z } from "zod";
import type { Issuer } from "./issuer.ts";
import { serve, type Served } from "./listen.ts";

/** An MCP server that takes the tokens of an issuer and no others. */
export interface Resource extends Served {
  readonly url: string;
  /** The authorization server that it names, in its metadata. */
  names: string;
  /** Every Authorization header that came. */
  readonly presented: string[];
  /** What its metadata says besides. */
  metadata: Record<string, unknown>;
  /** Refuses a token as too small for the call, naming these scopes, while it is set. */
  wants: string | undefined;
}

/** Starts a protected MCP server with one tool, `whoami`. */
export async function startResource(issuer: Issuer): Promise<Resource> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: "crm", version: "1" });
    const annotations = { readOnlyHint: true };
    server.registerTool(
      "whoami",
      { description: "Says who calls.", annotations, inputSchema: z.object({}) },
      () => ({ content: [{ type: "text", text: "ada" }] }),
    );
    return server;
  });
  const handle = toNodeHandler(handler);
  const served = await serve((origin) => async (request, response) => {
    const refuse = (status: number, challenge: string) => {
      request.resume();
      response.writeHead(status, { "www-authenticate": `Bearer ${challenge}` });
      response.end();
    };
    if (request.url === "/.well-known/oauth-protected-resource/mcp") {
      response.writeHead(200, { "content-type": "application/json" });
      const { names: server, metadata, url } = resource;
      return response.end(
        JSON.stringify({ resource: url, authorization_servers: [server], ...metadata }),
      );
    }
    const { authorization = "" } = request.headers;
    if (authorization !== "") resource.presented.push(authorization);
    const token = await issuer.provider.AccessToken.find(authorization.replace("Bearer ", ""));
    const own =
      token ?? (await issuer.provider.ClientCredentials.find(authorization.replace("Bearer ", "")));
    if (own === undefined || own.isExpired || own.aud !== resource.url) {
      const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
      return refuse(401, `resource_metadata="${metadata}", scope="read"`);
    }
    if (resource.wants !== undefined && !own.scope?.split(" ").includes(resource.wants)) {
      return refuse(403, `error="insufficient_scope", scope="${resource.wants}"`);
    }
    return void handle(request as never, response);
  });
  const resource: Resource = {
    ...served,
    url: `${served.origin}/mcp`,
    names: issuer.origin,
    presented: [],
    metadata: {},
    wants: undefined,
  };
  return resource;
}
