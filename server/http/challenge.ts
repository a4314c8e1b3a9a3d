import type { Identity } from "../access/inbound/verdict.ts";
import type { ProtectedResource } from "./protected-resource.ts";
import { refuse } from "./refusal.ts";

type Refused = Exclude<Identity, { readonly kind: "admitted" }>;

/** When a client should try again whose token cannot be checked now, in seconds. */
const RETRY_AFTER_SECONDS = 5;

/** Answers a caller who was not admitted, and says where to sign in when there is a place (RFC 6750, 9728). */
export function challenge(
  refused: Refused,
  request: Request,
  resource: ProtectedResource | undefined,
): Response {
  const metadata = resource && ["resource_metadata", resource.metadataUrl(request)];
  const scope = (scopes: readonly string[] = []) =>
    scopes.length > 0 ? ["scope", scopes.join(" ")] : undefined;
  switch (refused.kind) {
    case "missing": {
      const header = bearerWith(metadata, scope(resource?.scopes));
      return refuse(401, "Send the bearer token of this deployment.", header);
    }
    case "invalid": {
      const { message } = refused;
      const error = [
        ["error", "invalid_token"],
        ["error_description", message],
      ];
      return refuse(401, message, bearerWith(...error, metadata, scope(resource?.scopes)));
    }
    case "insufficient": {
      const { message, scopes } = refused;
      // Without scopes that would help, signing in again would not help either.
      const error = scopes && ["error", "insufficient_scope"];
      return refuse(403, message, bearerWith(error, metadata, scope(scopes)));
    }
    case "unavailable":
      return refuse(503, refused.message, { "retry-after": String(RETRY_AFTER_SECONDS) });
  }
}

/** The challenge with those parameters that are there; their values are ours and hold no quotes. */
function bearerWith(
  ...parameters: readonly (readonly string[] | undefined)[]
): Record<string, string> {
  const given = parameters.filter((one) => one !== undefined);
  const list = given.map(([name, value]) => `${name}="${value}"`).join(", ");
  return { "www-authenticate": list === "" ? "Bearer" : `Bearer ${list}` };
}
