import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { memoryStorage } from "../../../server/shared/drivers/memory.ts";
import type { Storage } from "../../../server/shared/storage.ts";
import {
  authorize,
  begin,
  grantOf,
  instance,
  later,
  whoami,
} from "../../support/authorization/deployment.ts";
import { startIssuer, type Issuer } from "../../support/authorization/issuer.ts";
import { startResource, type Resource } from "../../support/authorization/resource.ts";
import { deferred, failureOf } from "../../support/catalog.ts";

let issuer: Issuer;
let resource: Resource;
beforeAll(async () => {
  issuer = await startIssuer();
  resource = await startResource(issuer);
});
beforeEach(() => {
  issuer.down = undefined;
  issuer.tokenRequests.length = 0;
});
afterAll(async () => {
  await resource.close();
  await issuer.close();
});

const HOUR = 3_600_000;
const LEASE = "oauth/renewing/crm";
const DONE = { ok: true, value: { kind: "mcp", content: [{ type: "text", text: "ada" }] } };
const refreshes = () =>
  issuer.tokenRequests
    .filter((form) => form.get("grant_type") === "refresh_token")
    .map((form) => form.get("refresh_token"));
const all = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 20 }, work));

describe("a token that has ended", () => {
  test("twenty calls at once get one other", async () => {
    const one = instance(resource.url);
    await authorize(one);
    expect(await all(() => whoami(one, later(2 * HOUR)))).toEqual(Array(20).fill(DONE));
    expect(refreshes()).toHaveLength(1);
  });

  test("twenty calls at once in each of two instances get one other", async () => {
    const storage = memoryStorage();
    const [one, two] = [1, 2].map(() => instance(resource.url, "oauth", { storage }));
    if (one === undefined || two === undefined) throw new Error("There are two.");
    await authorize(one);
    const answers = await Promise.all(
      [one, two].map((each) => all(() => whoami(each, later(2 * HOUR)))),
    );
    expect(answers.flat()).toEqual(Array(40).fill(DONE));
    expect(refreshes()).toHaveLength(1);
  });

  test("control: two deployments that know nothing of each other use one refresh token twice", async () => {
    const one = instance(resource.url);
    await authorize(one);
    const two = instance(resource.url, "oauth", { storage: await copyOf(one.storage) });
    await Promise.all([one, two].map((each) => whoami(each, later(2 * HOUR))));
    const [first, second] = refreshes();
    expect(second).toBe(first);
  });

  test("twenty calls at once whose token the server refuses get one other", async () => {
    const one = instance(resource.url);
    await authorize(one);
    const { tokens } = await grantOf(one);
    await (await issuer.provider.AccessToken.find(tokens?.access ?? ""))?.destroy();
    expect(await all(() => whoami(one))).toEqual(Array(20).fill(DONE));
    expect(refreshes()).toHaveLength(1);
  });

  test("each refresh token is used once, and the one that replaced it afterwards", async () => {
    const one = instance(resource.url);
    await authorize(one);
    for (const hours of [2, 4, 6]) expect(await whoami(one, later(hours * HOUR))).toEqual(DONE);
    expect(refreshes()).toHaveLength(3);
    expect(new Set(refreshes()).size).toBe(3);
  });

  test("an instance that died while it renewed holds up the others only for a while", async () => {
    const clock = { now: Date.now() };
    const kept = memoryStorage({ now: () => clock.now });
    const refused = deferred<void>();
    const storage: Storage = {
      ...kept,
      async compareAndSet(key, expected, value, options) {
        const written = await kept.compareAndSet(key, expected, value, options);
        if (key === LEASE && written.ok && !written.value) refused.resolve();
        return written;
      },
    };
    const one = instance(resource.url, "oauth", { storage });
    await authorize(one);
    await kept.set(LEASE, "somebody", { ttlMs: 15_000 });
    const waiting = whoami(one, later(2 * HOUR));
    await refused.promise;
    expect(refreshes()).toHaveLength(0);
    clock.now += 15_000;
    expect(await waiting).toEqual(DONE);
    expect(refreshes()).toHaveLength(1);
  });

  test("a caller that leaves does not take the others' token along", async () => {
    const one = instance(resource.url);
    await authorize(one);
    const leaving = new AbortController();
    const left = whoami(one, { ...later(2 * HOUR), signal: leaving.signal });
    const stayed = whoami(one, later(2 * HOUR));
    leaving.abort();
    expect(failureOf(await left).code).toBe("cancelled");
    expect(await stayed).toEqual(DONE);
  });
});

describe("a grant that is dead", () => {
  async function revoked() {
    const one = instance(resource.url);
    await authorize(one);
    const { tokens } = await grantOf(one);
    await (await issuer.provider.RefreshToken.find(tokens?.refresh ?? ""))?.destroy();
    return one;
  }

  test("is said once, clearly, and is not asked about again", async () => {
    const one = await revoked();
    const failure = failureOf(await whoami(one, later(2 * HOUR)));
    expect(failure).toMatchObject({ code: "auth_required", connector: "crm", retryable: false });
    expect(failure.message).toBe(
      "The authorization of crm has ended: a person must authorize it again.",
    );
    expect(failureOf(await whoami(one, later(2 * HOUR))).code).toBe("auth_required");
    expect(refreshes()).toHaveLength(1);
    expect(await one.desk.list()).toMatchObject([{ state: "ended", issuer: issuer.origin }]);
  });

  test("is replaced by a new one without force", async () => {
    const one = await revoked();
    await whoami(one, later(2 * HOUR));
    await authorize(one);
    expect(await whoami(one)).toEqual(DONE);
  });

  test("is one whose client the server forgot: who authorizes next is introduced anew", async () => {
    const one = instance(resource.url);
    await authorize(one);
    const { client } = await grantOf(one);
    issuer.down = { status: 401, body: '{"error":"invalid_client"}' };
    expect(failureOf(await whoami(one, later(2 * HOUR))).code).toBe("auth_required");
    issuer.down = undefined;
    const url = new URL(await begin(one));
    expect(url.searchParams.get("client_id")).not.toBe(client.client_id);
  });
});

describe("an authorization server that does not answer", () => {
  test.each([
    ["HTTP 503", 503, "<h1>Down</h1>"],
    ["a refusal for now", 400, '{"error":"temporarily_unavailable"}'],
  ])("%s: the call can be tried again, and the grant lives", async (_, status, body) => {
    const one = instance(resource.url);
    await authorize(one);
    issuer.down = { status, body };
    const failure = failureOf(await whoami(one, later(2 * HOUR)));
    expect(failure).toMatchObject({ code: "unavailable", retryable: true });
    issuer.down = undefined;
    expect(await whoami(one, later(2 * HOUR))).toEqual(DONE);
  });

  test("a token that is due and has not ended serves on meanwhile", async () => {
    const one = instance(resource.url);
    await authorize(one);
    issuer.down = { status: 503, body: "" };
    expect(await whoami(one, later(HOUR - 10_000))).toEqual(DONE);
  });

  test("texts of the server reach nobody", async () => {
    const one = instance(resource.url);
    await authorize(one);
    issuer.down = { status: 400, body: '{"error":"odd_code","error_description":"you sent abc"}' };
    const { message } = failureOf(await whoami(one, later(2 * HOUR)));
    expect(message).toBe("The authorization server of crm refuses (odd_code).");
  });
});

async function copyOf(storage: Storage): Promise<Storage> {
  const copy = memoryStorage();
  const keys = await storage.list("");
  for (const key of keys.ok ? keys.value : []) {
    const value = await storage.get(key);
    if (value.ok && value.value !== undefined) await copy.set(key, value.value);
  }
  return copy;
}
