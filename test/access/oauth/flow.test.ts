import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { memoryStorage } from "../../../server/shared/drivers/memory.ts";
import {
  authorize,
  begin,
  comeBack,
  instance,
  later,
  ORIGIN,
  whoami,
} from "../../support/authorization/deployment.ts";
import { MACHINE, startIssuer, type Issuer } from "../../support/authorization/issuer.ts";
import { startResource, type Resource } from "../../support/authorization/resource.ts";
import { failureOf, valueOf } from "../../support/catalog.ts";

const DOCUMENT = "https://connecta.example/oauth/client.json";

let issuer: Issuer;
let resource: Resource;
beforeAll(async () => {
  issuer = await startIssuer({
    features: { clientIdMetadataDocument: { enabled: true, ack: "draft-02" } },
    fetch: async (url) => {
      if (String(url) !== DOCUMENT) throw new Error(`Nobody asks for ${String(url)}.`);
      return Response.json({
        client_id: DOCUMENT,
        client_name: "connecta",
        application_type: "native",
        redirect_uris: [`${ORIGIN}/oauth/callback/crm`],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
      });
    },
  });
  resource = await startResource(issuer);
});
beforeEach(() => {
  issuer.tokenRequests.length = 0;
  issuer.registrations = 0;
  resource.wants = undefined;
});
afterAll(async () => {
  await resource.close();
  await issuer.close();
});

const DONE = { ok: true, value: { kind: "mcp", content: [{ type: "text", text: "ada" }] } };

describe("a person's authorization", () => {
  test("a call asks for it, its address leads there, and the next call works", async () => {
    const one = instance(resource.url);
    expect(failureOf(await whoami(one))).toMatchObject({ code: "auth_required", connector: "crm" });
    expect(failureOf(await one.crm.listTools(later()))).toMatchObject({ code: "auth_required" });
    const url = new URL(await begin(one));
    expect(url.origin).toBe(issuer.origin);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      redirect_uri: `${ORIGIN}/oauth/callback/crm`,
      resource: resource.url,
      scope: "read offline_access",
    });
    valueOf(await one.desk.finish("crm", await comeBack(url.href), later()));
    expect(await whoami(one)).toEqual(DONE);
    expect(valueOf(await one.crm.listTools(later()))).toMatchObject([{ name: "whoami" }]);
  });

  test("an operator sees it and can try it, and take it away", async () => {
    const one = instance(resource.url);
    expect(await one.desk.list()).toMatchObject([{ connector: "crm", state: "missing" }]);
    await authorize(one);
    expect(await one.desk.list()).toMatchObject([
      { connector: "crm", kind: "oauth", state: "authorized", issuer: issuer.origin },
    ]);
    expect(valueOf(await one.desk.test("crm", later()))).toBe(
      "crm accepts its credential; its tools: 1.",
    );
    valueOf(await one.desk.remove("crm"));
    expect(failureOf(await whoami(one)).code).toBe("auth_required");
    expect(await one.desk.list()).toMatchObject([{ connector: "crm", state: "missing" }]);
  });

  test("it may begin in one instance and end in another, and outlives both", async () => {
    const storage = memoryStorage();
    const answer = await comeBack(await begin(instance(resource.url, "oauth", { storage })));
    const other = instance(resource.url, "oauth", { storage });
    valueOf(await other.desk.finish("crm", answer, later()));
    expect(await whoami(instance(resource.url, "oauth", { storage }))).toEqual(DONE);
  });

  test("whoever is connected hears about it, so that tool lists are read again", async () => {
    const one = instance(resource.url);
    let changes = 0;
    one.crm.onToolsChanged?.(() => changes++);
    await authorize(one);
    expect(changes).toBe(1);
  });

  test("what is there already is not asked for again, except by force", async () => {
    const one = instance(resource.url);
    await authorize(one);
    expect(valueOf((await one.crm.authorize?.(later(), false))!)).toMatchObject({
      status: "authorized",
    });
    await authorize(one, true);
    expect(issuer.registrations).toBe(2);
    expect(await whoami(one)).toEqual(DONE);
  });

  test("a call that needs more says so, and the next authorization asks for that too", async () => {
    const one = instance(resource.url);
    await authorize(one);
    resource.wants = "write";
    expect(failureOf(await whoami(one))).toMatchObject({ code: "auth_required" });
    const url = new URL(await begin(one));
    expect(url.searchParams.get("scope")?.split(" ")).toEqual(["read", "write", "offline_access"]);
    valueOf(await one.desk.finish("crm", await comeBack(url.href), later()));
    expect(await whoami(one)).toEqual(DONE);
  });
});

describe("who we are to an authorization server", () => {
  test("a client that registers does so once", async () => {
    const one = instance(resource.url);
    await begin(one);
    await authorize(one);
    expect(issuer.registrations).toBe(1);
  });

  test("a client that somebody registered, with its secret", async () => {
    const registered = await fetch(`${issuer.origin}/reg`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        application_type: "native",
        redirect_uris: [`${ORIGIN}/oauth/callback/crm`],
        grant_types: ["authorization_code", "refresh_token"],
      }),
    });
    const client = (await registered.json()) as { client_id: string; client_secret: string };
    const one = instance(resource.url, {
      clientId: client.client_id,
      clientSecret: client.client_secret,
      scopes: ["read"],
    });
    const url = new URL(await begin(one));
    expect(url.searchParams.get("client_id")).toBe(client.client_id);
    expect(url.searchParams.get("scope")).toBe("read");
    valueOf(await one.desk.finish("crm", await comeBack(url.href), later()));
    expect(await whoami(one)).toEqual(DONE);
    expect(await whoami(one, later(2 * HOUR))).toEqual(DONE);
    expect(issuer.registrations).toBe(1);
  });

  test("a client that a document on the web describes", async () => {
    const one = instance(resource.url, { clientMetadataUrl: DOCUMENT });
    const url = await begin(one);
    expect(new URL(url).searchParams.get("client_id")).toBe(DOCUMENT);
    valueOf(await one.desk.finish("crm", await comeBack(url), later()));
    expect(await whoami(one)).toEqual(DONE);
    expect(issuer.registrations).toBe(0);
  });

  test("a client that acts for itself needs no person", async () => {
    const one = instance(resource.url, { grant: "client_credentials", ...MACHINE });
    expect(await whoami(one)).toEqual(DONE);
    expect(valueOf((await one.crm.authorize?.(later(), false))!)).toMatchObject({
      status: "authorized",
    });
    expect(issuer.tokenRequests.map((form) => form.get("grant_type"))).toEqual([
      "client_credentials",
    ]);
    await Promise.all(Array.from({ length: 20 }, () => whoami(one, later(2 * HOUR))));
    expect(issuer.tokenRequests).toHaveLength(2);
  });

  test("a client that acts for itself with a wrong secret is the operator's to mend", async () => {
    const auth = { grant: "client_credentials", clientId: MACHINE.clientId } as const;
    const one = instance(resource.url, { ...auth, clientSecret: "another-secret-0123456789" });
    const failure = failureOf(await whoami(one));
    expect(failure).toMatchObject({ code: "connector_call_failed", retryable: false });
    expect(failure.message).toContain("auth.clientSecret");
    expect(failure.message).not.toContain("another-secret");
  });
});

const HOUR = 3_600_000;
