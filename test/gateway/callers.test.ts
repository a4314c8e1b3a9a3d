import type { LogEntry } from "../../server/shared/log.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Tokens } from "../../server/access/inbound/tokens.ts";
import { memoryStorage, type Connecta, type ConnectaConfig } from "../../server/index.ts";
import type { Connector } from "../../server/shared/contracts.ts";
import { ok, type Outcome } from "../../server/shared/failure.ts";
import { TestIssuer } from "../support/issuer.ts";
import { call, callOf, deploy, payloadOf, read, rendered, send, VALUE } from "./ticket-desk.ts";

const PUBLIC = "https://mcp.example";
const BEARER = "correct-horse-battery";

let issuer: TestIssuer;
beforeAll(async () => {
  issuer = await TestIssuer.start();
});
afterAll(() => issuer.close());

function valueOf<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.failure.message);
  return outcome.value;
}

/** A deployment with every way in. */
function everyWay() {
  const storage = memoryStorage();
  const tokens = new Tokens(storage);
  const config: Partial<ConnectaConfig> = {
    storage,
    publicUrl: PUBLIC,
    auth: { bearer: BEARER, tokens: true, oauth: { issuer: issuer.url } },
  };
  return { config, tokens };
}

const signed = (sub = "ada", address = PUBLIC) => issuer.sign({ sub, aud: `${address}/mcp` });
const statusOf = async (connecta: Connecta, token?: string) =>
  (await send(connecta, "tools/list", {}, token === undefined ? {} : { token })).status;

/** Answers who called; a long answer is kept for paging. */
const whoami: Connector = {
  id: "who",
  kind: "api",
  listTools: async () =>
    ok(
      ["ami", "long"].map((name) => ({
        name,
        description: "Who calls.",
        inputSchema: { type: "object" },
        annotations: { readOnlyHint: true },
      })),
    ),
  callTool: async (name, _, { principal }) =>
    ok({ kind: "value", value: name === "ami" ? principal : "x".repeat(60_000) }),
};

describe("V7: a view outlives the right of its caller, its reads do not", () => {
  test("a read after its token was revoked is refused, and reaches nothing", async () => {
    const { config, tokens } = everyWay();
    const { token, id } = valueOf(await tokens.create({ name: "a view" }));
    const { desk, connecta, view } = await rendered(config, { token });
    valueOf(await tokens.revoke(id));
    const params = { name: "call_tool", arguments: callOf(view) };
    const response = await send(connecta, "tools/call", params, { token });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toContain('error="invalid_token"');
    expect(desk.reads).toEqual([]);
  });

  test("a read after its access token expired is refused, with a new one it is admitted", async () => {
    const { config } = everyWay();
    const { desk, connecta, view } = await rendered(config, { token: await signed() });
    const now = Math.floor(Date.now() / 1000);
    const old = await issuer.sign({ aud: `${PUBLIC}/mcp`, iat: now - 400, exp: now - 100 });
    const params = { name: "call_tool", arguments: callOf(view) };
    expect((await send(connecta, "tools/call", params, { token: old })).status).toBe(401);
    expect(desk.reads).toEqual([]);
    expect(await read(connecta, view, { token: await signed() })).toEqual(VALUE);
  });

  test("a copied manifest that is sent without a token is refused, and reaches nothing", async () => {
    const { config } = everyWay();
    const { desk, connecta, view } = await rendered(config, { token: BEARER });
    const params = { name: "call_tool", arguments: callOf(view) };
    const response = await send(connecta, "tools/call", params);
    expect(response.status).toBe(401);
    expect(await response.text()).not.toContain("Printer");
    expect(desk.reads).toEqual([]);
  });

  test("a copied manifest that another caller sends is that caller's read", async () => {
    const { config, tokens } = everyWay();
    const connecta = deploy([whoami], config);
    const { token, id } = valueOf(await tokens.create({ name: "another" }));
    const code = 'await connecta.ui("<p>", { reads: { who: { address: "who.ami" } } }); return 1';
    const shown = await call(connecta, "execute_code", { code }, { token: BEARER });
    const args = { address: payloadOf(shown)?.reads?.who?.address };
    const as = async (token: string) =>
      (await call(connecta, "call_tool", args, { token })).structuredContent;
    expect(await as(BEARER)).toMatchObject({ data: "bearer" });
    expect(await as(token)).toMatchObject({ data: `token:${id}` });
    expect(await as(await signed("eve"))).toMatchObject({ data: `oauth:${issuer.url}#eve` });
  });
});

describe("callers of one deployment", () => {
  test("I5: a result is paged by whoever made the call, not by another", async () => {
    const { config, tokens } = everyWay();
    const connecta = deploy([whoami], config);
    const { token } = valueOf(await tokens.create({ name: "another" }));
    const callers = [BEARER, token, await signed("ada"), await signed("eve")];
    for (const caller of callers) {
      const kept = await call(connecta, "call_tool", { address: "who.long" }, { token: caller });
      const { resultId } = kept.structuredContent as { resultId: string };
      const pages = await Promise.all(
        callers.map(async (other) => {
          const page = await call(connecta, "get_result", { id: resultId }, { token: other });
          return page.isError === true ? "refused" : "read";
        }),
      );
      expect(pages).toEqual(callers.map((other) => (other === caller ? "read" : "refused")));
    }
  });

  test("a token for one deployment does not pass at another of the same issuer", async () => {
    const auth = { oauth: { issuer: issuer.url } };
    const one = deploy([], { auth, publicUrl: "https://one.example" });
    const two = deploy([], { auth, publicUrl: "https://two.example/" });
    const token = await signed("ada", "https://two.example");
    expect(await statusOf(one, token)).toBe(401);
    expect(await statusOf(two, token)).toBe(200);
  });

  test("the name that a request asks for decides nothing about whom a token is for", async () => {
    const auth = { oauth: { issuer: issuer.url } };
    const connecta = deploy([], { auth, publicUrl: PUBLIC });
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
    const asked = async (host: string, token: string) => {
      const response = await connecta.fetch(
        new Request(`http://${host}/mcp`, {
          method: "POST",
          headers: {
            host,
            "x-forwarded-host": host,
            "x-forwarded-proto": "https",
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            authorization: `Bearer ${token}`,
          },
          body: JSON.stringify(list),
        }),
      );
      return [response.status, response.headers.get("www-authenticate")];
    };
    const foreign = await signed("ada", "https://evil.example");
    const [status, challenge] = await asked("evil.example", foreign);
    expect(status).toBe(401);
    expect(challenge).toContain(
      `resource_metadata="${PUBLIC}/.well-known/oauth-protected-resource/mcp"`,
    );
    expect(challenge).not.toContain("evil");
    expect((await asked("evil.example", await signed()))[0]).toBe(200);
  });

  test("an issuer that is down shuts its own door with a 503, and no other", async () => {
    const down = await TestIssuer.start();
    const { config, tokens } = everyWay();
    const auth = { ...config.auth, oauth: [{ issuer: issuer.url }, { issuer: down.url }] };
    const reported: string[] = [];
    const log = ({ message }: LogEntry) => void reported.push(message);
    const connecta = deploy([], { ...config, auth, log });
    const token = await down.sign({ aud: `${PUBLIC}/mcp` });
    await down.close();
    const response = await send(connecta, "tools/list", {}, { token });
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("5");
    expect(response.headers.get("www-authenticate")).toBeNull();
    expect(reported).toEqual([expect.stringContaining(`auth.oauth ${down.url} lets nobody in`)]);
    expect(JSON.stringify(reported) + (await response.text())).not.toContain(token);
    const made = valueOf(await tokens.create({ name: "another" }));
    for (const other of [BEARER, made.token, await signed()]) {
      expect(await statusOf(connecta, other)).toBe(200);
    }
    expect(await statusOf(connecta)).toBe(401);
  });

  test("E4: no refusal repeats a credential", async () => {
    const { config } = everyWay();
    const connecta = deploy([], { ...config, auth: { ...config.auth, tokens: true } });
    const given = [
      "wrong-horse-battery-staple",
      `connecta_${"1".repeat(16)}_${"2".repeat(64)}`,
      await signed("ada", "https://else.example"),
    ];
    for (const token of given) {
      const response = await send(connecta, "tools/list", {}, { token });
      expect(response.status).toBe(401);
      const headers = JSON.stringify([...response.headers]);
      expect(headers + (await response.text())).not.toContain(token);
    }
  });
});
