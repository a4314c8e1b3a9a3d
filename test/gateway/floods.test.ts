import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { api, type ConnectaConfig } from "../../server/index.ts";
import { listen, type Listening } from "../../server/node/listen.ts";

const TOKEN = "a-token-of-this-test-alone";

interface Health {
  readonly requests: { readonly active: number; readonly waiting: number };
  readonly runs: { readonly active: number; readonly waiting: number };
  readonly connectors?: Readonly<Record<string, { active: number; waiting: number }>>;
}

/** Calls that wait until all of them are let go. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

let server: Listening | undefined;
let sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await server?.close();
  server = undefined;
});

/** A deployment on a real port, with an instant tool and one that waits for its gate. */
async function started(config: Partial<ConnectaConfig>, waits = gate()) {
  const tool = (handler: (args: never, context: { signal: AbortSignal }) => unknown) => ({
    description: "A tool.",
    inputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
    handler,
  });
  const desk = api({
    id: "desk",
    tools: {
      instant: tool(() => "at once"),
      waits: tool((_, { signal }) =>
        Promise.race([
          waits.opened.then(() => "let go"),
          new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => reject(new Error("aborted")));
          }),
        ]),
      ),
    },
  });
  const listening = await listen({ connectors: [desk], ...config }, { port: 0 });
  if (!listening.ok) throw new Error(listening.failure.message);
  server = listening.value;
  return { url: server.url, port: server.port, open: waits.open };
}

function post(url: string, body: unknown, headers: Record<string, string> = {}) {
  return fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

const message = (name: string, args: object, id = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args },
});

/** Status and text of one call of the instant tool. */
async function instant(url: string, headers?: Record<string, string>) {
  const answer = await post(url, message("call_tool", { address: "desk.instant" }), headers);
  return { status: answer.status, isAnswered: (await answer.text()).includes("at once") };
}

const ANSWERED = { status: 200, isAnswered: true };

async function health(url: string): Promise<Health> {
  return (await (await fetch(`${url}/health`)).json()) as Health;
}

/** Asks until it is as it should be; the test's own time bounds it. */
async function until(url: string, holds: (health: Health) => boolean): Promise<Health> {
  for (;;) {
    const now = await health(url);
    if (holds(now)) return now;
  }
}

/** A connection of our own that has sent a text, and what came back until it closed. */
function sent(port: number, text: string) {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  let received = "";
  const closed = new Promise<string>((resolve) => {
    socket.on("data", (chunk) => (received += chunk.toString("latin1")));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(received));
  });
  socket.write(text);
  return { socket, closed };
}

const head = (port: number, length: number, more = "") =>
  `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
  `Accept: application/json, text/event-stream\r\n${more}Content-Length: ${length}\r\n\r\n`;

describe("floods at the door", () => {
  test("uploads that never end take every place, and lose it: a call is answered", async () => {
    const http = { maxRequests: 4, bodyTimeoutMs: 300, queueTimeoutMs: 60_000 };
    const { url, port } = await started({ http });
    const slow = Array.from({ length: 4 }, () => sent(port, `${head(port, 1_000)}{`));
    await until(url, ({ requests }) => requests.active === 4);
    expect(await instant(url)).toEqual(ANSWERED);
    for (const { closed } of slow) expect(await closed).toMatch(/^HTTP\/1\.1 408 /);
    expect((await health(url)).requests).toEqual({ active: 0, waiting: 0 });
  });

  test("who has no token gets no further than the queue, however large what they announce", async () => {
    const http = { maxRequests: 2, queueTimeoutMs: 60_000 };
    const { url, port } = await started({ http, auth: { bearer: TOKEN } });
    const flood = Array.from({ length: 100 }, () => sent(port, head(port, 4_000_000)));
    const authorization = `Bearer ${TOKEN}`;
    expect(await instant(url, { authorization })).toEqual(ANSWERED);
    for (const { socket, closed } of flood) {
      socket.end();
      expect(await closed).toMatch(/^HTTP\/1\.1 401 /);
    }
    expect((await health(url)).requests).toEqual({ active: 0, waiting: 0 });
  });

  test("beyond the queue a request is refused at once and told when to come back", async () => {
    const { url, port } = await started({ http: { maxRequests: 1, maxQueuedRequests: 0 } });
    const { socket, closed } = sent(port, `${head(port, 1_000)}{`);
    await until(url, ({ requests }) => requests.active === 1);
    const refused = await post(url, message("call_tool", { address: "desk.instant" }));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await refused.json()).toMatchObject({ jsonrpc: "2.0", error: { code: -32_000 } });
    socket.destroy();
    await closed;
    await until(url, ({ requests }) => requests.active === 0);
    expect(await instant(url)).toEqual(ANSWERED);
  });

  test("G1: a GET holds nothing: it is answered at once, also where every place is taken", async () => {
    const { url, port } = await started({ http: { maxRequests: 1, maxQueuedRequests: 0 } });
    sent(port, `${head(port, 1_000)}{`);
    await until(url, ({ requests }) => requests.active === 1);
    const headers = { accept: "text/event-stream" };
    for (let count = 0; count < 5; count++) {
      const { status } = await fetch(`${url}/mcp`, { headers });
      expect(status).toBe(405);
    }
    expect((await health(url)).requests).toEqual({ active: 1, waiting: 0 });
  });

  test("a client that goes away while it waits leaves the queue", async () => {
    const { url, port } = await started({ http: { maxRequests: 1 } });
    sent(port, `${head(port, 1_000)}{`);
    await until(url, ({ requests }) => requests.active === 1);
    const body = JSON.stringify(message("call_tool", { address: "desk.instant" }));
    const waiting = sent(port, head(port, body.length) + body);
    await until(url, ({ requests }) => requests.waiting === 1);
    waiting.socket.destroy();
    await until(url, ({ requests }) => requests.waiting === 0);
  });

  test("a client that goes away while it is answered gives its place back", async () => {
    const { url, port, open } = await started({});
    const body = JSON.stringify(message("call_tool", { address: "desk.waits" }));
    const { socket } = sent(port, head(port, body.length) + body);
    await until(url, ({ connectors }) => connectors?.desk?.active === 1);
    expect((await health(url)).requests.active).toBe(1);
    socket.destroy();
    const { connectors } = await until(url, ({ requests }) => requests.active === 0);
    expect(connectors?.desk).toEqual({ active: 0, waiting: 0 });
    open();
  });

  test("a batch counts as many requests as it has messages", async () => {
    const { url } = await started({ http: { maxRequests: 4 } });
    const batch = (count: number) =>
      Array.from({ length: count }, (_, at) =>
        message("call_tool", { address: "desk.instant" }, at),
      );
    const fits = await post(url, batch(4));
    expect(fits.status).toBe(200);
    expect((await fits.text()).match(/at once/g)?.length).toBeGreaterThanOrEqual(4);
    expect((await post(url, batch(5))).status).toBe(503);
    expect((await health(url)).requests).toEqual({ active: 0, waiting: 0 });
  });
});

describe("one level and the other", () => {
  test("L2: programs that run and programs that wait for it hold no place of a request", async () => {
    const { url, open } = await started({
      http: { maxRequests: 2, maxQueuedRequests: 0 },
      execute: { maxRuns: 6, maxQueuedRuns: 4, queueTimeoutMs: 60_000, timeoutMs: 60_000 },
    });
    const program = message("execute_code", { code: "async () => desk.waits()" });
    const running: Promise<Response>[] = [];
    for (let count = 1; count <= 10; count++) {
      running.push(post(url, program));
      await until(url, ({ runs }) => runs.active + runs.waiting === count);
    }
    const { requests, runs, connectors } = await until(
      url,
      (now) => now.connectors?.desk?.active === 6,
    );
    expect(requests).toEqual({ active: 0, waiting: 0 });
    expect(runs).toMatchObject({ active: 6, waiting: 4 });
    expect(connectors?.desk).toEqual({ active: 6, waiting: 0 });
    expect(await instant(url)).toEqual(ANSWERED);
    const refused = await post(url, program);
    expect(await refused.text()).toContain("executor_overloaded");
    open();
    for (const answer of await Promise.all(running)) {
      expect(await answer.text()).toContain("let go");
    }
    const idle = await health(url);
    expect([idle.requests, idle.runs]).toMatchObject([{ active: 0 }, { active: 0, waiting: 0 }]);
  });

  test("calls that wait for one connector do not hold up another's", async () => {
    const held = gate();
    const waits = {
      description: "A tool.",
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: true },
      handler: () => held.opened.then(() => "let go"),
    };
    const narrow = api({ id: "narrow", limits: { concurrency: 1 }, tools: { waits } });
    const wide = api({
      id: "desk",
      tools: { instant: { ...waits, handler: () => "at once" } },
    });
    const { url } = await started({ connectors: [narrow, wide] });
    const call = message("call_tool", { address: "narrow.waits" });
    const all = Array.from({ length: 20 }, () => post(url, call));
    const { connectors } = await until(url, (now) => now.connectors?.narrow?.waiting === 19);
    expect(connectors?.narrow).toEqual({ active: 1, waiting: 19 });
    expect(await instant(url)).toEqual(ANSWERED);
    held.open();
    for (const answer of await Promise.all(all)) expect(await answer.text()).toContain("let go");
  });

  test("T1: who may not call learns numbers of /health alone, and no connector", async () => {
    const { url } = await started({ auth: { bearer: TOKEN } });
    expect(Object.keys(await health(url))).toEqual([
      "status",
      "name",
      "version",
      "requests",
      "runs",
    ]);
    const headers = { authorization: `Bearer ${TOKEN}` };
    const known = (await (await fetch(`${url}/health`, { headers })).json()) as Health;
    expect(known.connectors).toEqual({ desk: { active: 0, waiting: 0 } });
    expect(known.runs).toEqual({ active: 0, waiting: 0, waitingCalls: 0, bytesInFlight: 0 });
  });
});
