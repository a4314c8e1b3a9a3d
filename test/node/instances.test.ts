import { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { Tokens } from "../../server/access/inbound/tokens.ts";
import { redisStorage } from "../../server/node/storage-redis.ts";
import { storageActivity } from "../../server/shared/drivers/activity-storage.ts";
import type { Storage } from "../../server/shared/storage.ts";
import { authorize, grantOf, instance, KEY, ORIGIN } from "../support/authorization/deployment.ts";
import { startIssuer, type Issuer } from "../support/authorization/issuer.ts";
import { serve, type Served } from "../support/authorization/listen.ts";
import { startResource, type Resource } from "../support/authorization/resource.ts";
import { valueOf } from "../support/catalog.ts";
import { commandFolder, CONNECTA, CONNECTA_NODE } from "../support/command.ts";
import { callTool } from "../support/gateway.ts";
import { HAS_REDIS, REDIS_NOTE, startRedis, type RedisServer } from "../support/redis.ts";

const CONFIG = `
import { api, remoteMcp, storageActivity } from ${JSON.stringify(CONNECTA)};
import { redisStorage } from ${JSON.stringify(CONNECTA_NODE)};
const { STORE_URL, STORE_PREFIX, CRM_URL, CRM_PRIVATE } = process.env;
const storage = redisStorage({ url: STORE_URL, prefix: STORE_PREFIX });
const text = Array.from({ length: 40_000 }, (_, at) => "Zeile 漢字 " + at).join("\\n");
export default {
  storage,
  activity: storageActivity({ storage, flushMs: 0 }),
  auth: { tokens: true },
  publicUrl: ${JSON.stringify(ORIGIN)},
  connectors: [
    api({
      id: "texts",
      tools: {
        long: {
          description: "A long text.",
          inputSchema: { type: "object" },
          annotations: { readOnlyHint: true },
          handler: () => text,
        },
      },
    }),
    ...(CRM_URL ? [remoteMcp({ id: "crm", url: CRM_URL, auth: "oauth" })] : []),
  ],
};`;
const TEXT = Array.from({ length: 40_000 }, (_, at) => `Zeile 漢字 ${at}`).join("\n");

const SOME_TIME = { timeout: 10_000 };

describe.skipIf(!HAS_REDIS)(`two instances behind one address${REDIS_NOTE}`, () => {
  const { start } = commandFolder({ "connecta.config.mjs": CONFIG });
  let redis: RedisServer;
  let issuer: Issuer;
  let resource: Resource;
  let store: Storage;
  let proxy: Served | undefined;
  let prefixes = 0;
  beforeAll(async () => {
    redis = await startRedis();
    issuer = await startIssuer();
    resource = await startResource(issuer);
  });
  beforeEach(() => {
    store = redisStorage({ url: redis.url, prefix: `instances-${prefixes++}` });
  });
  afterEach(async () => {
    await proxy?.close();
    await store.close?.();
  });
  afterAll(async () => {
    await resource.close();
    await issuer.close();
    await redis.remove();
  });

  async function launch(prefix = `instances-${prefixes - 1}`, crm = "") {
    const env = {
      STORE_URL: redis.url,
      STORE_PREFIX: prefix,
      CRM_URL: crm,
      CONNECTA_VAULT_KEY: KEY,
    };
    const { said } = start(["serve", "--port", "0"], { env });
    const [, url = ""] = await said(/^listening (http:\/\/[^/\s]+)/m);
    return url;
  }

  /** Who calls over an address, with a token. */
  function caller(origin: string, token: string) {
    return {
      async fetch(request: Request) {
        const headers = new Headers(request.headers);
        headers.delete("host");
        headers.set("authorization", `Bearer ${token}`);
        return fetch(`${origin}/mcp`, { method: "POST", headers, body: await request.text() });
      },
    };
  }

  /** One address before several: each request goes to the next. */
  async function roundRobin(origins: readonly string[]): Promise<string> {
    let at = 0;
    proxy = await serve(() => async (request, response) => {
      const body = await new Response(Readable.toWeb(request) as ReadableStream).text();
      const headers = new Headers();
      for (const name of ["content-type", "accept", "authorization", "mcp-protocol-version"]) {
        headers.set(name, String(request.headers[name]));
      }
      const target = `${origins[at++ % origins.length]}${request.url}`;
      const answer = await fetch(target, { method: "POST", headers, body });
      response.writeHead(answer.status, {
        "content-type": answer.headers.get("content-type") ?? "",
      });
      response.end(await answer.text());
    });
    return proxy.origin;
  }

  async function follow(caller: Parameters<typeof callTool>[0]) {
    const first = await callTool(caller, "call_tool", { address: "texts.long" });
    const pages: string[] = [];
    let next = first.structuredContent?.nextAction;
    while (isNext(next)) {
      const { structuredContent = {} } = await callTool(caller, next.tool, next.arguments);
      if (structuredContent.ok !== true) return structuredContent;
      pages.push(String(structuredContent.text));
      next = structuredContent.nextAction;
    }
    return pages;
  }

  test("page each other's results, take each other's tokens and record into one place", async () => {
    const origins = await Promise.all([launch(), launch()]);
    const { token, id } = valueOf(await new Tokens(store).create({ name: "ada" }));
    const shared = caller(await roundRobin(origins), token);
    const pages = await follow(shared);
    expect(pages).toHaveLength(15);
    expect(Array.isArray(pages) && pages.join("") === TEXT).toBe(true);
    for (const origin of origins) {
      await callTool(caller(origin, token), "call_tool", { address: "texts.long" });
    }
    const activity = storageActivity({ storage: store });
    await vi.waitFor(async () => {
      const { events } = valueOf(await activity.read());
      expect(events.map(({ address }) => address)).toEqual(Array(3).fill("texts.long"));
    }, SOME_TIME);
    valueOf(await new Tokens(store).revoke(id));
    for (const origin of origins) {
      await expect(callTool(caller(origin, token), "skills")).rejects.toThrow();
    }
  }, 60_000);

  test("control: two that share no store know nothing of each other's results", async () => {
    const origins = await Promise.all([launch("apart-1"), launch("apart-2")]);
    const tokens = await Promise.all(
      ["apart-1", "apart-2"].map(async (prefix) => {
        const own = redisStorage({ url: redis.url, prefix });
        const { token } = valueOf(await new Tokens(own).create({ name: "ada" }));
        await own.close?.();
        return token;
      }),
    );
    const callers = origins.map((origin, at) => caller(origin, tokens[at] ?? ""));
    let at = 0;
    const turns = { fetch: (request: Request) => callers[at++ % 2]!.fetch(request) };
    expect(await follow(turns)).toMatchObject({ ok: false, error: { code: "not_found" } });
  }, 60_000);

  test("renew an authorization once between them, and list tools that one of them has seen", async () => {
    const desk = instance(resource.url, "oauth", { storage: store });
    await authorize(desk);
    const prefix = `instances-${prefixes - 1}`;
    const origins = await Promise.all([launch(prefix, resource.url), launch(prefix, resource.url)]);
    const { token } = valueOf(await new Tokens(store).create({ name: "ada" }));
    const [one, other] = origins.map((origin) => caller(origin, token));
    await callTool(one!, "search_tools", { query: "who calls" });
    await vi.waitFor(async () => {
      expect(valueOf(await store.list("catalog/"))).toHaveLength(1);
    }, SOME_TIME);
    const { tokens } = await grantOf(desk);
    await (await issuer.provider.AccessToken.find(tokens?.access ?? ""))?.destroy();
    issuer.tokenRequests.length = 0;
    const shared = caller(await roundRobin(origins), token);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => callTool(shared, "call_tool", { address: "crm.whoami" })),
    );
    expect(answers.map(({ content }) => content[0]?.text)).toEqual(Array(20).fill("ada"));
    const kinds = issuer.tokenRequests.map((form) => form.get("grant_type"));
    expect(kinds).toEqual(["refresh_token"]);
    await resource.close();
    const late = await launch(prefix, resource.url);
    for (const each of [other!, caller(late, token)]) {
      const found = await callTool(each, "search_tools", { query: "who calls" });
      expect(JSON.stringify(found.structuredContent)).toContain("crm.whoami");
    }
  }, 60_000);
});

interface Next {
  readonly tool: string;
  readonly arguments: Record<string, unknown>;
}

function isNext(value: unknown): value is Next {
  return typeof value === "object" && value !== null && "tool" in value && "arguments" in value;
}
