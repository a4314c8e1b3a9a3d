import { afterEach, describe, expect, test } from "vitest";
import {
  memoryActivity,
  remoteMcp,
  type Connecta,
  type ConnectaConfig,
  type Connector,
} from "../../../server/index.ts";
import { changeCredential, type Desk } from "../../../server/http/operator/credentials.ts";
import { fail, ok } from "../../../server/shared/failure.ts";
import { testScope } from "../../support/scope.ts";
import { callTool, rpc } from "../../support/gateway.ts";
import { fakeConnector, fakeTool } from "../../support/catalog.ts";
import { Browser, deployed, SECRET, vaulted } from "./site.ts";

const open: Connecta[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});
function site(config: Partial<ConnectaConfig> = {}) {
  const connecta = deployed(config);
  open.push(connecta);
  return connecta;
}

const BEARER = "correct-horse-battery";
const PAGES = ["", "/tools", "/credentials", "/tokens", "/activity"].map(
  (one) => `/operator${one}`,
);
const FIELDS = { action: "set", connector: "crm", "value.user": "ada" };

/** Calls as a caller with this token would. */
const as = (connecta: Connecta, token: string) => ({
  fetch: (request: Request) => {
    request.headers.set("authorization", `Bearer ${token}`);
    return connecta.fetch(request);
  },
});

const dataOf = async (connecta: Connecta, address = "crm.use") =>
  (await callTool(as(connecta, BEARER), "call_tool", { address })).structuredContent;

describe("credentials", () => {
  test("are set, used by the next call, replaced, tried and removed", async () => {
    const connecta = site();
    const browser = await new Browser(connecta).signIn();
    expect(await dataOf(connecta)).toMatchObject({ error: { code: "auth_required" } });
    const post = async (fields: Record<string, string>) =>
      (await browser.post("/operator/credentials", fields)).text();
    expect(await post({ ...FIELDS, "value.token": "" })).toContain("Still missing: API token.");
    expect(await post({ ...FIELDS, "value.token": "four" })).toContain("Its next call uses it.");
    expect(await dataOf(connecta)).toMatchObject({ data: { chars: 4 } });
    expect(await post({ ...FIELDS, "value.token": "eleven more" })).toContain("is saved");
    expect(await dataOf(connecta)).toMatchObject({ data: { chars: 11 } });
    expect(await post({ action: "test", connector: "crm" })).toContain(
      "crm has its credential, and no way to try it.",
    );
    expect(await post({ action: "remove", connector: "crm" })).toContain("is removed");
    expect(await dataOf(connecta)).toMatchObject({ error: { code: "auth_required" } });
  });

  test.each<[string, Record<string, string>]>([
    ["a connector that is not there", { ...FIELDS, connector: "none" }],
    ["a field that is not there", { ...FIELDS, "value.other": "x" }],
    ["nothing", { action: "set", connector: "crm" }],
    ["another action", { action: "read", connector: "crm" }],
    ["a value that is too long", { ...FIELDS, "value.token": "x".repeat(70_000) }],
  ])("are left alone by %s", async (_, fields) => {
    const browser = await new Browser(site()).signIn();
    const answer = await browser.post("/operator/credentials", fields);
    expect(answer.status).toBe(422);
    const text = await answer.text();
    expect(text).toContain('role="alert"');
    expect(text).not.toContain("xxxx");
  });

  test("are asked for at the page's own address", async () => {
    const publicUrl = "https://mcp.example.com/gate";
    const ask = async (config: Partial<ConnectaConfig>) => {
      const asked = { connector: "crm" };
      const answer = await callTool(as(site(config), BEARER), "authorize_connector", asked);
      return JSON.stringify(answer.structuredContent);
    };
    expect(await ask({ publicUrl })).toContain(`${publicUrl}/operator/credentials#crm`);
    // Where no browser is known to reach it, the command line is what there is.
    expect(await ask({})).toContain("connecta credentials set crm");
  });

  test("cannot be authorized where nobody could be sent back, which is said", async () => {
    const person = remoteMcp({ id: "crm", url: "http://127.0.0.1:1/mcp", auth: "oauth" });
    const browser = await new Browser(site({ connectors: [person] })).signIn();
    const fields = { action: "authorize", connector: "crm" };
    const answer = await browser.post("/operator/credentials", fields);
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain("the operator gives publicUrl");
  });

  test.each(["javascript:alert(1)", "data:text/html,x", "no address"])(
    "are not authorized by a link to %s",
    async (url) => {
      const of = async (address: string) => {
        const authorize = async () => ok({ url: address });
        const none = async () => fail("not_found", "none");
        const list = async () => [];
        const desk: Desk = { authorize, list, set: none, remove: none, test: none };
        const form = new URLSearchParams({ action: "authorize", connector: "crm" });
        return changeCredential(desk, form, () => {}, testScope());
      };
      expect(await of(url)).toMatchObject({
        kind: "bad",
        text: "crm leads to an address that is no page.",
      });
      // The control.
      expect(String((await of("https://login.example/a?b")).more)).toContain(
        'href="https://login.example/a?b"',
      );
    },
  );
});

describe("tokens", () => {
  test("are shown once, let their bearer in, and end when they are revoked", async () => {
    const connecta = site();
    const browser = await new Browser(connecta).signIn();
    const fields = { action: "create", name: "laptop", ends: "30" };
    const made = await (await browser.post("/operator/tokens", fields)).text();
    const [token = "", id = ""] = /connecta_([0-9a-f]{16})_[0-9a-f]{64}/.exec(made) ?? [];
    const list = async () => (await rpc(as(connecta, token), "tools/list")).status;
    expect(await list()).toBe(200);
    const shown = await browser.text("/operator/tokens");
    expect(shown).toContain("laptop");
    expect(shown).toContain(id);
    expect(shown).not.toContain(token);
    const revoked = await browser.post("/operator/tokens", { action: "revoke", id });
    expect(await revoked.text()).toContain(`Token ${id} is revoked`);
    expect(await list()).toBe(401);
  });

  test.each([
    [{ action: "create", name: "", ends: "30" }],
    [{ action: "create", name: "a", ends: "31" }],
    [{ action: "revoke", id: "../x" }],
    [{ action: "keep" }],
  ])("are not changed by %j", async (fields) => {
    const browser = await new Browser(site()).signIn();
    expect((await browser.post("/operator/tokens", fields)).status).toBe(422);
    expect(await browser.text("/operator/tokens")).toContain("No token was made.");
  });

  test("are told of as an option where the deployment takes none", async () => {
    const browser = await new Browser(site({ auth: { bearer: BEARER } })).signIn();
    expect(await browser.text("/operator/tokens")).toContain("takes no tokens");
    const fields = { action: "create", name: "a", ends: "30" };
    expect((await browser.post("/operator/tokens", fields)).status).toBe(403);
  });
});

describe("connections and tools", () => {
  const down: Connector = {
    ...fakeConnector("down", []),
    listTools: async () => ({
      ok: false,
      failure: { code: "unavailable", message: "down does not answer.", retryable: true },
    }),
  };
  const mixed: Connector = {
    ...fakeConnector("mixed", [
      fakeTool("read_it"),
      fakeTool("write_it", { annotations: { readOnlyHint: false } }),
      fakeTool("secretive"),
    ]),
    policy: { hide: ["secretive"] },
    setAside: () => [{ name: "odd", reason: "Its schema does not compile." }],
  };

  test("say how each is, with its last error", async () => {
    const connecta = site({ connectors: [vaulted(), down, mixed] });
    const browser = await new Browser(connecta).signIn();
    await dataOf(connecta);
    const text = await browser.text("/operator");
    for (const part of [
      "down does not answer.",
      "not reached",
      "credential missing",
      "2 tools",
      "auth_required",
    ]) {
      expect(text).toContain(part);
    }
  });

  test("say the class of every tool and why", async () => {
    const browser = await new Browser(site({ connectors: [down, mixed] })).signIn();
    const text = (await browser.text("/operator/tools?connector=mixed")).replace(
      /<[^>]*>|\s+/g,
      " ",
    );
    for (const row of [
      /read_it\s+read-only\s+as the tool says/,
      /write_it\s+needs approval\s+as the tool says/,
      /secretive\s+hidden\s+as the config says/,
      /odd\s+set aside\s+Its schema does not compile\./,
    ]) {
      expect(text).toMatch(row);
    }
    expect(await browser.text("/operator/tools?connector=down")).toContain("down does not answer.");
  });

  test("wait for nobody who is silent", async () => {
    const silent: Connector = {
      ...fakeConnector("silent", []),
      listTools: () => new Promise(() => {}),
    };
    const browser = await new Browser(site({ connectors: [silent] })).signIn();
    expect(await browser.text("/operator")).toContain("not reached yet");
  });
});

describe("activity", () => {
  test("is filtered, and followed from where the page ended", async () => {
    const connecta = site();
    const browser = await new Browser(connecta).signIn();
    await dataOf(connecta);
    await dataOf(connecta, "nobody.knows");
    const text = await browser.text("/operator/activity");
    expect(text).toContain("crm.use");
    expect(text).toContain("nobody.knows");
    expect(await browser.text("/operator/activity?connector=crm")).not.toContain("nobody.knows");
    expect(await browser.text("/operator/activity?outcome=ok")).not.toContain("crm.use");
    expect(await browser.text("/operator/activity?source=execute_code")).not.toContain("crm.use");
    const cursor = /data-cursor="([^"]*)"/.exec(text)?.[1] ?? "";
    const since = async (query: string) =>
      (await browser.get(`/operator/activity/since?${query}`)).json() as Promise<{
        events: { address: string }[];
        cursor: string;
      }>;
    expect((await since(`after=${cursor}`)).events).toEqual([]);
    await dataOf(connecta, "nobody.knows.more");
    await dataOf(connecta);
    expect((await since(`after=${cursor}`)).events.map(({ address }) => address)).toEqual([
      "nobody.knows.more",
      "crm.use",
    ]);
    const own = await since(`after=${cursor}&connector=crm`);
    expect(own.events.map(({ address }) => address)).toEqual(["crm.use"]);
  });

  test("is said to be off where nothing is recorded", async () => {
    const browser = await new Browser(site({ activity: false })).signIn();
    expect(await browser.text("/operator/activity")).toContain("records no calls");
    expect((await browser.get("/operator/activity/since?after=0")).status).toBe(503);
  });
});

describe("texts that others wrote", () => {
  const ATTACKS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus=alert(1) x='",
    "</title></style></textarea><svg onload=alert(1)>",
    "&lt;b&gt;\u202Ereversed\u0000\u001b[31m",
  ];

  test.each(ATTACKS)("are shown as text: %j", async (attack) => {
    const connector: Connector = {
      ...fakeConnector("shop", [fakeTool(attack, { description: attack })]),
      title: attack,
      description: attack,
      setAside: () => [{ name: attack, reason: attack }],
    };
    const broken: Connector = {
      ...fakeConnector("down", []),
      listTools: async () => ({
        ok: false,
        failure: { code: "unavailable", message: attack, retryable: true },
      }),
    };
    const activity = memoryActivity();
    const connecta = site({
      connectors: [connector, broken],
      activity,
      name: attack.slice(0, 100),
    });
    const browser = await new Browser(connecta).signIn();
    await dataOf(connecta, attack);
    await browser.post("/operator/tokens", { action: "create", name: attack, ends: "30" });
    const paths = [...PAGES, "/operator/tools?connector=down", "/operator/sign-in"];
    const texts = await Promise.all(paths.map((path) => browser.text(path)));
    for (const text of texts) {
      // One script and one style are ours; nothing else is an element that loads or runs.
      expect(text.match(/<script/g)?.length ?? 0).toBeLessThanOrEqual(1);
      expect(text).not.toMatch(/<img|onerror=alert\(1\)>|<svg onload|onfocus=alert\(1\) x='/);
      // oxlint-disable-next-line no-control-regex
      expect(text).not.toMatch(/[\u202e\u0000\u001b]/);
    }
    expect(texts.join("")).toMatch(/&lt;script|&quot;&gt;|&#39; autofocus|&lt;\/title|&amp;lt;b/);
  });
});

describe("E4: nothing that opens anything", () => {
  test("is on any page, in any header or in any event, whatever it is", async () => {
    for (let round = 0; round < 20; round++) {
      const alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789<>&\"' é😀";
      const random = () =>
        Array.from(crypto.getRandomValues(new Uint8Array(40)), (byte) => [...alphabet][byte % 70])
          .join("")
          .trim();
      const [secret, token, user] = [random(), random(), random()];
      const vault = {
        key: btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32)))),
      };
      const connecta = site({ operator: { secret }, vault });
      const browser = await new Browser(connecta).signIn(secret);
      const told: string[] = [];
      const keep = async (answer: Response) =>
        void told.push(JSON.stringify([...answer.headers]), await answer.text());
      const form = { connector: "crm", "value.token": token, "value.user": user };
      for (const action of ["set", "test", "authorize", "set", "none"]) {
        await keep(await browser.post("/operator/credentials", { ...form, action }));
      }
      await keep(
        await browser.post("/operator/credentials", { ...form, action: "set", "value.no": token }),
      );
      await keep(
        await browser.post("/operator/credentials", { ...form, action: "set", connector: "no" }),
      );
      await dataOf(connecta);
      for (const path of PAGES) await keep(await browser.get(path));
      await keep(await browser.get("/operator/activity/since?after=0"));
      await keep(await new Browser(connecta).post("/operator/sign-in", { secret: `${secret}!` }));
      const whole = told.join("\n");
      const escaped = (text: string) =>
        text.replace(
          /[&<>"']/g,
          (char) =>
            ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" })[char] ?? char,
        );
      for (const one of [secret, token, user, vault.key, BEARER]) {
        expect(whole).not.toContain(one);
        expect(whole).not.toContain(escaped(one));
      }
      // The control: of long values the last four characters are there.
      expect(whole).toContain(`ends in ${escaped([...token].slice(-4).join(""))}`);
    }
  });
});

test("a page is answered while every place for programs is taken", async () => {
  const leaving = new AbortController();
  const executor = { execute: () => new Promise<never>(() => {}) };
  const execute = { maxRuns: 1, maxQueuedRuns: 1 };
  const connecta = site({ executor, execute });
  const run = () =>
    callTool(
      {
        fetch: (request) =>
          as(connecta, BEARER).fetch(new Request(request, { signal: leaving.signal })),
      },
      "execute_code",
      { code: "return 1" },
    );
  const waiting = [run(), run()].map((one) => one.catch(() => undefined));
  // The control: there is no place for another one.
  expect((await run()).structuredContent).toMatchObject({ error: { code: "executor_overloaded" } });
  const browser = await new Browser(connecta).signIn(SECRET);
  expect((await browser.get("/operator")).status).toBe(200);
  leaving.abort();
  await Promise.all(waiting);
});
