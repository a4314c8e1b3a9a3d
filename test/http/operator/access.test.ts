import { afterEach, describe, expect, test } from "vitest";
import { memoryStorage, type Connecta, type ConnectaConfig } from "../../../server/index.ts";
import { fail } from "../../../server/shared/failure.ts";
import { Browser, deployed, ORIGIN, SECRET } from "./site.ts";

const open: Connecta[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});
function site(config: Parameters<typeof deployed>[0] = {}) {
  const connecta = deployed(config);
  open.push(connecta);
  return connecta;
}

const PAGES = ["", "/tools", "/credentials", "/tokens", "/activity"].map(
  (one) => `/operator${one}`,
);
const ACTIONS: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ["/operator/credentials", { action: "set", connector: "crm", "value.token": "a token" }],
  ["/operator/credentials", { action: "remove", connector: "crm" }],
  ["/operator/tokens", { action: "create", name: "laptop", ends: "30" }],
];

/** What is stored; nothing that a refused request did may be in it. */
async function stored(storage: ReturnType<typeof memoryStorage>) {
  const keys = await storage.list("");
  return keys.ok ? keys.value.filter((key) => !key.startsWith("operator/")) : keys;
}

describe("the operator page", () => {
  test("is not there without a secret", async () => {
    const connecta = site({ operator: undefined });
    for (const path of [...PAGES, "/operator/sign-in"]) {
      expect((await new Browser(connecta).get(path)).status).toBe(404);
    }
  });

  test("sends whoever has not signed in to the door, and says nothing", async () => {
    const browser = new Browser(site());
    for (const path of [...PAGES, "/operator/anything"]) {
      const answer = await browser.get(path);
      expect([answer.status, answer.headers.get("location")]).toEqual([303, "/operator/sign-in"]);
      expect(await answer.text()).toBe("");
    }
    expect((await browser.get("/operator/activity/since?after=0")).status).toBe(401);
    expect(await browser.text("/operator/sign-in")).not.toContain("crm");
  });

  test("is opened by its secret alone, not by what callers have", async () => {
    const browser = new Browser(site());
    const wrong = await browser.post("/operator/sign-in", { secret: "correct-horse-battery" });
    expect(wrong.status).toBe(401);
    expect(browser.cookies.size).toBe(0);
    const headers = { authorization: "Bearer correct-horse-battery" };
    expect((await browser.get("/operator", headers)).status).toBe(303);
    await browser.signIn();
    for (const path of PAGES) expect((await browser.get(path)).status).toBe(200);
    expect((await browser.get("/operator/")).headers.get("location")).toBe("/operator");
  });

  test("does not let its secret into MCP", async () => {
    const headers = { authorization: `Bearer ${SECRET.replaceAll(" ", "-")}` };
    const operator = { secret: SECRET.replaceAll(" ", "-") };
    const answer = await new Browser(site({ operator })).post("/mcp", {}, headers);
    expect(answer.status).toBe(401);
  });

  test("gives cookies that no script, page or path beside it gets", async () => {
    const cookies = async (config: Partial<ConnectaConfig>, origin: string) => {
      const answer = await new Browser(site(config), origin).post("/operator/sign-in", {
        secret: SECRET,
      });
      return answer.headers.getSetCookie().map((line) => line.replace(/=[^;]+/, ""));
    };
    expect(await cookies({}, ORIGIN)).toEqual([
      "connecta_operator; Max-Age=3600; Path=/operator; HttpOnly; SameSite=Strict",
      "connecta_operator_browser; Max-Age=7776000; Path=/operator; HttpOnly; SameSite=Strict",
    ]);
    const publicUrl = "https://mcp.example/gate";
    expect(await cookies({ publicUrl }, "https://mcp.example")).toEqual([
      "connecta_operator; Max-Age=3600; Path=/gate/operator; HttpOnly; Secure; SameSite=Strict",
      "connecta_operator_browser; Max-Age=7776000; Path=/gate/operator; HttpOnly; Secure; SameSite=Strict",
    ]);
  });

  test("is over once its person signed out, also for a copy of the cookie", async () => {
    const browser = await new Browser(site()).signIn();
    const copy = browser.cookies.get("connecta_operator") ?? "";
    expect((await browser.post("/operator/sign-out", { form: "wrong" })).status).toBe(403);
    expect((await browser.get("/operator")).status).toBe(200);
    expect((await browser.post("/operator/sign-out", {})).status).toBe(303);
    browser.cookies.set("connecta_operator", copy);
    expect((await browser.get("/operator")).status).toBe(303);
  });

  test("opens nothing and says so while its store cannot say who signed out", async () => {
    const storage = memoryStorage();
    const browser = await new Browser(site({ storage })).signIn();
    storage.get = () => Promise.resolve(fail("unavailable", "down"));
    const answer = await browser.get("/operator/credentials");
    expect([answer.status, await answer.text()]).toEqual([
      503,
      "The store does not answer now. Try again later.",
    ]);
  });

  test("tells how long to wait after too many attempts", async () => {
    const browser = new Browser(site());
    for (let i = 0; i < 10; i++) await browser.post("/operator/sign-in", { secret: "wrong" });
    const answer = await browser.post("/operator/sign-in", { secret: SECRET });
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test("carries its policy with every answer, refusals included", async () => {
    const browser = await new Browser(site()).signIn();
    const stranger = new Browser(site());
    const answers = [
      ...(await Promise.all(PAGES.map((path) => browser.get(path)))),
      await browser.get("/operator/none"),
      await stranger.get("/operator/sign-in"),
      await stranger.post("/operator/sign-in", { secret: "wrong" }),
      await browser.post("/operator/tokens", {}, { origin: "https://evil.example" }),
    ];
    for (const { headers } of answers) {
      expect(headers.get("content-security-policy")).toMatch(
        /^default-src 'none'; script-src 'sha256-[\w+/]{43}='; style-src 'sha256-[\w+/]{43}='; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
      );
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("referrer-policy")).toBe("same-origin");
    }
  });
});

describe("what changes something", () => {
  const refusedWith = async (headers: Record<string, string>, fields: Record<string, string>) => {
    const storage = memoryStorage();
    const browser = await new Browser(site({ storage })).signIn();
    const statuses = [];
    for (const [path, action] of ACTIONS) {
      statuses.push((await browser.post(path, { ...action, ...fields }, headers)).status);
    }
    return { statuses, kept: await stored(storage) };
  };

  test("is done for a form of the page itself", async () => {
    const { statuses, kept } = await refusedWith({}, {});
    expect(statuses).toEqual([200, 200, 200]);
    expect(kept).toEqual([expect.stringMatching(/^access\/token\//)]);
  });

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ["from another origin", { origin: "https://evil.example" }, {}],
    ["from another port", { origin: "http://127.0.0.1:9999" }, {}],
    ["from a page without an origin", { origin: "null" }, {}],
    ["from another site, as the browser says", { "sec-fetch-site": "cross-site" }, {}],
    ["from a sibling site, as the browser says", { "sec-fetch-site": "same-site" }, {}],
    ["without the token of its session", {}, { form: "" }],
    ["with another token", {}, { form: "0".repeat(64) }],
    ["as another kind of body", { "content-type": "text/plain" }, {}],
    ["as JSON", { "content-type": "application/json" }, {}],
  ])("is refused %s", async (_, headers, fields) => {
    expect(await refusedWith(headers, fields)).toEqual({ statuses: [403, 403, 403], kept: [] });
  });

  test("is refused without an origin at all", async () => {
    const browser = await new Browser(site()).signIn();
    const request = new Request(`${ORIGIN}/operator/tokens`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({
        form: browser.form,
        action: "create",
        name: "a",
        ends: "30",
      }).toString(),
    });
    expect((await browser.send(request)).status).toBe(403);
  });

  test("is not done by looking: GET changes nothing", async () => {
    const storage = memoryStorage();
    const browser = await new Browser(site({ storage })).signIn();
    for (const [path, action] of ACTIONS) {
      await browser.get(`${path}?${new URLSearchParams({ form: browser.form, ...action })}`);
    }
    for (const path of PAGES) await browser.get(path);
    for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const request = new Request(`${ORIGIN}/operator/tokens`, { method });
      expect((await browser.send(request)).status).toBe(405);
    }
    expect(await stored(storage)).toEqual([]);
  });

  test("is refused without a session, whatever else is right", async () => {
    const storage = memoryStorage();
    const browser = await new Browser(site({ storage })).signIn();
    browser.cookies.clear();
    for (const [path, action] of ACTIONS)
      expect((await browser.post(path, action)).status).toBe(303);
    expect(await stored(storage)).toEqual([]);
  });

  test("is bounded in size", async () => {
    const browser = await new Browser(site()).signIn();
    const large = { action: "set", connector: "crm", "value.token": "x".repeat(1024 * 1024) };
    expect((await browser.post("/operator/credentials", large)).status).toBe(413);
  });

  test("G6: reaches no connector, tool, annotation or limit", async () => {
    const connecta = site();
    const browser = await new Browser(connecta).signIn();
    const before = await browser.text("/operator/tools");
    for (const path of ["", "/tools", "/activity", "/config", "/connections", "/sign-in"]) {
      const answer = await browser.post(`/operator${path}`, {
        connector: "crm",
        class: "read-only",
      });
      expect([401, 404]).toContain(answer.status);
    }
    expect(await browser.text("/operator/tools")).toBe(before);
  });
});
