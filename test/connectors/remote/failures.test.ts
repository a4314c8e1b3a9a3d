import { afterEach, describe, expect, test } from "vitest";
import { remoteMcp, type RemoteMcpOptions } from "../../../server/connectors/remote/remote.ts";
import { retryAfter } from "../../../server/connectors/retry-after.ts";
import { fail } from "../../../server/shared/failure.ts";
import { deferred } from "../../../verify/hostile/downstream/support/deferred.ts";
import {
  fakeServer,
  legacy,
  modern,
  type Answering,
} from "../../../verify/hostile/downstream/support/http.ts";
import { testScope } from "../../support/scope.ts";
import { connected, disconnect } from "./connected.ts";

afterEach(disconnect);

const scope = testScope();
/** Answers calls in this way, and everything else as the generation does. */
const calls = (generation: typeof modern, answer: Answering): Answering =>
  generation((asked, reply) => {
    if (asked.method !== "tools/call") return false;
    answer(asked, reply);
    return true;
  });
const both = [
  ["newer", modern],
  ["older", legacy],
] as const;

describe.each(both)("a server of the %s generation that refuses", (_, generation) => {
  test.each([
    [401, "auth_required"],
    [403, "auth_required"],
    [429, "rate_limited"],
    [500, "unavailable"],
    [503, "unavailable"],
    [418, "connector_call_failed"],
  ])("HTTP %i is %s, asked once, and says nothing of the answer", async (status, code) => {
    const { server, crm } = await connected(
      calls(generation, (_, reply) => reply.status(status, {}, "a secret page")),
    );
    const failed = await crm.callTool("echo", {}, scope);
    expect(failed).toMatchObject({ ok: false, failure: { code } });
    expect(JSON.stringify(failed)).not.toContain("secret");
    expect(server.methods.filter((method) => method === "tools/call")).toHaveLength(1);
  });

  test.each([
    [429, "rate_limited"],
    [503, "unavailable"],
  ])("Retry-After of HTTP %i is passed on in milliseconds", async (status, code) => {
    const { crm } = await connected(
      calls(generation, (_, reply) => reply.status(status, { "retry-after": "7" })),
    );
    expect(await crm.callTool("echo", {}, scope)).toMatchObject({
      failure: { code, retryable: true, retryAfterMs: 7_000 },
    });
  });

  test("a JSON-RPC error is connector_call_failed with its text", async () => {
    const { crm } = await connected(
      calls(generation, (_, reply) => reply.error(-32_000, "The record is locked.")),
    );
    expect(await crm.callTool("echo", {}, scope)).toMatchObject({
      failure: {
        code: "connector_call_failed",
        message: "crm.echo was answered with an error: The record is locked.",
      },
    });
  });

  test.each([-32_042, -32_021])("JSON-RPC error %i asks for a person", async (code) => {
    const { crm } = await connected(
      calls(generation, (_, reply) =>
        reply.error(code, "Log in.", 200, { elicitations: [], requiredCapabilities: {} }),
      ),
    );
    expect(await crm.callTool("echo", {}, scope)).toMatchObject({
      failure: { code: "input_required_unsupported" },
    });
  });

  test("the same holds for the handshake", async () => {
    const { crm } = await connected((_, reply) => reply.status(401), {
      protocol: generation === legacy ? "legacy" : "auto",
    });
    expect(await crm.listTools(scope)).toMatchObject({ failure: { code: "auth_required" } });
  });
});

describe("Retry-After", () => {
  const NOON = Date.UTC(2026, 0, 1, 12, 0, 0);

  test.each([
    ["0", 0],
    ["120", 120_000],
    [" 5 ", 5_000],
    ["Thu, 01 Jan 2026 12:00:30 GMT", 30_000],
    ["Thu, 01 Jan 2026 11:00:00 GMT", 0],
    ["soon", undefined],
    ["-5", undefined],
    ["1e9", undefined],
    ["", undefined],
    [null, undefined],
  ])("%j is %j", (value, expected) => {
    expect(retryAfter(value, NOON)).toBe(expected);
  });
});

describe("the network", () => {
  test("a server that is not there is unavailable, and nothing but the system's word is said", async () => {
    const server = await fakeServer(modern());
    await server.close();
    for (const protocol of ["auto", "legacy"] as const) {
      const crm = remoteMcp({ id: "crm", url: server.url, protocol });
      expect(await crm.callTool("echo", {}, scope)).toMatchObject({
        failure: {
          code: "unavailable",
          message: "The server of crm cannot be reached (ECONNREFUSED).",
        },
      });
    }
  });

  test("timeoutMs ends a call that its caller would wait for longer", async () => {
    const { crm } = await connected(
      calls(modern, () => undefined),
      { timeoutMs: 50 },
    );
    expect(await crm.callTool("echo", {}, scope)).toMatchObject({
      failure: { code: "timeout", timeoutMs: 50 },
    });
  });
});

describe("a call that its caller gives up", () => {
  test("is told to a server of the older generation, and let go", async () => {
    const [arrived, noted] = [deferred<number>(), deferred<unknown>()];
    const { crm } = await connected((asked, reply) => {
      if (asked.method === "tools/call") return arrived.resolve(Number(asked.id));
      if (asked.method === "notifications/cancelled") noted.resolve(asked.params.requestId);
      legacy(undefined, "s")(asked, reply);
    });
    const caller = new AbortController();
    const deferrals: Promise<unknown>[] = [];
    const call = crm.callTool(
      "echo",
      {},
      testScope({ signal: caller.signal, defer: (task) => void deferrals.push(task) }),
    );
    const id = await arrived.promise;
    caller.abort();
    expect(await call).toMatchObject({ failure: { code: "cancelled" } });
    expect(await noted.promise).toBe(id);
    await Promise.all(deferrals);
  });

  test("ends the request to a server of the newer generation, which is how it is told", async () => {
    const [arrived, gone] = [deferred(), deferred()];
    const { server, crm } = await connected(
      calls(modern, (asked) => {
        arrived.resolve();
        void asked.gone.then(() => gone.resolve());
      }),
    );
    const caller = new AbortController();
    const call = crm.callTool("echo", {}, testScope({ signal: caller.signal }));
    await arrived.promise;
    caller.abort();
    expect(await call).toMatchObject({ failure: { code: "cancelled" } });
    await gone.promise;
    expect(server.methods).not.toContain("notifications/cancelled");
  });
});

describe("redirects", () => {
  const redirect =
    (to: (path: string) => string, status = 307): Answering =>
    (asked, reply) =>
      asked.path === "/mcp"
        ? reply.status(status, { location: to(asked.path) })
        : modern()(asked, reply);

  test.each([301, 302, 303, 307, 308])("HTTP %i is not followed unless allowed", async (status) => {
    const { server, crm } = await connected(redirect(() => "/moved", status));
    expect(await crm.callTool("echo", {}, scope)).toMatchObject({
      failure: { code: "connector_call_failed" },
    });
    expect(server.asked.every(({ path }) => path === "/mcp")).toBe(true);
  });

  test("within the origin they are followed when allowed", async () => {
    const { server, crm } = await connected(
      redirect(() => "/moved"),
      { redirects: "same-origin" },
    );
    expect(await crm.callTool("echo", {}, scope)).toMatchObject({ ok: true });
    expect(server.asked.map(({ path }) => path)).toContain("/moved");
  });

  test("to another origin they are never followed, and the credential stays here", async () => {
    const other = await fakeServer(modern());
    const { crm } = await connected(
      redirect(() => other.url),
      {
        redirects: "same-origin",
        headers: { authorization: "Bearer tok-123456" },
      },
    );
    expect(await crm.callTool("echo", {}, scope)).toMatchObject({
      failure: { code: "connector_call_failed" },
    });
    expect(other.asked).toEqual([]);
    await other.close();
  });

  test("control: with the other origin's address the same server is called", async () => {
    const other = await fakeServer(modern());
    const crm = remoteMcp({ id: "crm", url: other.url });
    expect(await crm.callTool("echo", {}, scope)).toMatchObject({ ok: true });
    expect(other.methods).toContain("tools/call");
    await other.close();
  });
});

describe("credentials", () => {
  const SECRET = "tok-1234567890";
  const headers = { authorization: `Bearer ${SECRET}`, "x-api-key": "key-abcdefgh" };

  test.each<[string, Answering]>([
    ["an error", (_, reply) => reply.error(-32_000, `Bad ${SECRET} and key-abcdefgh`)],
    ["a status", (_, reply) => reply.status(400, {}, `Bad ${SECRET}`)],
    ["a redirect", (_, reply) => reply.status(307, { location: `https://x/?t=${SECRET}` })],
    [
      "a broken answer",
      (_, reply) => reply.status(200, { "content-type": "application/json" }, SECRET),
    ],
    ["another kind of answer", (_, reply) => reply.status(200, { "content-type": SECRET }, SECRET)],
    [
      "a failed tool",
      (_, reply) =>
        reply.result({
          resultType: "complete",
          isError: true,
          content: [{ type: "text", text: `Bad ${SECRET}` }],
        }),
    ],
  ])("E4: %s that quotes a credential reaches nobody with it", async (_, answer) => {
    for (const generation of [modern, legacy]) {
      const { server, crm } = await connected(calls(generation, answer), { headers });
      const failed = await crm.callTool("echo", {}, scope);
      expect(server.asked.at(-1)?.headers.authorization).toBe(headers.authorization);
      expect(JSON.stringify(failed)).not.toContain(SECRET);
      expect(JSON.stringify(failed)).not.toContain("key-abcdefgh");
    }
  });

  test("a credential that cannot be had ends the call before anything is sent", async () => {
    const refused = fail("auth_required", "Log in first.");
    const { server, crm } = await connected(modern(), { headers: () => Promise.resolve(refused) });
    expect(await crm.listTools(scope)).toEqual(refused);
    expect(server.asked).toEqual([]);
  });

  test.each([
    ["a line break", { authorization: `Bearer ${SECRET}\nx` }],
    ["a name that is none", { "x y": SECRET }],
    ["a number", { "x-key": 7 as never }],
    ["a header of the protocol", { "mcp-session-id": SECRET }],
  ])("G7: %s is refused at construction, without the value", (_, bad) => {
    const make = () => remoteMcp({ id: "crm", url: "https://x/mcp", headers: bad });
    expect(make).toThrow("remoteMcp(crm).headers[");
    expect(make).not.toThrow(SECRET);
  });
});

describe("G7: options that cannot be used are refused at construction", () => {
  test.each<[string, Partial<Record<keyof RemoteMcpOptions, unknown>>]>([
    ["remoteMcp() needs an object with an id", { id: undefined }],
    ["remoteMcp(crm).url is no URL", { url: undefined }],
    ["remoteMcp(crm).url is no URL", { url: "crm/mcp" }],
    ["remoteMcp(crm).url must begin with https://", { url: "file:///etc/passwd" }],
    ["remoteMcp(crm).url holds a credential", { url: "https://me:pw@x/mcp" }],
    ["remoteMcp(crm).headers must be an object", { headers: "Bearer" }],
    ["remoteMcp(crm).protocol must be", { protocol: "modern" }],
    ["remoteMcp(crm).redirects must be", { redirects: "follow" }],
    ["remoteMcp(crm).timeoutMs must be a whole number", { timeoutMs: 0 }],
    ["remoteMcp(crm).maxResponseBytes must be a whole number", { maxResponseBytes: 1.5 }],
    ["remoteMcp(crm).title is no text", { title: 7 }],
  ])("%s", (message, options) => {
    const all = { id: "crm", url: "https://x/mcp", ...options } as never;
    expect(() => remoteMcp(all)).toThrow(message);
  });

  test("what a connector is told of itself, it says", () => {
    const said = { id: "crm", title: "CRM", description: "Deals.", usageGuide: "Search first." };
    const crm = remoteMcp({ ...said, url: new URL("https://x/mcp"), readOnly: ["a"], hide: ["b"] });
    expect(crm).toMatchObject({ ...said, kind: "mcp", policy: { readOnly: ["a"], hide: ["b"] } });
    expect(remoteMcp({ id: "crm", url: "https://x/mcp" })).not.toHaveProperty("policy");
  });
});
