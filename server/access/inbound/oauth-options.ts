import { z } from "zod";
import { LIMITS } from "../../shared/limits.ts";
import { isLoopback } from "../../shared/loopback.ts";

/** Signatures by a key pair alone: a secret that both sides share is no proof of an issuer. */
export const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;

/** The name of one of {@link ALGORITHMS}. */
export type Algorithm = (typeof ALGORITHMS)[number];

/** A value that a claim must have. */
export type ClaimValue = string | number | boolean;

/** An OAuth 2.1 or OpenID Connect issuer whose access tokens, as JWT, let their bearer in. */
export interface OAuthIssuer {
  /** Exactly as the issuer writes it into `iss`; `https`, or `http` on loopback. */
  readonly issuer: string;
  /** What `aud` must name; the address of this deployment's `/mcp` when omitted. */
  readonly audience?: string | readonly string[];
  /** Scopes that a token must have, all of them; clients are told to ask for them. */
  readonly scopes?: readonly string[];
  /**
   * What else must be true of a token: a claim with the value, or one of the values; of a claim
   * that is a list, one entry.
   */
  readonly claims?: Readonly<Record<string, ClaimValue | readonly ClaimValue[]>>;
  /** Signatures that are accepted; every one by a key pair when omitted. */
  readonly algorithms?: readonly Algorithm[];
  /** How far the issuer's clock may be from ours, in seconds, at most 300; 30 when omitted. */
  readonly clockSkewSeconds?: number;
  /** Where its keys are, for an issuer that says so nowhere; otherwise they are discovered. */
  readonly jwksUri?: string;
}

/** One issuer with every default filled in; no audience stands for the deployment's own address. */
export interface ReadyIssuer {
  readonly issuer: string;
  readonly audience: readonly string[] | undefined;
  readonly scopes: readonly string[];
  readonly claims: ReadonlyMap<string, readonly ClaimValue[]>;
  readonly algorithms: readonly Algorithm[];
  readonly clockSkewSeconds: number;
  readonly jwksUri: URL | undefined;
}

const MAX_SKEW_SECONDS = 300;

const text = z.string().min(1);
const claimValue = z.union([z.string(), z.number(), z.boolean()]);
const ISSUER = z.strictObject({
  issuer: text,
  audience: z.union([text, z.array(text).min(1)]).exactOptional(),
  scopes: z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/)).exactOptional(),
  claims: z.record(text, z.union([claimValue, z.array(claimValue).min(1)])).exactOptional(),
  algorithms: z.array(z.enum(ALGORITHMS)).min(1).exactOptional(),
  clockSkewSeconds: z.int().min(0).max(MAX_SKEW_SECONDS).exactOptional(),
  jwksUri: text.exactOptional(),
});

/**
 * Checks `auth.oauth`: one issuer or a list.
 * @throws TypeError that names the option and the fix
 */
export function readIssuers(given: unknown): readonly ReadyIssuer[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (list.length === 0)
    throw new TypeError("auth.oauth names no issuer: give one, or leave it out.");
  const issuers = list.map((one, index) =>
    readIssuer(one, Array.isArray(given) ? `auth.oauth[${index}]` : "auth.oauth"),
  );
  const names = issuers.map(({ issuer }) => issuer);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new TypeError(`auth.oauth has ${twice} twice: leave one out.`);
  return issuers;
}

function readIssuer(given: unknown, at: string): ReadyIssuer {
  const { data, error } = ISSUER.safeParse(given);
  if (!data) {
    const [issue] = error.issues;
    const place = [at, ...(issue?.path ?? [])].join(".");
    if (issue?.code === "unrecognized_keys") {
      const options = Object.keys(ISSUER.shape).join(", ");
      throw new TypeError(`${place}.${issue.keys[0]} is no option; there can be: ${options}.`);
    }
    if (place.includes(".algorithms")) {
      throw new TypeError(`${place} must be one of ${ALGORITHMS.join(", ")}.`);
    }
    throw new TypeError(`${place} is not usable: ${issue?.message}.`);
  }
  if (!isSafeAddress(data.issuer) || /[?#]/.test(data.issuer)) {
    throw new TypeError(
      `${at}.issuer must be an https address without query, as the issuer writes it itself.`,
    );
  }
  if (data.jwksUri !== undefined && !isSafeAddress(data.jwksUri)) {
    throw new TypeError(`${at}.jwksUri must be an https address.`);
  }
  return {
    issuer: data.issuer,
    audience: typeof data.audience === "string" ? [data.audience] : data.audience,
    scopes: data.scopes ?? [],
    claims: new Map(
      Object.entries(data.claims ?? {}).map(([name, value]) => [
        name,
        Array.isArray(value) ? value : [value],
      ]),
    ),
    algorithms: data.algorithms ?? ALGORITHMS,
    clockSkewSeconds: data.clockSkewSeconds ?? LIMITS.clockSkewSeconds.value,
    jwksUri: data.jwksUri === undefined ? undefined : new URL(data.jwksUri),
  };
}

/** Whether nobody on the way can change what an address answers: `https`, or this machine itself. */
export function isSafeAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== "" || password !== "") return false;
  if (protocol === "https:") return true;
  return protocol === "http:" && isLoopback(hostname);
}
