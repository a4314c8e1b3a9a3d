import { MACHINE, startIssuer, type Issuer } from "../authorization/issuer.ts";
import { startResource, type Resource } from "../authorization/resource.ts";
import { bundled } from "../../../verify/support/bundle.ts";
import { ROOT } from "../../../verify/support/chromium.ts";

/** What deployments stand among: who signs people in, and a server that wants them signed in. */
export interface Surroundings {
  readonly issuer: Issuer;
  readonly resource: Resource;
  /** The text of the Worker. */
  readonly script: string;
  /** The text of a Worker that leaves another in the middle of a request. */
  readonly door: string;
  close(): Promise<void>;
}

/**
 * Starts an authorization server and an MCP server, and builds a Worker. Tokens for the MCP server
 * mean nothing to others; all others are signed, for whomever they are asked for.
 */
export async function surroundings(
  entry = "test/support/worker/access-worker.ts",
): Promise<Surroundings> {
  const built = Promise.all(
    [entry, "test/support/worker/leaving-worker.ts"].map((one) => bundled(ROOT, one)),
  );
  const own = { url: "" };
  const issuer = await startIssuer({
    features: {
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, audience) => ({
          scope: "read write",
          audience,
          accessTokenTTL: 3600,
          accessTokenFormat: audience === own.url ? "opaque" : "jwt",
        }),
      },
    },
  });
  const resource = await startResource(issuer);
  own.url = resource.url;
  const [script = "", door = ""] = await built;
  return {
    issuer,
    resource,
    script,
    door,
    async close() {
      await resource.close();
      await issuer.close();
    },
  };
}

/** A token that the authorization server gives a client of its own, for one server. */
export async function tokenFor({ issuer }: Surroundings, resource: string): Promise<string> {
  const response = await fetch(`${issuer.origin}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "client_credentials",
      client_id: MACHINE.clientId,
      client_secret: MACHINE.clientSecret,
      scope: "read",
      resource,
    }),
  });
  const answer = (await response.json()) as { access_token?: string };
  if (answer.access_token === undefined) throw new Error(JSON.stringify(answer));
  return answer.access_token;
}
