import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { Tokens } from "../../server/access/inbound/tokens.ts";
import { BEARER } from "../../verify/operator/deployment.ts";
import { eventually } from "../../verify/support/page.ts";
import { deferred, valueOf } from "../support/catalog.ts";
import {
  ADA,
  agreed,
  authorize,
  endAccess,
  manyAtOnce,
  statusOf,
  whoami,
} from "../support/worker/calls.ts";
import { deployed, type Deployment } from "../support/worker/deployment.ts";
import { Operator } from "../support/worker/operator.ts";
import { surroundings, tokenFor, type Surroundings } from "../support/worker/surroundings.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let around: Surroundings;
let one: Deployment;
beforeAll(async () => {
  around = await surroundings();
  one = await deployed(around);
});
beforeEach(async () => {
  await one.empty();
  around.issuer.hold = undefined;
  around.issuer.tokenRequests.length = 0;
});
afterAll(async () => {
  await one.close();
  await around.close();
});

const everywhere = () => Object.values(one.urls);
const grants = () => around.issuer.tokenRequests.map((form) => form.get("grant_type"));

describe("who may call a Worker", () => {
  test("a token made on the operator page lets in at every isolate until it is revoked", async () => {
    const { url, store } = one;
    const operator = await Operator.signIn(url);
    const made = await operator.send("/tokens", { action: "create", name: "laptop", ends: "30" });
    const token = /connecta_[0-9a-f]{16}_[0-9a-f]{64}/.exec(made.text)?.[0] ?? "";
    const statuses = () => Promise.all(everywhere().map((at) => statusOf(at, token)));
    expect(await statuses()).toEqual([200, 200]);
    const [issued] = valueOf(await new Tokens(store()).list());
    await operator.send("/tokens", { action: "revoke", id: issued?.id ?? "" });
    expect(await statuses()).toEqual([401, 401]);
  });

  test("a token that the issuer signed for this address lets in, one for another does not", async () => {
    const { url } = one;
    const refused = await fetch(`${url}/mcp`, { method: "POST" });
    const challenge = refused.headers.get("www-authenticate") ?? "";
    const metadata = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? "";
    expect(await (await fetch(metadata)).json()).toMatchObject({
      resource: `${url}/mcp`,
      authorization_servers: [around.issuer.origin],
    });
    const status = async (audience: string) => statusOf(url, await tokenFor(around, audience));
    expect(await status(`${url}/mcp`)).toBe(200);
    expect(await status("https://other.example/mcp")).toBe(401);
  });

  test("a page of a listed origin may ask and read refusals, another may not", async () => {
    const { url } = one;
    const ask = async (origin: string) => {
      const headers = { origin, "access-control-request-method": "POST" };
      const asked = await fetch(`${url}/mcp`, { method: "OPTIONS", headers });
      const called = await fetch(`${url}/mcp`, { method: "POST", headers: { origin } });
      return [asked, called].map(({ status, headers: told }) => [
        status,
        told.get("access-control-allow-origin"),
      ]);
    };
    const listed = "https://app.example";
    expect(await ask(listed)).toEqual([
      [204, listed],
      [401, listed],
    ]);
    expect(await ask("https://evil.example")).toEqual([
      [405, null],
      [403, null],
    ]);
  });
});

describe("what a Worker lends its connectors", () => {
  test("a credential typed on the operator page reaches its server, and new isolates have it", async () => {
    const answers = () => Promise.all(everywhere().map((url) => whoami(url, "tracker")));
    const operator = await Operator.signIn(one.url);
    expect(await whoami(one.url, "tracker")).toMatchObject({ error: { code: "auth_required" } });
    const token = await tokenFor(around, around.resource.url);
    const fields = { action: "set", connector: "tracker", "value.token": token };
    expect((await operator.send("/credentials", fields)).text).toContain("Its next call uses it.");
    expect(await answers()).toEqual([ADA, ADA]);
    expect(around.resource.presented.at(-1)).toBe(`Bearer ${token}`);
    await one.restart();
    expect(await answers()).toEqual([ADA, ADA]);
    // The session outlives the isolate too: its secret is the same.
    expect(await operator.page("/credentials")).toContain(`ends in ${token.slice(-4)}`);
  });

  test("two isolates that need a token of the client's own at once ask for one", async () => {
    expect(await manyAtOnce(everywhere(), "machine")).toEqual(Array(20).fill(ADA));
    expect(grants()).toEqual(["client_credentials"]);
  });

  test("an authorization begun on the operator page serves in every isolate and in new ones", async () => {
    expect(await whoami(one.url, "crm")).toMatchObject({ error: { code: "auth_required" } });
    await authorize(one);
    const answers = () => Promise.all(everywhere().map((url) => whoami(url, "crm")));
    expect(await answers()).toEqual([ADA, ADA]);
    await one.restart();
    expect(await answers()).toEqual([ADA, ADA]);
    expect(grants()).toEqual(["authorization_code"]);
  });

  test("two isolates that need another token at the same moment get one, and nobody loses", async () => {
    await authorize(one);
    await endAccess(around, one);
    expect(await manyAtOnce(everywhere(), "crm")).toEqual(Array(20).fill(ADA));
    expect(grants()).toEqual(["authorization_code", "refresh_token"]);
  });

  test("control: two isolates that share no store use one refresh token twice", async () => {
    const apart = await deployed(around, { stores: { one: "first", two: "second" } });
    await authorize(apart, apart.urls.one);
    const place = "vault/grant/crm/oauth";
    const [first, second] = [apart.store("first"), apart.store("second")];
    valueOf(await second.set(place, valueOf(await first.get(place)) ?? ""));
    await endAccess(around, { store: () => first });
    await manyAtOnce(Object.values(apart.urls), "crm");
    await apart.close();
    const used = around.issuer.tokenRequests.flatMap((form) => form.get("refresh_token") ?? []);
    expect(used).toHaveLength(2);
    expect(new Set(used).size).toBe(1);
  });
});

const refreshes = () =>
  around.issuer.tokenRequests.filter((form) => form.get("grant_type") === "refresh_token").length;

/**
 * Somebody asks the first Worker and leaves once it has asked the authorization server for a path,
 * which answers afterwards.
 * @param ask gives what the one who left was told
 */
async function leaves(
  path: string,
  ask: (headers: { readonly "x-leave-after": string }) => Promise<string>,
): Promise<{ release(): void }> {
  const asked = deferred<void>();
  const answered = deferred<void>();
  around.issuer.hold = (one) => {
    if (one === "/left") return asked.promise;
    if (!one.startsWith(path)) return undefined;
    asked.resolve();
    return answered.promise;
  };
  expect(await ask({ "x-leave-after": `${around.issuer.origin}/left` })).toBe("left");
  return { release: () => answered.resolve() };
}

/** Calls the protected server through the door. */
async function calls(token: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const response = await fetch(`${one.door}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "call_tool", arguments: { address: "crm.whoami" } },
    }),
  });
  return response.text();
}

describe("somebody leaves a Worker", () => {
  test("that looks for an issuer on their behalf: others who wait for it are let in", async () => {
    // A new isolate, which knows of no issuer yet.
    await one.restart();
    const token = await tokenFor(around, `${one.url}/mcp`);
    const { release } = await leaves("/.well-known", (headers) => calls(token, headers));
    const other = statusOf(one.urls.one, token);
    release();
    expect(await other).toBe(200);
  });

  test("when they come back from an authorization: it is kept all the same", async () => {
    const back = (await agreed(one, one.urls.one)).replace(one.urls.one, one.door);
    const { release } = await leaves("/token", async (headers) =>
      (await fetch(back, { headers })).text(),
    );
    release();
    await eventually(() => whoami(one.urls.two, "crm")).toEqual(ADA);
  });

  test("while the operator page renews a token: the new one is kept, and serves others", async () => {
    await authorize(one);
    await endAccess(around, one);
    const operator = await Operator.signIn(one.door);
    const fields = { action: "test", connector: "crm" };
    const { release } = await leaves(
      "/token",
      async (headers) => (await operator.send("/credentials", fields, headers)).text,
    );
    const other = whoami(one.urls.two, "crm");
    release();
    expect(await other).toEqual(ADA);
    expect(refreshes()).toBe(1);
  });

  test("while a call renews a token: the new one is kept, and serves others", async () => {
    await authorize(one);
    await endAccess(around, one);
    const { release } = await leaves("/token", (headers) => calls(BEARER, headers));
    const other = whoami(one.urls.two, "crm");
    release();
    expect(await other).toEqual(ADA);
    expect(refreshes()).toBe(1);
  });
});
