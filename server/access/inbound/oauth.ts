import { decodeJwt, errors, jwtVerify, type JWTPayload, type JWTVerifyOptions } from "jose";
import { hashOf } from "../../shared/digest.ts";
import { LIMITS } from "../../shared/limits.ts";
import { utf8Length } from "../../shared/text.ts";
import { IssuerKeys, KeysUnavailable } from "./issuer-keys.ts";
import type { ClaimValue, ReadyIssuer } from "./oauth-options.ts";
import { UNKNOWN, type Report, type Verdict, type WayIn } from "./verdict.ts";

/** Kinds of JWT that may be an access token; an ID or logout token of the same issuer is none. */
const TYPES = new Set(["", "jwt", "at+jwt"]);

/**
 * Admits bearers of access tokens that one of the issuers signed for this deployment.
 * @param resources the addresses of this deployment's `/mcp`, which `aud` must name by default
 */
export function oauth(
  issuers: readonly ReadyIssuer[],
  resources: () => readonly string[],
  report: Report,
): WayIn {
  const known = new Map(
    issuers.map((options) => [options.issuer, { options, keys: new IssuerKeys(options, report) }]),
  );
  return {
    async check(credential) {
      const issuer = issuerOf(credential);
      if (issuer === undefined) return UNKNOWN;
      const found = known.get(issuer);
      if (!found) return invalid("The token is of another issuer.");
      const audience = found.options.audience ?? resources();
      return verify(credential, { ...found, audience: [...audience] });
    },
  };
}

interface Expected {
  readonly options: ReadyIssuer;
  readonly keys: IssuerKeys;
  readonly audience: string[];
}

async function verify(token: string, { options, keys, audience }: Expected): Promise<Verdict> {
  const expected: JWTVerifyOptions = {
    issuer: options.issuer,
    audience,
    algorithms: [...options.algorithms],
    clockTolerance: options.clockSkewSeconds,
    requiredClaims: ["exp", "sub"],
  };
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys.getKey, expected);
    const type = (protectedHeader.typ ?? "").toLowerCase().replace(/^application\//, "");
    if (!TYPES.has(type)) return invalid("The token is no access token.");
    return await judge(payload, options);
  } catch (error) {
    if (error instanceof KeysUnavailable) {
      return { kind: "unavailable", message: "The issuer of the token cannot be asked now." };
    }
    if (error instanceof errors.JOSEError) return invalid(reasonOf(error));
    throw error;
  }
}

/** What a token says that is certainly its issuer's. */
async function judge(claims: JWTPayload, options: ReadyIssuer): Promise<Verdict> {
  const { sub } = claims;
  if (typeof sub !== "string" || sub === "") return invalid("The token names nobody.");
  // Its bearer would have to prove that it holds a key as well, which is not looked at here.
  if (claims.cnf !== undefined)
    return invalid("The token is bound to a key; send one that is not.");
  const scopes = scopesOf(claims);
  if (!options.scopes.every((scope) => scopes.has(scope))) {
    const message = "The token lacks a scope that this deployment asks for.";
    return { kind: "insufficient", message, scopes: options.scopes };
  }
  for (const [name, wanted] of options.claims) {
    if (!holds(Object.hasOwn(claims, name) ? claims[name] : undefined, wanted)) {
      return { kind: "insufficient", message: "This account is not one that may call here." };
    }
  }
  return { kind: "admitted", principal: await principalOf(options.issuer, sub) };
}

function holds(claim: unknown, wanted: readonly ClaimValue[]): boolean {
  const given: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return given.some((value) => wanted.some((one) => one === value));
}

/** `scope` as RFC 9068 has it, or `scp` as others do. */
function scopesOf(claims: JWTPayload): ReadonlySet<string> {
  const given = claims.scope ?? claims.scp;
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  return new Set(list.flatMap((one) => (typeof one === "string" ? one.split(" ") : [])));
}

/**
 * One name for each account of each issuer, which fits where names of callers are kept. A long or
 * unprintable one is told apart by its hash, since two that are merely cut could become the same.
 */
async function principalOf(issuer: string, sub: string): Promise<string> {
  const plain = `oauth:${issuer}#${sub}`;
  const fits = utf8Length(plain) <= LIMITS.nameBytes.value && /^[\x21-\x7e]+$/.test(sub);
  // No plain name begins like that: an issuer is an address.
  return fits ? plain : `oauth:#${await hashOf(`${issuer}#${sub}`)}`;
}

/** The issuer that a token claims to be of; nothing is believed because of it. */
function issuerOf(credential: string): string | undefined {
  try {
    return decodeJwt(credential).iss;
  } catch {
    return undefined;
  }
}

function reasonOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return "The token has expired.";
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === "aud") return "The token is for another resource than this one.";
    if (error.claim === "nbf") return "The token is not valid yet.";
  }
  return "The token is not valid here.";
}

function invalid(message: string): Verdict {
  return { kind: "invalid", message };
}
