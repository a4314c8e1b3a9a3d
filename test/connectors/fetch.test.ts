import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openFetch, readBase, type Base, type FetchBounds } from "../../server/connectors/fetch.ts";
import { ToolError } from "../../server/connectors/tool-error.ts";
import { nodeOutbound } from "../../server/node/outbound.ts";
import { OutboundRules } from "../../server/shared/outbound.ts";
import { deferred } from "../support/catalog.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A server whose answers a test decides by path, and the requests that reached it. */
async function serve(answers: Readonly<Record<string, Handler>>) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    const { pathname } = new URL(`http://host${request.url}`);
    (answers[pathname] ?? answers.any ?? plain("here"))(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { origin: `http://127.0.0.1:${port}`, seen, stop };
}

const plain =
  (text: string): Handler =>
  (_, response) =>
    void response.end(text);
const to =
  (location: string, status = 302): Handler =>
  (_, response) =>
    void response.writeHead(status, { location }).end();
const echo: Handler = (request, response) => {
  let body = "";
  request.on("data", (data: Buffer) => (body += String(data)));
  request.on("end", () => {
    response.end(`${request.method} ${body} ${request.headers["content-type"] ?? "-"}`);
  });
};

const outbound = nodeOutbound(new OutboundRules());
let here: Awaited<ReturnType<typeof serve>>;
let elsewhere: Awaited<ReturnType<typeof serve>>;
/** Resolves when the connection of the request to `/v1/hang` or `/v1/drip` is gone. */
let gone = deferred<void>();
let arrived = deferred<void>();

beforeAll(async () => {
  elsewhere = await serve({});
  const hang: Handler = (request, response) => {
    response.once("close", () => gone.resolve());
    if (request.url === "/v1/drip") response.write("a");
    arrived.resolve();
  };
  here = await serve({
    "/v1/moved": to("/v1/target"),
    "/v1/near": to("target?x=1", 307),
    "/v1/away": to(`${elsewhere.origin}/v1/target`),
    "/v1/up": to("/admin"),
    "/v1/loop": to("/v1/loop"),
    "/v1/see-other": to("/v1/echo", 303),
    "/v1/found": to("/v1/echo", 302),
    "/v1/keep": to("/v1/echo", 307),
    "/v1/nowhere": to("http://"),
    "/v1/echo": echo,
    "/v1/hang": hang,
    "/v1/drip": hang,
    "/v1/status": (_, response) => void response.writeHead(418, { "x-own": "1" }).end("teapot"),
    "/v1/empty": (_, response) => void response.writeHead(204).end(),
    "/v1/large": (_, response) => void response.end("x".repeat(2_000)),
    "/v1/flood": (_, response) => {
      const write = () => {
        while (response.writable && response.write("x".repeat(500)));
      };
      response.on("drain", write);
      write();
    },
    "/v1/bomb": (_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end(gzipSync("x".repeat(1_000_000)));
    },
    "/v1/small": (_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("small"));
    },
  });
});
afterAll(() => Promise.all([here.stop(), elsewhere.stop(), outbound.close?.()]));
beforeEach(() => {
  here.seen.length = 0;
  elsewhere.seen.length = 0;
  gone = deferred<void>();
  arrived = deferred<void>();
});

function base(path = "/v1"): Base {
  const read = readBase(here.origin + path);
  if (typeof read === "string") throw new Error(read);
  return read;
}

function opened(bounds: Partial<FetchBounds> = {}, signal = new AbortController().signal) {
  const { fetch } = outbound;
  return openFetch(
    { id: "crm", base: base(), timeoutMs: 10_000, maxResponseBytes: 1_000, fetch, ...bounds },
    signal,
  );
}

/** What a request fails with, while it is made or while its body is read. */
async function failing(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

function told(error: unknown): readonly [string, string] {
  if (!(error instanceof ToolError)) throw new Error(`not typed: ${String(error)}`);
  return [error.code, error.message];
}

describe("where the fetch of a handler leads", () => {
  test.each([
    ["records/r7", "/v1/records/r7"],
    ["/records/r7", "/v1/records/r7"],
    ["./records/../notes?x=1", "/v1/notes?x=1"],
    ["?page=2", "/v1?page=2"],
    ["", "/v1"],
    ["a%2Fb", "/v1/a%2Fb"],
    ["100%", "/v1/100%"],
    ["..name", "/v1/..name"],
  ])("%j is asked for below the base URL", async (input, path) => {
    expect(await (await opened().fetch(input)).text()).toBe("here");
    expect(here.seen).toEqual([`GET ${path}`]);
  });

  test("a whole address below the base URL is asked for as it is", async () => {
    const response = await opened().fetch(new URL(`${here.origin}/v1/a`));
    expect([response.status, response.url]).toEqual([200, `${here.origin}/v1/a`]);
  });

  test("without a base URL a whole address leads anywhere, and a path nowhere", async () => {
    const { fetch } = opened({ base: undefined });
    expect((await fetch(`${elsewhere.origin}/x`)).status).toBe(200);
    expect(await failing(fetch("/x"))).toBeInstanceOf(TypeError);
    expect(await failing(fetch("file:///etc/hostname"))).toBeInstanceOf(TypeError);
  });

  describe("an argument that leads out of the base URL", () => {
    const attacks = [
      "../admin",
      "records/../../admin",
      "records/%2e%2e/%2E%2E/admin",
      "..\\admin",
      "..%2fadmin",
      "records/..%5c..%5cadmin",
      "%2e%2e%252fadmin",
    ];
    /** The path as a careless server reads it: decoded until nothing changes, then resolved. */
    const asRead = (url = "") => {
      let path = url;
      while (path !== decodeURIComponent(path)) path = decodeURIComponent(path);
      return new URL(path, "http://host").pathname;
    };

    test.each(attacks)("%j lands when nobody confines it", async (input) => {
      await fetch(`${here.origin}/v1/${input}`);
      expect(asRead(here.seen[0]?.slice("GET ".length))).toBe("/admin");
    });

    test.each(attacks)("%j is refused before anything is sent", async (input) => {
      const [code, message] = told(await failing(opened().fetch(input)));
      expect(code).toBe("invalid_args");
      expect(message).not.toContain("admin");
      expect(here.seen).toEqual([]);
    });

    test.each(["//{}/x", "http://{}/v1/x", "\\\\{}/x", "https:{}/x", "data:,x"])(
      "%j, which names another origin, is refused",
      async (form) => {
        const { host } = new URL(elsewhere.origin);
        const error = await failing(opened().fetch(form.replace("{}", host)));
        expect(told(error)[0]).toBe("invalid_args");
        expect([...here.seen, ...elsewhere.seen]).toEqual([]);
      },
    );
  });
});

describe("redirects that the fetch of a handler meets", () => {
  test("within the base URL they are followed, and the response says where it came from", async () => {
    const { fetch } = opened();
    expect((await fetch("moved")).url).toBe(`${here.origin}/v1/target`);
    expect((await fetch("near")).url).toBe(`${here.origin}/v1/target?x=1`);
  });

  test("to another origin they land when nobody refuses them, and are refused", async () => {
    await fetch(`${here.origin}/v1/away`);
    expect(elsewhere.seen).toEqual(["GET /v1/target"]);
    const secret = { headers: { authorization: "Bearer s3cret" } };
    const [code, message] = told(await failing(opened().fetch("away", secret)));
    expect(code).toBe("connector_call_failed");
    expect(message).toBe("crm redirects to another origin.");
    expect(elsewhere.seen).toHaveLength(1);
  });

  test("out of the base URL they land when nobody refuses them, and are refused", async () => {
    await fetch(`${here.origin}/v1/up`);
    expect(here.seen).toContain("GET /admin");
    here.seen.length = 0;
    expect(told(await failing(opened().fetch("up")))[1]).toContain("outside its base URL");
    expect(here.seen).toEqual(["GET /v1/up"]);
  });

  test("without an end they are given up after five", async () => {
    expect(told(await failing(opened().fetch("loop")))[1]).toContain("more often");
    expect(here.seen).toHaveLength(6);
  });

  test("to no address they fail", async () => {
    expect(told(await failing(opened().fetch("nowhere")))[1]).toContain("no address");
  });

  test("are left to a handler that asks for them itself, and fail where it wants none", async () => {
    const { fetch } = opened();
    expect((await fetch("away", { redirect: "manual" })).status).toBe(302);
    expect(told(await failing(fetch("moved", { redirect: "error" })))[1]).toBe("crm redirects.");
  });

  test.each([
    ["see-other", "GET  -"],
    ["found", "GET  -"],
    ["keep", "POST a=1 text/x"],
  ])("a POST to %s arrives as browsers would send it on", async (path, arrives) => {
    const init = { method: "POST", body: "a=1", headers: { "content-type": "text/x" } };
    expect(await (await opened().fetch(path, init)).text()).toBe(arrives);
  });

  test("a body that was a stream cannot be sent a second time", async () => {
    const body = new Blob(["a"]).stream();
    const init: RequestInit & { duplex: "half" } = { method: "POST", body, duplex: "half" };
    expect(told(await failing(opened().fetch("keep", init)))[1]).toContain("a stream");
  });
});

describe("what the fetch of a handler takes", () => {
  test("an answer of any status is a response with its headers and its body", async () => {
    const response = await opened().fetch("status");
    expect([response.status, response.headers.get("x-own"), await response.text()]).toEqual([
      418,
      "1",
      "teapot",
    ]);
  });

  test("an answer without a body is one, and a packed one is unpacked", async () => {
    const { fetch } = opened();
    expect((await fetch("empty")).body).toBeNull();
    const small = await fetch("small");
    expect([await small.text(), small.headers.get("content-encoding")]).toEqual(["small", null]);
  });

  test.each([
    ["large", "that says its length"],
    ["flood", "without an end"],
    ["bomb", "that unpacks to more"],
  ])("a body %s (%s) beyond the bound ends with result_too_large", async (path) => {
    const work = opened()
      .fetch(path)
      .then((response) => response.text());
    expect(told(await failing(work))).toEqual([
      "result_too_large",
      "crm answered with more than 1000 bytes.",
    ]);
  });

  test("the same bodies pass where the bound is larger, and nobody bounds the platform's", async () => {
    const { fetch: bounded } = opened({ maxResponseBytes: 1_000_000 });
    expect(await (await bounded("large")).text()).toHaveLength(2_000);
    expect(await (await bounded("bomb")).text()).toHaveLength(1_000_000);
    expect(await (await fetch(`${here.origin}/v1/bomb`)).text()).toHaveLength(1_000_000);
  });
});

describe("when the fetch of a handler ends", () => {
  test.each(["hang", "drip"])("a server that is silent (%s) costs the timeout", async (path) => {
    const work = opened({ timeoutMs: 60 })
      .fetch(path)
      .then((response) => response.text());
    expect(told(await failing(work))).toEqual(["timeout", "crm did not answer within 60 ms."]);
    await gone.promise;
  });

  test.each(["hang", "drip"])("a caller that leaves ends the request (%s)", async (path) => {
    const caller = new AbortController();
    const work = opened({}, caller.signal)
      .fetch(path)
      .then((response) => response.text());
    await arrived.promise;
    caller.abort();
    expect(await failing(work)).toMatchObject({ name: "AbortError" });
    await gone.promise;
  });

  test("a handler's own signal ends its request alone", async () => {
    const { fetch } = opened();
    const own = new AbortController();
    const work = fetch("hang", { signal: own.signal });
    await arrived.promise;
    own.abort(new Error("enough"));
    expect(await failing(work)).toEqual(new Error("enough"));
    expect((await fetch("a")).status).toBe(200);
  });

  test("a call that has left already asks nobody", async () => {
    expect(await failing(opened({}, AbortSignal.abort()).fetch("a"))).toMatchObject({
      name: "AbortError",
    });
    expect(here.seen).toEqual([]);
  });

  test("a body that its handler gives up ends the request", async () => {
    const response = await opened().fetch("drip");
    await response.body?.cancel();
    await gone.promise;
  });

  test("a body that nobody reads is let go with the call", async () => {
    const fetching = opened();
    await fetching.fetch("drip");
    fetching.close();
    await gone.promise;
    expect(await failing(fetching.fetch("a"))).toBeInstanceOf(TypeError);
  });

  test("E4: a server that cannot be reached is unavailable, by the code of the fault alone", async () => {
    const closed = await serve({});
    await closed.stop();
    const read = readBase(closed.origin);
    const error = await failing(opened({ base: read as Base }).fetch("a?key=s3cret"));
    expect(told(error)).toEqual(["unavailable", "crm could not be reached (ECONNREFUSED)."]);
  });

  test("a request that cannot be made is the handler's fault and no failure of the network", async () => {
    const init = { headers: { "x y": "1" } };
    expect(await failing(opened().fetch("a", init))).toBeInstanceOf(TypeError);
  });
});

describe("a base URL", () => {
  test.each([
    [undefined, "is no http or https address"],
    ["/v1", "is no http or https address"],
    ["ftp://host/", "is no http or https address"],
    ["https://a:b@host/", "holds a credential"],
    ["https://host/?key=1", "has a query"],
    ["https://host/#a", "has a query or a fragment"],
  ])("%j is refused in words", (text, problem) => {
    expect(readBase(text)).toContain(problem);
  });
});
