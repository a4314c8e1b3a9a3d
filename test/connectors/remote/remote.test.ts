import { afterEach, describe, expect, test } from "vitest";
import type { Connector } from "../../../server/shared/contracts.ts";
import { deferred } from "../../../verify/hostile/downstream/support/deferred.ts";
import { legacy, modern, type Answering } from "../../../verify/hostile/downstream/support/http.ts";
import { testScope } from "../../support/scope.ts";
import { connected, disconnect } from "./connected.ts";

afterEach(disconnect);

const scope = testScope();
const echo = (crm: Connector, args: object = { a: 1 }) => crm.callTool("echo", args, scope);
const ECHOED = { ok: true, value: { kind: "mcp", content: [{ type: "text", text: '{"a":1}' }] } };
const ERA_META = "io.modelcontextprotocol/protocolVersion";

describe("both generations of the protocol", () => {
  test("a server of the newer one is asked once what it is, and never again", async () => {
    const { server, crm } = await connected(modern());
    expect(await crm.listTools(scope)).toMatchObject({ ok: true, value: [{ name: "echo" }] });
    expect(await echo(crm)).toEqual(ECHOED);
    expect(server.methods).toEqual(["server/discover", "tools/list", "tools/call"]);
    const call = server.asked[2];
    expect(call?.headers["mcp-name"]).toBe("echo");
    expect(call?.params._meta).toMatchObject({ [ERA_META]: "2026-07-28" });
  });

  test("a server of the older one is initialized, and its session is used until it is ended", async () => {
    const { server, crm } = await connected(legacy(undefined, "session-1"));
    expect(await crm.listTools(scope)).toMatchObject({ ok: true, value: [{ name: "echo" }] });
    expect(await echo(crm)).toEqual(ECHOED);
    await crm.close?.();
    const handshake = ["server/discover", "initialize", "notifications/initialized"];
    expect(server.methods).toEqual([...handshake, "tools/list", "tools/call", "DELETE"]);
    for (const { headers } of server.asked.slice(2)) {
      expect(headers["mcp-session-id"]).toBe("session-1");
    }
    for (const { headers } of server.asked.slice(3)) {
      expect(headers["mcp-protocol-version"]).toBe("2025-06-18");
    }
  });

  test("a server of the older one without sessions is initialized once", async () => {
    const { server, crm } = await connected(legacy());
    await crm.listTools(scope);
    expect(await echo(crm)).toEqual(ECHOED);
    await crm.close?.();
    expect(server.methods.slice(3)).toEqual(["tools/list", "tools/call"]);
    expect(server.asked[4]?.headers["mcp-protocol-version"]).toBe("2025-06-18");
  });

  test('protocol: "legacy" skips the question', async () => {
    const { server, crm } = await connected(legacy(), { protocol: "legacy" });
    expect(await echo(crm)).toEqual(ECHOED);
    expect(server.methods[0]).toBe("initialize");
  });

  test.each([
    ["HTTP 400", (asked, reply) => asked.method === "server/discover" && (reply.status(400), true)],
    ["HTTP 405", (asked, reply) => asked.method === "server/discover" && (reply.status(405), true)],
    ["HTTP 500", (asked, reply) => asked.method === "server/discover" && (reply.status(500), true)],
    [
      "a page of HTML",
      (asked, reply) =>
        asked.method === "server/discover" &&
        (reply.status(200, { "content-type": "text/html" }, "<h1>Hi</h1>"), true),
    ],
    [
      "an error without an id",
      (asked, reply) =>
        asked.method === "server/discover" &&
        (reply.status(
          200,
          { "content-type": "application/json" },
          '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"?"}}',
        ),
        true),
    ],
  ] satisfies [string, Answering][])(
    "a server that answers the question with %s is of the older one",
    async (_, special) => {
      const { crm } = await connected(legacy(special));
      expect(await echo(crm)).toEqual(ECHOED);
    },
  );

  test("concurrent first calls share one handshake", async () => {
    const { server, crm } = await connected(legacy(undefined, "s"));
    const answers = await Promise.all([echo(crm), echo(crm), crm.listTools(scope)]);
    expect(answers.map(({ ok }) => ok)).toEqual([true, true, true]);
    expect(server.methods.filter((method) => method === "initialize")).toHaveLength(1);
  });

  test.each([
    ["and the others are served", 200],
    ["and the others hear why it failed", 401],
  ])("a caller that leaves during the handshake fails alone, %s", async (_, status) => {
    const discover = deferred<() => void>();
    const { crm } = await connected(
      modern((asked, reply) => {
        if (asked.method !== "server/discover") return false;
        const cache = { ttlMs: 0, cacheScope: "private" };
        const versions = { supportedVersions: ["2026-07-28"], capabilities: {} };
        discover.resolve(() => {
          if (status === 200) reply.result({ resultType: "complete", ...versions, ...cache });
          else reply.status(status);
        });
        return true;
      }),
    );
    const leaving = new AbortController();
    const left = crm.callTool("echo", { a: 1 }, testScope({ signal: leaving.signal }));
    const stayed = echo(crm);
    const answer = await discover.promise;
    leaving.abort();
    expect(await left).toMatchObject({ ok: false, failure: { code: "cancelled" } });
    answer();
    if (status === 200) expect(await stayed).toEqual(ECHOED);
    else expect(await stayed).toMatchObject({ failure: { code: "auth_required" } });
  });

  test("a server that was replaced by one of the older generation is asked anew", async () => {
    let now = modern();
    const { crm } = await connected((asked, reply) => now(asked, reply));
    expect(await echo(crm)).toEqual(ECHOED);
    now = legacy((asked, reply) => {
      const isKnown = ["initialize", "notifications/initialized"].includes(asked.method);
      const isOld = asked.headers["mcp-protocol-version"] !== "2026-07-28";
      return !isKnown && !isOld && (reply.status(400), true);
    });
    expect(await echo(crm)).toMatchObject({
      ok: false,
      failure: { code: "connector_call_failed" },
    });
    expect(await echo(crm)).toEqual(ECHOED);
  });
});

describe("sessions of the older generation", () => {
  test("a session that the server forgot is made anew once, and the call is answered", async () => {
    let session = 0;
    const { server, crm } = await connected((asked, reply) => {
      if (asked.method === "initialize") session++;
      if (asked.headers["mcp-session-id"] === "s1" && asked.method === "tools/call") {
        return reply.error(-32_001, "Session not found", 404);
      }
      legacy(undefined, `s${session}`)(asked, reply);
    });
    expect(await crm.listTools(scope)).toMatchObject({ ok: true });
    expect(await echo(crm)).toEqual(ECHOED);
    expect(server.methods.slice(3)).toEqual([
      "tools/list",
      "tools/call",
      "initialize",
      "notifications/initialized",
      "tools/call",
    ]);
    expect(server.asked.at(-1)?.headers["mcp-session-id"]).toBe("s2");
  });

  test("a server that forgets every session is asked twice and not for ever", async () => {
    const { server, crm } = await connected(
      legacy((asked, reply) => asked.method === "tools/call" && (reply.status(404), true), "s"),
    );
    expect(await echo(crm)).toMatchObject({ ok: false, failure: { code: "unavailable" } });
    expect(server.methods.filter((method) => method === "tools/call")).toHaveLength(2);
  });

  test("a session that the server refuses with HTTP 400 and in words is made anew as well", async () => {
    let session = 0;
    const { server, crm } = await connected((asked, reply) => {
      if (asked.method === "initialize") session++;
      if (asked.headers["mcp-session-id"] === "s1" && asked.method === "tools/call") {
        return reply.error(-32_000, "Bad Request: No valid session ID provided", 400);
      }
      legacy(undefined, `s${session}`)(asked, reply);
    });
    expect((await crm.callTool("get", {}, testScope())).ok).toBe(true);
    expect(server.asked.filter(({ method }) => method === "tools/call")).toHaveLength(2);
    expect(server.asked.at(-1)?.headers["mcp-session-id"]).toBe("s2");
  });

  test.each([
    ["that goes on for ever", "s", "No valid session ID provided", 2],
    ["that speaks of something else", "s", "Bad Request", 1],
    ["without a session", undefined, "No valid session ID provided", 1],
  ])("HTTP 400 %s is a failure of its own", async (_, session, text, times) => {
    const { server, crm } = await connected(
      legacy(
        (asked, reply) => asked.method === "tools/call" && (reply.error(-32_000, text, 400), true),
        session,
      ),
    );
    expect(await crm.callTool("get", {}, testScope())).toMatchObject({
      ok: false,
      failure: { code: "connector_call_failed" },
    });
    expect(server.asked.filter(({ method }) => method === "tools/call")).toHaveLength(times);
  });

  test("HTTP 404 without a session is no lost session", async () => {
    const { server, crm } = await connected(
      legacy((asked, reply) => asked.method === "tools/call" && (reply.status(404), true)),
    );
    expect(await echo(crm)).toMatchObject({ failure: { code: "connector_call_failed" } });
    expect(server.methods.filter((method) => method === "tools/call")).toHaveLength(1);
  });

  test("callers with credentials of their own never share a session", async () => {
    let session = 0;
    const { server, crm } = await connected(
      (asked, reply) =>
        legacy(undefined, `s${asked.method === "initialize" ? ++session : 0}`)(asked, reply),
      {
        headers: ({ principal }) =>
          Promise.resolve({ ok: true, value: { authorization: `Bearer of-${principal}` } }),
      },
    );
    for (const principal of ["ann", "bob", "ann"]) {
      await crm.callTool("echo", {}, testScope({ principal }));
    }
    const calls = server.asked.filter(({ method }) => method === "tools/call");
    expect(calls.map(({ headers }) => [headers.authorization, headers["mcp-session-id"]])).toEqual([
      ["Bearer of-ann", "s1"],
      ["Bearer of-bob", "s2"],
      ["Bearer of-ann", "s1"],
    ]);
    await crm.close?.();
    const ended = server.asked.filter(({ http }) => http === "DELETE");
    expect(ended.map(({ headers }) => headers["mcp-session-id"]).toSorted()).toEqual(["s1", "s2"]);
  });

  test("closing waits for no server that does not answer, and calls are refused afterwards", async () => {
    const { crm } = await connected(
      legacy((asked, reply) => asked.http === "DELETE" && (reply.raw.destroy(), true), "s"),
    );
    await echo(crm);
    await crm.close?.();
    expect(await echo(crm)).toMatchObject({ failure: { code: "unavailable" } });
  });
});

describe("answers", () => {
  const answerAs = (generation: typeof modern, result: object): Answering =>
    generation((asked, reply) => asked.method === "tools/call" && (reply.result(result), true));
  const content = [
    { type: "hologram", depth: 3 },
    { type: "image", data: "no base64 !!" },
    { type: "resource_link" },
  ];

  test.each([
    ["newer", answerAs(modern, { resultType: "complete", content, structuredContent: [1] })],
    ["newer, kind left out", answerAs(modern, { content, structuredContent: [1] })],
    ["older", answerAs(legacy, { content, structuredContent: [1] })],
  ])("I7: blocks that the client does not know pass unchanged (%s)", async (_, answering) => {
    const { crm } = await connected(answering);
    expect(await echo(crm)).toEqual({
      ok: true,
      value: { kind: "mcp", content, structuredContent: [1] },
    });
  });

  test("one bad tool does not sink a catalog of either generation", async () => {
    const tools = [
      { name: "good", inputSchema: { type: "object" } },
      { name: "bare" },
      { name: "good", inputSchema: {} },
      { inputSchema: null, outputSchema: 5 },
      "tool",
    ];
    for (const generation of [modern, legacy]) {
      const { crm } = await connected(
        generation((asked, reply) => {
          if (asked.method !== "tools/list") return false;
          reply.result({ resultType: "complete", tools });
          return true;
        }),
      );
      const listed = await crm.listTools(scope);
      expect(listed.ok && listed.value.map(({ name }) => name)).toEqual(["good", "bare"]);
      expect(crm.setAside?.().map(({ name }) => name)).toEqual(["good", "(no name)", "(no name)"]);
    }
  });

  test("an answer may come as a stream, after notifications", async () => {
    const { crm } = await connected(
      legacy((asked, reply) => {
        if (asked.method !== "tools/call") return false;
        const note = { jsonrpc: "2.0", method: "notifications/message", params: {} };
        reply.events(note, { jsonrpc: "2.0", id: asked.id, result: { content: [] } });
        return true;
      }),
    );
    expect(await echo(crm)).toEqual({ ok: true, value: { kind: "mcp", content: [] } });
  });

  test("a stream that the server interrupts is taken up where it stopped", async () => {
    const { server, crm } = await connected(
      legacy((asked, reply) => {
        if (asked.method === "tools/call") {
          reply.raw.writeHead(200, { "content-type": "text/event-stream" });
          reply.raw.end("id: e1\nretry: 1\ndata:\n\n");
        } else if (asked.headers["last-event-id"] === "e1") {
          const call = server.asked.find(({ method }) => method === "tools/call");
          reply.events({ jsonrpc: "2.0", id: call?.id, result: { content: [] } });
        } else return false;
        return true;
      }, "s"),
    );
    expect(await echo(crm)).toEqual({ ok: true, value: { kind: "mcp", content: [] } });
    expect(server.methods.filter((method) => method === "GET")).toHaveLength(1);
  });

  test("a stream that stays open after its answer does not hold the call, and is let go", async () => {
    const letGo = deferred();
    const { crm } = await connected(
      legacy((asked, { raw }) => {
        if (asked.method !== "tools/call") return false;
        raw.writeHead(200, { "content-type": "text/event-stream" });
        raw.write(`data: {"jsonrpc":"2.0","id":${asked.id},"result":{"content":[]}}\n\n`);
        void asked.gone.then(() => letGo.resolve());
        return true;
      }),
    );
    expect(await echo(crm)).toMatchObject({ ok: true });
    await letGo.promise;
  });

  test("a change of tools that is told during a call reaches whoever listens", async () => {
    const { crm } = await connected(
      legacy((asked, reply) => {
        if (asked.method !== "tools/call") return false;
        const note = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
        reply.events(note, { jsonrpc: "2.0", id: asked.id, result: { content: [] } });
        return true;
      }),
    );
    let changes = 0;
    crm.onToolsChanged?.(() => changes++);
    await echo(crm);
    expect(changes).toBe(1);
  });

  test("E2: an answer that asks for input is input_required_unsupported", async () => {
    const { crm } = await connected(
      answerAs(modern, { resultType: "input_required", inputRequests: { a: {} } }),
    );
    expect(await echo(crm)).toMatchObject({ failure: { code: "input_required_unsupported" } });
  });

  test("arguments that a tool wants as headers are sent as headers", async () => {
    const properties = { region: { type: "string", "x-mcp-header": "Region" } };
    const tools = [{ name: "echo", inputSchema: { type: "object", properties } }];
    const { server, crm } = await connected(
      modern((asked, reply) => {
        if (asked.method === "tools/list") reply.result({ resultType: "complete", tools });
        else if (asked.method === "tools/call" && asked.headers["mcp-param-region"] === undefined) {
          reply.error(-32_020, "Header mismatch", 400);
        } else return false;
        return true;
      }),
    );
    expect(await echo(crm, { region: "eu" })).toMatchObject({ ok: true });
    expect(server.methods.slice(1)).toEqual(["tools/call", "tools/list", "tools/call"]);
    expect(await echo(crm, { region: "us" })).toMatchObject({ ok: true });
    expect(server.asked.at(-1)?.headers["mcp-param-region"]).toBe("us");
  });

  test("arguments that are no object never leave", async () => {
    const { server, crm } = await connected(modern());
    expect(await crm.callTool("echo", [1], scope)).toMatchObject({
      failure: { code: "invalid_args" },
    });
    expect(server.methods).toEqual([]);
  });
});
