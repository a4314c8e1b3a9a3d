import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { oauth } from "../../../server/access/inbound/oauth.ts";
import { readIssuers, type OAuthIssuer } from "../../../server/access/inbound/oauth-options.ts";
import type { WayIn } from "../../../server/access/inbound/verdict.ts";
import { issuerKey, TestIssuer } from "../../support/issuer.ts";

const RESOURCE = "https://mcp.example/mcp";
const SECOND = 1_000;
const UNAVAILABLE = {
  kind: "unavailable",
  message: "The issuer of the token cannot be asked now.",
};

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

function wayIn(options: Partial<OAuthIssuer> = {}): WayIn {
  const issuers = readIssuers({ issuer: issuer.url, ...options });
  return oauth(
    issuers,
    () => [RESOURCE],
    (error) => reported.push(error.message),
  );
}

const kindOf = async (way: WayIn, token: string) => (await way.check(token)).kind;
/** Only what tells the time stands still; sockets and timers go on. */
const stopClock = () => vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);
const down = () => {
  issuer.instead = (_, response) => {
    response.writeHead(500).end();
    return true;
  };
};

describe("an issuer's keys", () => {
  test("are read once for many tokens, and by callers at once in one request", async () => {
    const way = wayIn();
    const token = await issuer.sign({ aud: RESOURCE });
    const kinds = await Promise.all(Array.from({ length: 20 }, () => kindOf(way, token)));
    expect(new Set(kinds)).toEqual(new Set(["admitted"]));
    expect(issuer.asked).toEqual([
      "/.well-known/oauth-authorization-server",
      "/.well-known/openid-configuration",
      "/jwks",
    ]);
  });

  test("that are new are read when a token names one, and those withdrawn end within ten minutes", async () => {
    stopClock();
    const way = wayIn();
    const old = issuer.keys[0];
    expect(await kindOf(way, await issuer.sign({ aud: RESOURCE }))).toBe("admitted");
    issuer.keys = [await issuerKey("second")];
    pass(6 * SECOND);
    expect(await kindOf(way, await issuer.sign({ aud: RESOURCE }))).toBe("admitted");
    expect(await kindOf(way, await issuer.sign({ aud: RESOURCE }, old))).toBe("invalid");
    const second = await issuer.sign({ aud: RESOURCE, exp: Math.floor(Date.now() / 1000) + 7_200 });
    issuer.keys = [await issuerKey("third")];
    pass(599 * SECOND);
    expect(await kindOf(way, second)).toBe("admitted");
    pass(2 * SECOND);
    expect(await kindOf(way, second)).toBe("invalid");
  });

  test("are not read for every token that names one which is not there", async () => {
    stopClock();
    const way = wayIn();
    await way.check(await issuer.sign({ aud: RESOURCE }));
    const forged = await issuerKey("forged");
    const read = () => issuer.asked.filter((path) => path === "/jwks").length;
    const token = await issuer.sign({ aud: RESOURCE }, forged);
    for (let i = 0; i < 10; i++) expect(await kindOf(way, token)).toBe("invalid");
    expect(read()).toBe(1);
    pass(6 * SECOND);
    for (let i = 0; i < 10; i++) expect(await kindOf(way, token)).toBe("invalid");
    expect(read()).toBe(2);
  });

  test("that cannot be read let nobody in, are asked for seldom, and are told of once", async () => {
    stopClock();
    const way = wayIn();
    const token = await issuer.sign({ aud: RESOURCE });
    down();
    for (let i = 0; i < 5; i++) expect(await way.check(token)).toEqual(UNAVAILABLE);
    expect(issuer.asked).toHaveLength(2);
    expect(reported).toEqual([expect.stringContaining(`${issuer.url} lets nobody in: `)]);
    pass(6 * SECOND);
    expect(await way.check(token)).toEqual(UNAVAILABLE);
    expect(reported).toHaveLength(1);
    issuer.instead = () => false;
    pass(6 * SECOND);
    expect(await kindOf(way, token)).toBe("admitted");
  });

  test.each<[string, number, string, string]>([
    ["fail", 500, "", "it answers 500."],
    ["are no JSON", 200, "keys", "no keys are in it."],
    ["are none", 200, "{}", "no keys are in it."],
  ])(
    "that %s while the metadata is there are asked for as seldom",
    async (_, code, text, reason) => {
      stopClock();
      const way = wayIn();
      const token = await issuer.sign({ aud: RESOURCE });
      issuer.instead = ({ url }, response) => {
        if (url === "/jwks") response.writeHead(code).end(text);
        return url === "/jwks";
      };
      for (let i = 0; i < 5; i++) expect(await way.check(token)).toEqual(UNAVAILABLE);
      expect(issuer.asked.filter((path) => path === "/jwks")).toHaveLength(1);
      expect(reported).toEqual([expect.stringContaining(`/jwks: ${reason}`)]);
      pass(6 * SECOND);
      issuer.instead = () => false;
      expect(await kindOf(way, token)).toBe("admitted");
    },
  );

  test("serve on for ten minutes when they can no longer be read, and no longer", async () => {
    stopClock();
    const way = wayIn();
    const token = await issuer.sign({ aud: RESOURCE, exp: Math.floor(Date.now() / 1000) + 7_200 });
    expect(await kindOf(way, token)).toBe("admitted");
    down();
    pass(599 * SECOND);
    expect(await kindOf(way, token)).toBe("admitted");
    pass(2 * SECOND);
    expect(await kindOf(way, token)).toBe("unavailable");
    pass(3_600 * SECOND);
    expect(await kindOf(way, token)).toBe("unavailable");
  });
});

describe("an issuer's metadata", () => {
  test.each<[string, string, string]>([
    ["OAuth, beside its path", "/tenant", "/.well-known/oauth-authorization-server/tenant"],
    ["OpenID, beside its path", "/tenant", "/.well-known/openid-configuration/tenant"],
    ["OpenID, below its path", "/tenant", "/tenant/.well-known/openid-configuration"],
    ["OAuth, without a path", "", "/.well-known/oauth-authorization-server"],
  ])("is found: %s", async (_, path, wellKnown) => {
    await issuer.close();
    issuer = await TestIssuer.start(path);
    issuer.wellKnown = wellKnown;
    expect(await kindOf(wayIn(), await issuer.sign({ aud: RESOURCE }))).toBe("admitted");
    expect(issuer.asked).toContain(wellKnown);
  });

  test("is not needed where the config says where the keys are", async () => {
    const way = wayIn({ jwksUri: `${issuer.url}/jwks` });
    expect(await kindOf(way, await issuer.sign({ aud: RESOURCE }))).toBe("admitted");
    expect(issuer.asked).toEqual(["/jwks"]);
  });

  test.each<[string, () => Record<string, unknown>, string]>([
    ["speaks for another issuer", () => ({ issuer: "https://evil.example" }), "another issuer"],
    ["differs by a slash", () => ({ issuer: `${issuer.url}/` }), "another issuer"],
    ["names no keys", () => ({ jwks_uri: undefined }), "no issuer and jwks_uri"],
    ["has its keys in the open", () => ({ jwks_uri: "http://evil.example/jwks" }), "no https"],
  ])("that %s lets nobody in", async (_, metadata, reason) => {
    issuer.metadata = metadata();
    expect(await wayIn().check(await issuer.sign({ aud: RESOURCE }))).toEqual(UNAVAILABLE);
    expect(reported).toEqual([expect.stringContaining(reason)]);
    issuer.metadata = {};
    expect(await kindOf(wayIn(), await issuer.sign({ aud: RESOURCE }))).toBe("admitted");
  });

  test("that redirects is not followed", async () => {
    const elsewhere = createServer((_, response) => response.end("{}"));
    const seen: (string | undefined)[] = [];
    elsewhere.on("request", ({ url }) => seen.push(url));
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`;
    issuer.instead = (_, response) => {
      response.writeHead(302, { location }).end();
      return true;
    };
    expect(await wayIn().check(await issuer.sign({ aud: RESOURCE }))).toEqual(UNAVAILABLE);
    expect(seen).toEqual([]);
    await fetch(`${issuer.url}/anything`);
    expect(seen).toEqual(["/"]);
    elsewhere.close();
  });

  test.each(["/jwks", "/.well-known/openid-configuration"])(
    "or keys without end are given up: %s",
    async (path) => {
      let left = false;
      const gone = new Promise<void>((resolve) => {
        issuer.instead = ({ url }, response) => {
          if (url !== path) return false;
          response.once("close", () => {
            left = true;
            resolve();
          });
          const more = () => !left && response.write(" ".repeat(65_536)) && setImmediate(more);
          response.on("drain", more);
          more();
          return true;
        };
      });
      expect(await wayIn().check(await issuer.sign({ aud: RESOURCE }))).toEqual(UNAVAILABLE);
      await gone;
      expect(reported).toEqual([expect.stringContaining("it is over 262144 bytes")]);
    },
  );
});

describe("auth.oauth", () => {
  const ISSUER = "https://issuer.example";

  test.each<[string, unknown, string]>([
    ["an empty list", [], "auth.oauth names no issuer"],
    ["a text", ISSUER, "auth.oauth is not usable"],
    ["no issuer", {}, "auth.oauth.issuer is not usable"],
    ["an issuer in the open", { issuer: "http://a.example" }, "auth.oauth.issuer must be an https"],
    ["an issuer with a query", { issuer: `${ISSUER}?a` }, "auth.oauth.issuer must be an https"],
    ["an issuer twice", [{ issuer: ISSUER }, { issuer: ISSUER }], `auth.oauth has ${ISSUER} twice`],
    ["an unknown option", [{ issuer: ISSUER, aud: "a" }], "auth.oauth[0].aud is no option"],
    ["no signature", { issuer: ISSUER, algorithms: ["none"] }, "auth.oauth.algorithms.0 must be"],
    ["a shared secret", { issuer: ISSUER, algorithms: ["HS256"] }, "must be one of RS256, RS384"],
    ["no algorithm", { issuer: ISSUER, algorithms: [] }, "auth.oauth.algorithms must be one of"],
    ["an audience that is unset", { issuer: ISSUER, audience: undefined }, "auth.oauth.audience"],
    ["a scope that is two", { issuer: ISSUER, scopes: ["a b"] }, "auth.oauth.scopes.0"],
    ["a rule that holds of nobody", { issuer: ISSUER, claims: { a: [] } }, "auth.oauth.claims.a"],
    ["clocks an hour apart", { issuer: ISSUER, clockSkewSeconds: 3_600 }, "clockSkewSeconds"],
    ["keys in the open", { issuer: ISSUER, jwksUri: "http://a.example" }, "auth.oauth.jwksUri"],
  ])("with %s is refused, naming the option", (_, options, message) => {
    expect(() => readIssuers(options)).toThrow(message);
  });
});
