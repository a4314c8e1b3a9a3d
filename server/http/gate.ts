import {
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
} from "@modelcontextprotocol/server";
import type { Authenticate } from "../access/inbound/verdict.ts";
import { challenge } from "./challenge.ts";
import { isPreflight, preflight } from "./cors.ts";
import type { ProtectedResource } from "./protected-resource.ts";
import { refuse } from "./refusal.ts";

/** What stands before MCP. */
export interface GateOptions {
  readonly authenticate: Authenticate | undefined;
  /** Host names that may be asked for; without auth loopback names, with auth any. */
  readonly allowedHosts: readonly string[] | undefined;
  /** Origins besides the endpoint's own that a browser may call from. */
  readonly allowedOrigins: readonly string[];
  /** Where callers sign in, when they can. */
  readonly resource?: ProtectedResource | undefined;
}

/** Passed with the caller's name, or answered here. */
export type Gate = { readonly principal: string } | Response;

/** Answers what needs no permit: another method, a foreign Origin, a browser that asks first. */
export function answerEarly(request: Request, options: GateOptions): Response | undefined {
  const isAllowed = originAllowed(request, options.allowedOrigins);
  if (isAllowed && isPreflight(request)) return preflight();
  if (request.method !== "POST") {
    return refuse(405, "Use POST: this endpoint keeps no session and sends nothing by itself.", {
      allow: "POST",
    });
  }
  if (isAllowed) return undefined;
  return refuse(403, "This Origin may not call: add it to http.allowedOrigins if it should.");
}

/** Checks method, Origin and identity, cheapest first. */
export async function passGate(request: Request, options: GateOptions): Promise<Gate> {
  const early = answerEarly(request, options);
  if (early) return early;
  if (!options.authenticate) return { principal: "anonymous" };
  const identity = await options.authenticate(request);
  if (identity.kind === "admitted") return { principal: identity.principal };
  return challenge(identity, request, options.resource);
}

/** Answers a request that asks for a name which is not ours; a foreign page could have sent it. */
export function refuseForeignHost(request: Request, options: GateOptions): Response | undefined {
  const hosts =
    options.allowedHosts ?? (options.authenticate ? undefined : localhostAllowedHostnames());
  return hosts && hostHeaderValidationResponse(request, [...hosts]);
}

/** A browser says its origin: the endpoint's own and the listed ones may call, no other. */
function originAllowed(request: Request, allowed: readonly string[]): boolean {
  const origin = request.headers.get("origin");
  if (origin === null || allowed.includes(origin)) return true;
  return URL.canParse(origin) && new URL(origin).host === request.headers.get("host");
}
