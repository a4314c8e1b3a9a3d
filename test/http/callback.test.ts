import { describe, expect, test } from "vitest";
import { Requests } from "../../server/http/requests.ts";
import { createRoutes } from "../../server/http/routes.ts";
import { createLog } from "../../server/shared/log.ts";
import { defaultHttpLimits } from "../../server/shared/limits.ts";
import { fail, ok, type Outcome } from "../../server/shared/failure.ts";

/** Routes over a desk that answers as told; what it was asked lands in `asked`. */
function routes(outcome: Outcome<void>, document?: Record<string, unknown>) {
  const asked: [string, string][] = [];
  const app = createRoutes({
    mcp: { fetch: () => Promise.reject(new Error("no MCP here")) } as never,
    gate: {
      authenticate: async () => ({ kind: "missing" }),
      allowedHosts: undefined,
      allowedOrigins: [],
    },
    requests: new Requests(defaultHttpLimits()),
    bodyTimeoutMs: 1_000,
    load: () => ({}),
    name: "connecta",
    version: "1",
    log: createLog(() => {}),
    authorizations: {
      finish: async (connector, answer) => {
        asked.push([connector, String(answer)]);
        return outcome;
      },
      clientDocument: () => document,
    },
  });
  const get = (path: string, method = "GET") =>
    app.fetch(
      new Request(`https://mcp.example.com${path}`, {
        method,
        headers: { host: "mcp.example.com" },
      }),
    );
  return { asked, get };
}

const BACK = "/oauth/callback/crm?code=c0de-0123&state=5tate-0123";

describe("the page that a person comes back to", () => {
  test("says that it is done, needs no token, and hands on what came", async () => {
    const { asked, get } = routes(ok(undefined));
    const response = await get(BACK);
    expect(response.status).toBe(200);
    expect(asked).toEqual([["crm", "code=c0de-0123&state=5tate-0123"]]);
    const page = await response.text();
    expect(page).toContain("crm is connected");
    expect(page).not.toMatch(/c0de|5tate/);
  });

  test("says in words that it is not done, as text and not as markup", async () => {
    const { get } = routes(fail("not_found", `<script>alert("x")</script> & 'more'`));
    const response = await get(BACK);
    expect(response.status).toBe(400);
    const page = await response.text();
    expect(page).toContain("Not connected");
    expect(page).toContain("&lt;script&gt;");
    expect(page).not.toContain("<script");
  });

  test("asks to come back later where it may help", async () => {
    expect((await routes(fail("unavailable", "Later.")).get(BACK)).status).toBe(503);
  });

  test("is for nobody's frame, cache or referrer, and runs nothing", async () => {
    const { headers } = await routes(ok(undefined)).get(BACK);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy.replace(/'nonce-[^']+'/, "'nonce'")).toBe(
      "default-src 'none'; style-src 'nonce'; base-uri 'none'; form-action 'none'; " +
        "frame-ancestors 'none'",
    );
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  test.each(["HEAD", "POST", "PUT", "DELETE", "OPTIONS"])(
    "is not reached by %s, which uses up nothing",
    async (method) => {
      const { asked, get } = routes(ok(undefined));
      expect((await get(BACK, method)).status).toBe(405);
      expect(asked).toEqual([]);
      await get(BACK);
      expect(asked).toHaveLength(1);
    },
  );
});

describe("what a deployment says of itself", () => {
  test("is there where it says something, and nowhere else", async () => {
    const document = { client_id: "https://mcp.example.com/oauth/client.json" };
    const there = await routes(ok(undefined), document).get("/oauth/client.json");
    expect(await there.json()).toEqual(document);
    expect((await routes(ok(undefined)).get("/oauth/client.json")).status).toBe(404);
  });
});
