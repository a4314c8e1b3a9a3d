import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { CredentialDesk } from "../../../server/access/desk.ts";
import { readVaultKeys } from "../../../server/access/keys.ts";
import { keyOf, Vault } from "../../../server/access/vault.ts";
import { remoteMcp } from "../../../server/connectors/remote/remote.ts";
import { memoryStorage } from "../../../server/shared/drivers/memory.ts";
import { HostRefused, urlOf, type OutboundFetch } from "../../../server/shared/outbound.ts";
import type { Storage } from "../../../server/shared/storage.ts";
import {
  authorize,
  begin,
  comeBack,
  instance,
  KEY,
  later,
  ORIGIN,
  whoami,
} from "../../support/authorization/deployment.ts";
import { startIssuer, type Issuer } from "../../support/authorization/issuer.ts";
import { serve } from "../../support/authorization/listen.ts";
import { startResource, type Resource } from "../../support/authorization/resource.ts";
import { failureOf, valueOf } from "../../support/catalog.ts";

let issuer: Issuer;
let evil: Issuer;
let resource: Resource;
beforeAll(async () => {
  issuer = await startIssuer();
  evil = await startIssuer();
  resource = await startResource(issuer);
});
beforeEach(() => {
  resource.names = issuer.origin;
  resource.metadata = {};
  for (const each of [issuer, evil]) each.tokenRequests.length = 0;
});
afterAll(async () => {
  await Promise.all([resource, issuer, evil].map((each) => each.close()));
});

const HOUR = 3_600_000;
const DONE = { ok: true, value: { kind: "mcp", content: [{ type: "text", text: "ada" }] } };
const codes = () => issuer.tokenRequests.map((form) => form.get("code"));

describe("an answer that somebody sends", () => {
  test("again is refused, and its code is used once", async () => {
    const one = instance(resource.url);
    const answer = await comeBack(await begin(one));
    expect(await one.desk.finish("crm", answer, later())).toMatchObject({ ok: true });
    const again = failureOf(await one.desk.finish("crm", answer, later()));
    expect(again).toMatchObject({ code: "not_found", message: "This link was used before." });
    expect(codes()).toEqual([answer.get("code")]);
  });

  test("to two instances at once is taken by one", async () => {
    const storage = memoryStorage();
    const both = [1, 2].map(() => instance(resource.url, "oauth", { storage }));
    const answer = await comeBack(await begin(both[0] ?? instance(resource.url)));
    const done = await Promise.all(both.map(({ desk }) => desk.finish("crm", answer, later())));
    expect(done.map(({ ok }) => ok).toSorted()).toEqual([false, true]);
    expect(codes()).toHaveLength(1);
  });

  test.each([
    ["with a state that it made up", () => "A".repeat(43)],
    ["with an empty state", () => ""],
    ["with the end of the state cut off", (state: string) => state.slice(0, -1)],
    ["with the hash under which the store keeps it", hashed],
  ])("%s is refused, and the true one still counts", async (_, forge) => {
    const one = instance(resource.url);
    const answer = await comeBack(await begin(one));
    const forged = new URLSearchParams(answer);
    forged.set("state", await forge(answer.get("state") ?? ""));
    expect(failureOf(await one.desk.finish("crm", forged, later())).code).toBe("not_found");
    expect(codes()).toEqual([]);
    expect(await one.desk.finish("crm", answer, later())).toMatchObject({ ok: true });
  });

  test("too late is refused, and just in time it is not", async () => {
    const clock = { now: Date.now() };
    const storage = memoryStorage({ now: () => clock.now });
    const one = instance(resource.url, "oauth", { storage });
    const [late, timely] = [await comeBack(await begin(one)), await comeBack(await begin(one))];
    clock.now += 10 * 60_000 - 1;
    expect(await one.desk.finish("crm", timely, later())).toMatchObject({ ok: true });
    clock.now += 1;
    expect(failureOf(await one.desk.finish("crm", late, later())).code).toBe("not_found");
    expect(codes()).toEqual([timely.get("code")]);
  });

  test("with the state of another connector is refused, there and with that one's code", async () => {
    const [crm, hr] = ["crm", "hr"].map((id) =>
      remoteMcp({ id, url: resource.url, auth: "oauth" }),
    );
    if (crm === undefined || hr === undefined) throw new Error("There are two.");
    const storage = memoryStorage();
    const desk = deskOf(storage, [crm, hr]);
    const ours = await comeBack(await begin({ storage, desk, crm }));
    expect(failureOf(await desk.finish("hr", ours, later())).code).toBe("not_found");
    expect(codes()).toEqual([]);
    expect(await desk.finish("crm", ours, later())).toMatchObject({ ok: true });
  });

  test("with a sealed state copied to another connector's place is refused", async () => {
    const [crm, hr] = ["crm", "hr"].map((id) =>
      remoteMcp({ id, url: resource.url, auth: "oauth" }),
    );
    if (crm === undefined || hr === undefined) throw new Error("There are two.");
    const storage = memoryStorage();
    const desk = deskOf(storage, [crm, hr]);
    const ours = await comeBack(await begin({ storage, desk, crm }));
    const field = await hashed(ours.get("state") ?? "");
    const at = (connector: string) => keyOf({ purpose: "state", connector, field });
    const sealed = valueOf(await storage.get(at("crm")));
    valueOf(await storage.set(at("hr"), sealed ?? ""));
    expect(failureOf(await desk.finish("hr", ours, later())).code).toBe("connector_call_failed");
    expect(codes()).toEqual([]);
    expect(await desk.finish("crm", ours, later())).toMatchObject({ ok: true });
  });

  test.each([
    ["of another issuer", (answer: URLSearchParams) => answer.set("iss", evil.origin)],
    ["without the issuer that it must name", (answer: URLSearchParams) => answer.delete("iss")],
  ])("%s is refused, and its code goes nowhere", async (_, tamper) => {
    const one = instance(resource.url);
    const answer = await comeBack(await begin(one));
    tamper(answer);
    const failure = failureOf(await one.desk.finish("crm", answer, later()));
    expect(failure.message).toContain("another issuer than was asked");
    expect([...codes(), ...evil.tokenRequests]).toEqual([]);
    await authorize(one);
    expect(codes()).toHaveLength(1);
  });

  test("twice in one is refused", async () => {
    const one = instance(resource.url);
    const answer = await comeBack(await begin(one));
    const doubled = new URLSearchParams(answer);
    doubled.append("code", "another");
    expect(failureOf(await one.desk.finish("crm", doubled, later())).code).toBe("invalid_args");
    expect(await one.desk.finish("crm", answer, later())).toMatchObject({ ok: true });
  });

  test("that says no is said, without the words of whoever wrote it", async () => {
    const one = instance(resource.url);
    const answer = await comeBack(await begin(one));
    answer.delete("code");
    answer.set("error", "access_denied");
    answer.set("error_description", "<b>Call 555-0100</b>");
    const { message } = failureOf(await one.desk.finish("crm", answer, later()));
    expect(message).toBe("The authorization server of crm did not agree (access_denied).");
  });
});

describe("a code that somebody intercepts", () => {
  test.each([
    ["nothing", () => undefined],
    ["a verifier of its own", () => "v".repeat(43)],
  ])("is worth nothing with %s, and a token with our verifier", async (_, own) => {
    const one = instance(resource.url);
    const url = new URL(await begin(one));
    const answer = await comeBack(url.href);
    const redeem = async (verifier: string | undefined) => {
      const form = new URLSearchParams({
        grant_type: "authorization_code",
        code: answer.get("code") ?? "",
        redirect_uri: `${ORIGIN}/oauth/callback/crm`,
        client_id: url.searchParams.get("client_id") ?? "",
        ...(verifier !== undefined && { code_verifier: verifier }),
      });
      return (await fetch(`${issuer.origin}/token`, { method: "POST", body: form })).status;
    };
    expect(await redeem(own())).toBe(400);
    expect(await redeem(await verifierOf(one.storage, answer.get("state") ?? ""))).toBe(200);
  });
});

describe("a server that names another authorization server than before", () => {
  test("is not followed: no refresh token, and no person, goes there", async () => {
    const one = instance(resource.url);
    await authorize(one);
    resource.names = evil.origin;
    expect(await whoami(one, later(2 * HOUR))).toEqual(DONE);
    for (const force of [false, true]) {
      const told = (await one.crm.authorize?.(later(2 * HOUR), force))!;
      if (!force) expect(valueOf(told)).toMatchObject({ status: "authorized" });
      else expect(failureOf(told).message).toContain("names another authorization server");
    }
    expect(evil.tokenRequests).toEqual([]);
    // Control: whoever lets go of the former one is led to the other.
    valueOf(await one.desk.remove("crm"));
    expect(new URL(await begin(one)).origin).toBe(evil.origin);
  });

  test("while a person is on the way changes nothing for that person", async () => {
    const one = instance(resource.url);
    const answer = await comeBack(await begin(one));
    resource.names = evil.origin;
    expect(await one.desk.finish("crm", answer, later())).toMatchObject({ ok: true });
    expect([codes().length, evil.tokenRequests.length]).toEqual([1, 0]);
  });

  test("is refused from the first when the config names the only one", async () => {
    resource.names = evil.origin;
    const auth = { issuer: issuer.origin };
    const told = (await instance(resource.url, auth).crm.authorize?.(later(), false))!;
    expect(failureOf(told).message).toContain("another authorization server than auth.issuer");
    resource.names = issuer.origin;
    expect(new URL(await begin(instance(resource.url, auth))).origin).toBe(issuer.origin);
  });
});

describe("what a server says of itself", () => {
  const refusal = async (url = resource.url) =>
    failureOf((await instance(url).crm.authorize?.(later(), false))!).message;

  test("is not followed where it describes another resource", async () => {
    resource.metadata = { resource: "https://bank.example/mcp" };
    expect(await refusal()).toContain("describes another resource");
    resource.metadata = {};
    expect(await begin(instance(resource.url))).toContain(issuer.origin);
  });

  test("is not followed where the authorization server speaks as another", async () => {
    const impostor = await authorizationServer({ issuer: issuer.origin });
    resource.names = impostor.origin;
    expect(await refusal()).toContain("another issuer than was asked");
    await impostor.close();
  });

  test.each([
    ["https://169.254.169.254", "169.254.169.254"],
    ["https://[fd00:ec2::254]", "fd00:ec2::254"],
    ["https://metadata.google.internal", "metadata.google.internal"],
  ])("is not followed to %s, which is asked when nobody judges hosts", async (names, host) => {
    resource.names = names;
    const asked: string[] = [];
    const ask: OutboundFetch = async (input, init) => {
      const { hostname, origin } = urlOf(input);
      asked.push(hostname);
      return origin === names ? new Response(null, { status: 404 }) : fetch(input, init);
    };
    await instance(resource.url, "oauth", { fetch: ask }).crm.authorize?.(later(), false);
    expect(asked).toContain(new URL(names).hostname);
    expect(await refusal()).toBe(new HostRefused(host).told("crm"));
  });

  test.each([
    ["a server without PKCE", { code_challenge_methods_supported: undefined }, "PKCE"],
    ["a server with plain PKCE", { code_challenge_methods_supported: ["plain"] }, "PKCE"],
    ["tokens over plain HTTP", { token_endpoint: "http://as.example/token" }, "without https"],
    ["a consent page over plain HTTP", { authorization_endpoint: "http://as.example/" }, "https"],
  ])("is not followed to %s", async (_, metadata, words) => {
    const server = await authorizationServer(metadata);
    resource.names = server.origin;
    expect(await refusal()).toContain(words);
    await server.close();
    const usual = await authorizationServer({});
    resource.names = usual.origin;
    expect(await begin(instance(resource.url, { clientId: "us" }))).toContain(usual.origin);
    await usual.close();
  });

  test("is not followed to an authorization server over plain HTTP elsewhere", async () => {
    resource.names = "http://as.example";
    expect(await refusal()).toBe(
      "The authorization server of crm cannot be used: it names an address without https.",
    );
  });
});

/** An authorization server that only describes itself. */
function authorizationServer(metadata: object) {
  return serve((origin) => (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({
        issuer: origin,
        authorization_endpoint: `${origin}/auth`,
        token_endpoint: `${origin}/token`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        ...metadata,
      }),
    );
  });
}

function deskOf(
  storage: Storage,
  connectors: ConstructorParameters<typeof CredentialDesk>[0]["connectors"],
) {
  const keys = readVaultKeys({ key: KEY });
  return new CredentialDesk({ connectors, storage, keys, name: "connecta", origin: () => ORIGIN });
}

async function hashed(state: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(state));
  return Buffer.from(digest).toString("base64url");
}

/** What nobody but the deployment can read. */
async function verifierOf(storage: Storage, state: string): Promise<string> {
  const place = { purpose: "state", connector: "crm", field: await hashed(state) } as const;
  const opened = await new Vault(storage, readVaultKeys({ key: KEY })).read(place);
  return (JSON.parse(valueOf(opened)?.text ?? "{}") as { verifier: string }).verifier;
}
