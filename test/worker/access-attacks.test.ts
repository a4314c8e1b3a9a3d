import { decodeJwt, decodeProtectedHeader, SignJWT } from "jose";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { BEARER, called, SECRET } from "../../verify/operator/deployment.ts";
import { eventually } from "../../verify/support/page.ts";
import { grantOf, KEY } from "../support/authorization/deployment.ts";
import { MACHINE } from "../support/authorization/issuer.ts";
import { valueOf } from "../support/catalog.ts";
import { issuerKey, unsigned } from "../support/issuer.ts";
import { ADA, agreed, authorize, endAccess, statusOf, whoami } from "../support/worker/calls.ts";
import { deployed, type Deployment } from "../support/worker/deployment.ts";
import { Operator } from "../support/worker/operator.ts";
import { surroundings, tokenFor, type Surroundings } from "../support/worker/surroundings.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let around: Surroundings;
let one: Deployment;
/** Two isolates that know nothing of each other: what there would be without a shared store. */
let apart: Deployment;
beforeAll(async () => {
  around = await surroundings();
  one = await deployed(around);
  apart = await deployed(around, { stores: { one: "first", two: "second" } });
});
beforeEach(async () => {
  await one.empty();
  around.issuer.tokenRequests.length = 0;
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  await apart.close();
  await one.close();
  await around.close();
});

const setToken = (connector: string, token: string) => ({
  action: "set",
  connector,
  "value.token": token,
});
const leak = async () =>
  (await called(one.url, BEARER, "call_tool", { address: "leaky.leak" })).value;
const MINE = "a credential that somebody typed";

describe("a token that nobody gave for this Worker", () => {
  test.each<[string, (real: string) => string | Promise<string>]>([
    ["without a signature", (real) => unsigned(decodeJwt(real))],
    [
      "signed by another key",
      async (real) =>
        new SignJWT(decodeJwt(real))
          .setProtectedHeader({ alg: "RS256", ...decodeProtectedHeader(real) })
          .sign((await issuerKey("other", "RS256")).privateKey),
    ],
    [
      "whose claims were changed",
      (real) => {
        const claims = JSON.stringify({ ...decodeJwt(real), sub: "somebody else" });
        return real.replace(/\.[^.]+\./, `.${Buffer.from(claims).toString("base64url")}.`);
      },
    ],
  ])("%s lets nobody in, the real one does", async (_, forge) => {
    const real = await tokenFor(around, `${one.url}/mcp`);
    expect(await statusOf(one.url, await forge(real))).toBe(401);
    expect(await statusOf(one.url, real)).toBe(200);
  });
});

describe("the operator page of a Worker", () => {
  test("takes no form of another page, and takes the same one of its own", async () => {
    const operator = await Operator.signIn(one.url);
    const evil = await operator.send("/credentials", setToken("leaky", MINE), {
      origin: "https://evil.example",
    });
    expect(evil.status).toBe(403);
    expect(await leak()).toMatchObject({ error: { code: "auth_required" } });
    expect((await operator.send("/credentials", setToken("leaky", MINE))).status).toBe(200);
    expect(await leak()).toEqual({ ok: true, data: MINE });
  });

  test("knows at every isolate who signed out at another; without a store it would not", async () => {
    const opens = async ({ urls }: Deployment) => {
      const operator = await Operator.signIn(urls.one);
      const copy = new Operator(urls.two, operator.cookie);
      expect(await copy.page()).toContain("Connections");
      await operator.signOut();
      return (await copy.page()) !== undefined;
    };
    expect(await opens(one)).toBe(false);
    expect(await opens(apart)).toBe(true);
  });

  test("lets nobody guess at an isolate without end, and shuts out nobody who is in", async () => {
    const owner = await Operator.signIn(apart.urls.two);
    const statuses: unknown[] = [];
    for (let tries = 0; tries < 20; tries++) {
      await Operator.signIn(apart.urls.two, "a secret of somebody else").catch((error: unknown) =>
        statuses.push(error),
      );
    }
    expect(statuses.slice(0, 3)).toEqual(Array(3).fill(new Error("HTTP 401")));
    expect(statuses.slice(-2)).toEqual(Array(2).fill(new Error("HTTP 429")));
    expect(await owner.page()).toContain("Connections");
    // Each isolate counts for itself.
    expect(await (await Operator.signIn(apart.urls.one)).page()).toContain("Connections");
  });
});

describe("an authorization on its way back", () => {
  const redeemed = () =>
    around.issuer.tokenRequests.filter((form) => form.get("code") !== null).length;
  const twice = async (deployment: Deployment, back: string) => {
    const paths = back.replace(/^https?:\/\/[^/]+/, "");
    const answers = await Promise.all(
      Object.values(deployment.urls).map((url) => fetch(url + paths)),
    );
    return answers.map(({ status }) => status).toSorted();
  };

  test("brought to two isolates at once is used once", async () => {
    expect(await twice(one, await agreed(one))).toEqual([200, 400]);
    expect(redeemed()).toBe(1);
    expect(await whoami(one.url, "crm")).toEqual(ADA);
  });

  test("control: two isolates without a shared store would both use it", async () => {
    const back = await agreed(apart, apart.urls.one);
    const [first, second] = [apart.store("first"), apart.store("second")];
    for (const key of valueOf(await first.list("vault/"))) {
      valueOf(await second.set(key, valueOf(await first.get(key)) ?? ""));
    }
    await twice(apart, back);
    expect(redeemed()).toBe(2);
  });
});

describe("what a Worker was handed", () => {
  test("opens in no other place of the store, even for whoever may write there", async () => {
    const operator = await Operator.signIn(one.url);
    await operator.send("/credentials", setToken("tracker", MINE));
    const sealed = valueOf(await one.store().get("vault/field/tracker/token")) ?? "";
    valueOf(await one.store().set("vault/field/leaky/token", sealed));
    const answer = await leak();
    expect(answer).toMatchObject({ error: { code: "connector_call_failed" } });
    expect(JSON.stringify(answer)).not.toContain(MINE);
    // What the gateway seals for the place itself opens there.
    await operator.send("/credentials", setToken("leaky", MINE));
    expect(await leak()).toEqual({ ok: true, data: MINE });
  });

  test("stands in no answer, no log, no recorded call and nowhere in clear in the store", async () => {
    const told: string[] = [];
    const real = globalThis.fetch;
    vi.spyOn(globalThis, "fetch").mockImplementation(async (...given) => {
      const response = await real(...given);
      const own = [one.url, ...Object.values(one.urls)];
      const [asked] = given;
      const address = asked instanceof Request ? asked.url : String(asked);
      if (own.some((url) => address.startsWith(url))) {
        told.push(await response.clone().text(), JSON.stringify([...response.headers]));
      }
      return response;
    });
    const before = one.logged().length;
    const typed = await tokenFor(around, around.resource.url);
    const signed = await tokenFor(around, `${one.url}/mcp`);
    const operator = await Operator.signIn(one.url);
    await operator.send("/credentials", setToken("tracker", typed));
    await operator.send("/credentials", setToken("leaky", MINE));
    await authorize(one);
    for (const connector of ["tracker", "machine", "crm"]) {
      expect(await whoami(one.url, connector, signed)).toEqual(ADA);
      await operator.send("/credentials", { action: "test", connector });
    }
    const { tokens } = await grantOf({ storage: one.store(), crm: { id: "crm" } });
    await endAccess(around, one);
    around.issuer.down = { status: 400, body: JSON.stringify({ error: MACHINE.clientSecret }) };
    await whoami(one.url, "crm");
    around.issuer.down = undefined;
    await called(one.url, "x".repeat(20), "skills", {});
    for (const path of ["", "/tools?connector=crm", "/credentials", "/tokens", "/activity"]) {
      expect(await operator.page(path)).toContain("Sign out");
    }
    expect(await operator.page("/activity/since?after=")).toContain("crm.whoami");
    const store = one.store();
    for (const key of valueOf(await store.list("")))
      told.push(key, valueOf(await store.get(key)) ?? "");

    const presented = around.resource.presented.map((header) => header.replace("Bearer ", ""));
    const secrets = [typed, signed, MINE, BEARER, SECRET, KEY, MACHINE.clientSecret, ...presented];
    secrets.push(tokens?.access ?? "", tokens?.refresh ?? "");
    const found = (text: string) => secrets.filter((secret) => text.includes(secret));
    expect(secrets.every((secret) => secret.length >= 16)).toBe(true);
    expect(new Set(secrets).size).toBeGreaterThanOrEqual(10);
    const logged = () => one.logged().slice(before);
    await eventually(logged).toContain("connector=crm");
    expect([found(told.join("\n")), found(logged())]).toEqual([[], []]);

    // The control: a tool that shows what it was lent is noticed in both.
    await leak();
    expect(found(told.join("\n"))).toEqual([MINE]);
    await eventually(() => found(logged())).toEqual([MINE]);
  });
});
