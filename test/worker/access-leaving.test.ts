import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { deferred } from "../support/catalog.ts";
import { BEARER } from "../../verify/operator/deployment.ts";
import { eventually } from "../../verify/support/page.ts";
import { ADA, agreed, authorize, endAccess, statusOf, whoami } from "../support/worker/calls.ts";
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
