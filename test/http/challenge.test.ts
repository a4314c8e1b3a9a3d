import { describe, expect, test } from "vitest";
import type { Identity } from "../../server/access/inbound/verdict.ts";
import { challenge } from "../../server/http/challenge.ts";
import { ProtectedResource } from "../../server/http/protected-resource.ts";

const resource = new ProtectedResource({
  issuers: ["https://issuer.example"],
  scopes: ["mcp:call"],
  addresses: () => ["https://mcp.example"],
  name: "mine",
});
const METADATA = 'resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"';
const request = new Request("http://127.0.0.1:8787/mcp", { method: "POST" });

type Refused = Exclude<Identity, { readonly kind: "admitted" }>;

function answered(refused: Refused, where?: ProtectedResource) {
  const { status, headers } = challenge(refused, request, where);
  return [status, headers.get("www-authenticate"), headers.get("retry-after")];
}

describe("what a caller hears who is not admitted", () => {
  test("without a token: where to sign in and what to ask for, and no error", () => {
    expect(answered({ kind: "missing" }, resource)).toEqual([
      401,
      `Bearer ${METADATA}, scope="mcp:call"`,
      null,
    ]);
    expect(answered({ kind: "missing" })).toEqual([401, "Bearer", null]);
  });

  test("with a token that is no good: that, and where to get another", () => {
    const refused: Refused = { kind: "invalid", message: "The token has expired." };
    const error = 'error="invalid_token", error_description="The token has expired."';
    expect(answered(refused, resource)).toEqual([
      401,
      `Bearer ${error}, ${METADATA}, scope="mcp:call"`,
      null,
    ]);
    expect(answered(refused)).toEqual([401, `Bearer ${error}`, null]);
  });

  test("with too small a scope: which it takes, so that a client can step up", () => {
    const refused: Refused = { kind: "insufficient", message: "More.", scopes: ["a", "b"] };
    expect(answered(refused, resource)).toEqual([
      403,
      `Bearer error="insufficient_scope", ${METADATA}, scope="a b"`,
      null,
    ]);
  });

  test("as an account that may not call: nothing that would make a client sign in again", () => {
    const refused: Refused = { kind: "insufficient", message: "Not you." };
    expect(answered(refused, resource)).toEqual([403, `Bearer ${METADATA}`, null]);
  });

  test("when nobody can say: to come again", () => {
    expect(answered({ kind: "unavailable", message: "Later." }, resource)).toEqual([
      503,
      null,
      "5",
    ]);
  });
});
