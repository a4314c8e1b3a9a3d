import {
  decodeJwt,
  decodeProtectedHeader,
  jwtVerify,
  importJWK,
  exportJWK,
  exportSPKI,
} from "jose";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { oauth } from "../../../server/access/inbound/oauth.ts";
import { readIssuers, type OAuthIssuer } from "../../../server/access/inbound/oauth-options.ts";
import type { WayIn } from "../../../server/access/inbound/verdict.ts";
import {
  issuerKey,
  signedWithPublicKey,
  TestIssuer,
  unsigned,
  type IssuerKey,
} from "../../support/issuer.ts";

const RESOURCE = "https://mcp.example/mcp";
const NOT_VALID = { kind: "invalid", message: "The token is not valid here." };

let issuer: TestIssuer;
const reported: string[] = [];
beforeEach(async () => {
  reported.length = 0;
  issuer = await TestIssuer.start();
});
afterEach(async () => {
  vi.useRealTimers();
  await issuer.close();
});

function wayIn(options: Partial<OAuthIssuer> = {}, resource = RESOURCE): WayIn {
  const issuers = readIssuers({ issuer: issuer.url, ...options });
  return oauth(
    issuers,
    () => [resource],
    (error) => reported.push(error.message),
  );
}

const own = () => ({ iss: issuer.url, sub: "ada", aud: RESOURCE, exp: inSeconds(300) });
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
const admitted = () => ({ kind: "admitted", principal: `oauth:${issuer.url}#ada` });

/** Verifies as too many do: by what the token says of itself. */
async function naive(token: string, key: IssuerKey): Promise<string | undefined> {
  const { alg, jwk } = decodeProtectedHeader(token);
  if (alg === "none") return decodeJwt(token).sub;
  const secret = new TextEncoder().encode(await exportSPKI(key.publicKey));
  const used = jwk ? await importJWK(jwk, alg) : alg?.startsWith("HS") ? secret : key.publicKey;
  return (await jwtVerify(token, used)).payload.sub;
}

describe("a token of an issuer", () => {
  test("lets its bearer in as the account that it names", async () => {
    const token = await issuer.sign({ aud: RESOURCE });
    expect(await wayIn().check(token)).toEqual(admitted());
  });

  test.each(["RS256", "PS256", "ES384", "EdDSA"])("may be signed with %s", async (alg) => {
    issuer.keys = [await issuerKey("other", alg)];
    const token = await issuer.sign({ aud: ["https://else.example", RESOURCE] });
    expect(await wayIn().check(token)).toEqual(admitted());
  });

  test("is not looked at when it is no JWT, and needs its issuer named", async () => {
    expect(await wayIn().check("correct-horse-battery")).toEqual({ kind: "unknown" });
    const token = await issuer.sign({ aud: RESOURCE, iss: "https://other.example" });
    expect(await wayIn().check(token)).toEqual({
      kind: "invalid",
      message: "The token is of another issuer.",
    });
    expect(issuer.asked).toEqual([]);
  });

  test("of one issuer does not pass for one of another that is accepted too", async () => {
    const other = await TestIssuer.start();
    try {
      const both = readIssuers([{ issuer: issuer.url }, { issuer: other.url }]);
      const way = oauth(
        both,
        () => [RESOURCE],
        () => {},
      );
      expect(await way.check(await other.sign({ aud: RESOURCE, iss: issuer.url }))).toEqual(
        NOT_VALID,
      );
      expect(await way.check(await other.sign({ aud: RESOURCE }))).toEqual({
        kind: "admitted",
        principal: `oauth:${other.url}#ada`,
      });
    } finally {
      await other.close();
    }
  });
});

describe("a forged token", () => {
  test("without a signature is refused; a verifier that believes its alg lets it in", async () => {
    const token = unsigned(own());
    expect(await wayIn().check(token)).toEqual(NOT_VALID);
    expect(await naive(token, await issuerKey("any"))).toBe("ada");
  });

  test("signed with the public key as a secret is refused; a naive verifier lets it in", async () => {
    const [key] = issuer.keys;
    if (!key) throw new Error("no key");
    const token = await signedWithPublicKey(own(), key);
    expect(await wayIn().check(token)).toEqual(NOT_VALID);
    expect(await naive(token, key)).toBe("ada");
  });

  test("that brings its own key is refused; a naive verifier lets it in", async () => {
    const key = await issuerKey("first");
    const jwk = await exportJWK(key.publicKey);
    const token = await issuer.sign({ aud: RESOURCE }, key, { jwk });
    expect(await wayIn().check(token)).toEqual(NOT_VALID);
    expect(await naive(token, key)).toBe("ada");
  });

  test("with claims that were changed is refused; unchanged it is admitted", async () => {
    const token = await issuer.sign({ aud: RESOURCE });
    const [header, , signature] = token.split(".");
    const claims = Buffer.from(JSON.stringify({ ...decodeJwt(token), sub: "eve" }));
    const changed = [header, claims.toString("base64url"), signature].join(".");
    expect(await wayIn().check(changed)).toEqual(NOT_VALID);
    expect(await wayIn().check(token)).toEqual(admitted());
  });
});

describe("a genuine token that is not for this", () => {
  test("of another audience is refused; where that audience is meant it is admitted", async () => {
    const token = await issuer.sign({ aud: "https://other.example/mcp" });
    expect(await wayIn().check(token)).toEqual({
      kind: "invalid",
      message: "The token is for another resource than this one.",
    });
    expect(await wayIn({}, "https://other.example/mcp").check(token)).toEqual(admitted());
    expect(await wayIn({ audience: ["a", "https://other.example/mcp"] }).check(token)).toEqual(
      admitted(),
    );
  });

  test("without an audience is refused", async () => {
    expect(await wayIn().check(await issuer.sign({}))).toMatchObject({ kind: "invalid" });
  });

  test("is refused when it has expired, and admitted within the clocks' difference", async () => {
    const token = await issuer.sign({ aud: RESOURCE, exp: inSeconds(-40) });
    expect(await wayIn().check(token)).toEqual({
      kind: "invalid",
      message: "The token has expired.",
    });
    expect(await wayIn({ clockSkewSeconds: 60 }).check(token)).toEqual(admitted());
  });

  test("is refused before its time, and admitted within the clocks' difference", async () => {
    const token = await issuer.sign({ aud: RESOURCE, nbf: inSeconds(40) });
    expect(await wayIn().check(token)).toEqual({
      kind: "invalid",
      message: "The token is not valid yet.",
    });
    expect(await wayIn({ clockSkewSeconds: 60 }).check(token)).toEqual(admitted());
  });

  test.each(["exp", "sub"])("without %s is refused", async (claim) => {
    expect(await wayIn().check(await issuer.sign({ aud: RESOURCE, [claim]: undefined }))).toEqual(
      NOT_VALID,
    );
  });

  test("with a signature that the config leaves out is refused", async () => {
    const token = await issuer.sign({ aud: RESOURCE });
    expect(await wayIn({ algorithms: ["RS256"] }).check(token)).toEqual(NOT_VALID);
    expect(await wayIn({ algorithms: ["ES256"] }).check(token)).toEqual(admitted());
  });

  test.each([
    ["an ID token's", "id+jwt", "The token is no access token."],
    ["a logout token's", "application/logout+jwt", "The token is no access token."],
  ])("of %s type is refused, of no type it is admitted", async (_, typ, message) => {
    const way = wayIn();
    const typed = await issuer.sign({ aud: RESOURCE }, issuer.keys[0], { typ });
    expect(await way.check(typed)).toEqual({ kind: "invalid", message });
    const untyped = await issuer.sign({ aud: RESOURCE }, issuer.keys[0], { typ: undefined });
    expect(await way.check(untyped)).toEqual(admitted());
  });

  test("bound to a key that its bearer does not prove to have is refused", async () => {
    const token = await issuer.sign({ aud: RESOURCE, cnf: { jkt: "x" } });
    expect(await wayIn().check(token)).toMatchObject({ kind: "invalid" });
  });
});

describe("what a deployment asks of an account", () => {
  test.each<[string, object, boolean]>([
    ["as scope", { scope: "openid mcp:call" }, true],
    ["as a list", { scp: ["mcp:call"] }, true],
    ["as scp", { scp: "mcp:call other" }, true],
    ["as part of another", { scope: "mcp:call:none" }, false],
    ["not at all", {}, false],
  ])("a scope %s", async (_, claims, isEnough) => {
    const verdict = await wayIn({ scopes: ["mcp:call"] }).check(
      await issuer.sign({ aud: RESOURCE, ...claims }),
    );
    expect(verdict).toEqual(
      isEnough
        ? admitted()
        : {
            kind: "insufficient",
            message: "The token lacks a scope that this deployment asks for.",
            scopes: ["mcp:call"],
          },
    );
  });

  test.each<[string, object, boolean]>([
    ["the value", { team: "blue" }, true],
    ["another value that is listed", { team: "green" }, true],
    ["a list with it", { team: ["red", "blue"] }, true],
    ["a value that is not listed", { team: "red" }, false],
    ["no value", {}, false],
    ["a value of another type", { team: { blue: true } }, false],
  ])("a claim with %s", async (_, claims, isEnough) => {
    const verdict = await wayIn({ claims: { team: ["blue", "green"] } }).check(
      await issuer.sign({ aud: RESOURCE, ...claims }),
    );
    expect(verdict).toEqual(
      isEnough
        ? admitted()
        : { kind: "insufficient", message: "This account is not one that may call here." },
    );
  });

  test("two accounts are two callers, however long or odd their names", async () => {
    const way = wayIn();
    const long = "a".repeat(500);
    const names = ["ada", "ada\n", "ada#", `${long}1`, `${long}2`, "ädа"];
    const callers = await Promise.all(
      names.map(async (sub) => {
        const verdict = await way.check(await issuer.sign({ aud: RESOURCE, sub }));
        return verdict.kind === "admitted" ? verdict.principal : "";
      }),
    );
    expect(new Set(callers).size).toBe(names.length);
    for (const caller of callers) expect(caller).toMatch(/^oauth:[\x21-\x7e]{1,122}$/);
  });
});
