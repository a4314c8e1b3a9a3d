import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { makeRepository, type Repository } from "./support/repository.ts";
import { ON_WORKERS, startServer, type Running } from "./support/server.ts";

let repository: Repository;
let server: Running;

beforeAll(async () => {
  repository = makeRepository(3);
  server = await startServer(repository.directory);
});

afterAll(async () => {
  await server.stop();
  repository.remove();
});

// Whatever a request was, the next one has to work.
afterEach(async () => {
  await mustStillWork();
});

async function mustStillWork(): Promise<void> {
  expect(await execute("async () => 6 * 7")).toMatchObject({ structuredContent: { result: 42 } });
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** One request with exactly these headers; a body of one chunk is sent with its length. */
function send({ method = "POST", path = "/mcp", headers = {}, body = "" }: Sent): Promise<Answer> {
  const { hostname, port } = new URL(server.origin);
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        hostname,
        port,
        path,
        method,
        agent: false,
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...headers,
        },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => (text += chunk));
        response.on("end", () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** One JSON-RPC request as a 2025 client sends it; gives the whole answer. */
async function ask(method: string, params: unknown): Promise<Record<string, unknown>> {
  const { text } = await send({ body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }) });
  const data = /^data: (.+)$/m.exec(text)?.[1] ?? text;
  return JSON.parse(data) as Record<string, unknown>;
}

async function call(name: string, args: unknown): Promise<unknown> {
  return (await ask("tools/call", { name, arguments: args }))["result"];
}

function execute(code: string): Promise<unknown> {
  return call("execute_code", { code });
}

const failed = (code: string) => ({ isError: true, structuredContent: { error: { code } } });

test("an unknown tool is a JSON-RPC error that says so", async () => {
  const answer = await ask("tools/call", { name: "no_such_tool", arguments: {} });
  expect(answer).toMatchObject({ error: { code: -32_602 } });
  expect(JSON.stringify(answer)).toContain("no_such_tool");
});

test("wrong arguments name the argument and the rule", async () => {
  expect(await call("call_tool", { address: 5 })).toMatchObject({
    isError: true,
    structuredContent: {
      ok: false,
      error: { code: "invalid_args", findings: [{ path: "address" }] },
    },
  });
});

test("arguments that the integration's own schema refuses are named as well", async () => {
  expect(await call("call_tool", { address: "git.log", args: { limit: "many" } })).toMatchObject({
    isError: true,
    structuredContent: { ok: false, error: { code: "invalid_args" } },
  });
});

test("a broken program is refused with the place of the mistake", async () => {
  expect(await execute("async () => {\n  return 1 +;\n}")).toMatchObject({
    isError: true,
    structuredContent: { error: { code: "invalid_program", line: 2 } },
  });
});

test("a program that throws fails with its own message", async () => {
  expect(await execute("async () => { throw new Error('no luck') }")).toMatchObject({
    isError: true,
    structuredContent: {
      error: { code: "program_error", message: expect.stringContaining("no luck") },
    },
  });
});

test.skipIf(ON_WORKERS)(
  "a program that loops ends at its limit, and others run meanwhile",
  async () => {
    const looping = execute("async () => { for (;;); }");
    const meanwhile = execute("async () => 'meanwhile'");
    expect(await meanwhile).toMatchObject({ structuredContent: { result: "meanwhile" } });
    expect(await looping).toMatchObject(failed("executor_limit"));
  },
);

test.skipIf(ON_WORKERS)(
  "a program that recurses without end and one that eats memory end at their limits",
  async () => {
    expect(await execute("async () => { const f = () => f() + 1; return f(); }")).toMatchObject(
      failed("executor_limit"),
    );
    expect(
      await execute("async () => { const all = []; for (;;) all.push(new Array(1e6).fill(1)); }"),
    ).toMatchObject(failed("executor_limit"));
  },
);

test("a body over the limit is refused with 413, announced or not", async () => {
  const big = new Uint8Array(5 * 1024 * 1024).fill(0x20);
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const post = (body: BodyInit) =>
    fetch(`${server.origin}/mcp`, { method: "POST", headers, body, duplex: "half" } as RequestInit);
  expect((await post(big)).status).toBe(413);
  expect((await post(new Blob([big]).stream())).status).toBe(413);
  // The connection goes on: a pooled client's next request is answered.
  expect((await post("{}")).status).toBe(400);
  // The largest that is allowed gets as far as the JSON parser.
  expect((await post(big.subarray(0, 4 * 1024 * 1024))).status).toBe(400);
});

test.each(["GET", "DELETE", "PUT"])(
  "%s is answered with 405 and what is allowed",
  async (method) => {
    const { status, headers } = await send({ method });
    expect(status).toBe(405);
    expect(headers["allow"]).toBe("POST");
  },
);

test("a foreign Host and a foreign Origin are refused, our own are not", async () => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
  const { host } = new URL(server.origin);
  const status = async (headers: Record<string, string>) => (await send({ headers, body })).status;
  expect(await status({ host: "evil.example" })).toBe(403);
  expect(await status({ origin: "http://evil.example" })).toBe(403);
  expect(await status({ origin: "null" })).toBe(403);
  expect(await status({ host, origin: server.origin })).toBe(200);
});

test("the origin on which views live cannot call the endpoint itself", async () => {
  const config: unknown = JSON.parse(
    (await send({ method: "GET", path: "/host/config.json" })).text,
  );
  const { sandboxOrigin } = config as { sandboxOrigin: string };
  expect(sandboxOrigin).not.toBe(server.origin);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
  expect((await send({ headers: { origin: sandboxOrigin }, body })).status).toBe(403);
});

test("malformed JSON is a parse error", async () => {
  const { status, text } = await send({ body: "{" });
  expect(status).toBe(400);
  expect(JSON.parse(text)).toMatchObject({ error: { code: -32_700 } });
});

test("the whole list of tools fits its budget, in its order", async () => {
  const { result } = await ask("tools/list", {});
  const { tools } = result as { tools: { name: string }[] };
  expect(tools.map(({ name }) => name)).toEqual([
    "execute_code",
    "search_tools",
    "call_tool",
    "call_destructive_tool",
    "authorize_connector",
    "get_result",
    "skills",
  ]);
  expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(6_000);
});

test.skipIf(ON_WORKERS)(
  "when it is ready the process has printed its address and nothing else on stdout",
  () => {
    expect(server.printed.stdout).toBe(`listening ${server.origin}\n`);
  },
);
