import type { Failure } from "../shared/failure.ts";
import type { Finding } from "./doctor-report.ts";
import type { Wire } from "./doctor-wire.ts";

/** Steps to the tool list of a server on the network. */
export const REMOTE_STEPS = [
  "name",
  "connection",
  "tls",
  "http",
  "auth",
  "initialize",
  "list",
] as const;

type Step = (typeof REMOTE_STEPS)[number];

/** Where the way to a server ended, and why. */
export interface Stopped<S extends string = string> {
  readonly step: S;
  readonly finding: Finding;
}

const NO_NAME = /^(?:ENOTFOUND|EAI_\w+)$/;
const OF_CONNECTION = /^(?:E(?!PROTO)[A-Z]+|UND_ERR_\w+|unknown)$/;

/** Reads out of what was seen on the wire why a server's tools could not be listed. */
export function whyRemote(id: string, url: URL, failure: Failure, wire: Wire): Stopped<Step> {
  const { connectError, status } = wire;
  if (status === undefined && connectError !== undefined) return unreached(url, connectError);
  if (status === 401 || status === 403 || failure.code === "auth_required") {
    return refusedBy(id, status, failure);
  }
  const answer = status === undefined ? undefined : badAnswer(url, wire);
  if (answer !== undefined) return { step: "http", finding: answer };
  const step = wire.greeted ? "list" : "initialize";
  const code = step === "list" ? "list_failed" : "handshake_failed";
  const fix =
    failure.code === "timeout"
      ? "See why the server is slow, or whether something between holds its answers back."
      : "Try the server with another MCP client; its own log says more.";
  return { step, finding: { code, cause: failure.message, fix } };
}

function unreached({ hostname, host, port, protocol }: URL, error: string): Stopped<Step> {
  if (NO_NAME.test(error)) {
    const cause = `No address is known for the name ${hostname} (${error}).`;
    const fix = "Correct url in the config, or see whether this machine's DNS works.";
    return { step: "name", finding: { code: "name_unresolved", cause, fix } };
  }
  const at = port === "" ? `${host}:${protocol === "https:" ? 443 : 80}` : host;
  if (OF_CONNECTION.test(error)) {
    const cause = `Nothing answers at ${at} (${error}).`;
    const fix = "Start the server, correct the port in url, or let the connection through.";
    return { step: "connection", finding: { code: "connection_failed", cause, fix } };
  }
  const cause = `The connection to ${at} is not trusted or no TLS (${error}).`;
  const fix =
    "Give the server a certificate for this name from an authority that is known here; " +
    "one of your own: NODE_EXTRA_CA_CERTS=ca.pem.";
  return { step: "tls", finding: { code: "certificate_refused", cause, fix } };
}

function refusedBy(id: string, status: number | undefined, { message }: Failure): Stopped<Step> {
  const isAsked = status === 401 || status === 403;
  return {
    step: "auth",
    finding: {
      code: isAsked ? "credential_refused" : "credential_missing",
      cause: message,
      fix: isAsked
        ? `Correct headers in the config, or hand it over: connecta credentials set ${id}.`
        : `Hand it over: connecta credentials set ${id}; an authorization begins in a client.`,
    },
  };
}

function badAnswer(url: URL, { status = 0, contentType = "" }: Wire): Finding | undefined {
  if (status >= 500) {
    const cause = `The server answers with HTTP ${status}.`;
    return { code: "server_failed", cause, fix: "See the server's own log; try again later." };
  }
  if (status >= 300 && status !== 429) {
    return {
      code: "endpoint_wrong",
      cause: `${url.pathname} is answered with HTTP ${status}: no MCP endpoint is there.`,
      fix: "Correct the path of url in the config; often it ends with /mcp.",
    };
  }
  if (status === 429) {
    return { code: "rate_limited", cause: "HTTP 429.", fix: "Wait, then try again." };
  }
  if (contentType === "application/json" || contentType === "text/event-stream") return undefined;
  if (status === 202 || contentType === "") return undefined;
  return {
    code: "answer_no_mcp",
    cause: `${url.pathname} is answered with ${contentType.slice(0, 64)}, which is no MCP.`,
    fix: "Correct url in the config: this may be a web page, or a page that asks to sign in.",
  };
}
