import { createServer } from "node:http";
import net, { type AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openFetch } from "../../server/connectors/fetch.ts";
import { ToolError } from "../../server/connectors/tool-error.ts";
import { nodeOutbound } from "../../server/node/outbound.ts";
import { HostRefused, OutboundRules } from "../../server/shared/outbound.ts";
import { deferred } from "../support/catalog.ts";
import { enterCloud, lyingDns, site, type LyingDns, type Site } from "../support/network.ts";

const METADATA = "169.254.169.254";
/** As a deployment that wants none of this. */
const EVERYTHING = ["0.0.0.0/0", "::/0"];

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function started(...args: Parameters<typeof site>): Promise<Site> {
  const here = await site(...args);
  ends.push(here.close);
  return here;
}

function cloud(...addresses: readonly string[]) {
  const network = enterCloud(...addresses);
  ends.push(network.leave);
  return network;
}

function outbound(dns: LyingDns = lyingDns(["127.0.0.1"]), allow: readonly string[] = []) {
  const made = nodeOutbound(new OutboundRules(allow), dns.lookup);
  ends.push(() => made.close?.());
  return made;
}

/** What a request comes to: the body of its answer, or whom it may not ask. */
async function outcome(work: Promise<Response>): Promise<string> {
  try {
    return await (await work).text();
  } catch (error) {
    if (error instanceof HostRefused) return `refused: ${error.host}`;
    throw error;
  }
}

describe("a name that leads elsewhere the second time", () => {
  const rebinding = () => lyingDns(["127.0.0.1"], [METADATA]);

  test("reaches the metadata service when nobody looks", async () => {
    const [network, here, dns] = [cloud(METADATA), await started({}), rebinding()];
    const { fetch } = outbound(dns, EVERYTHING);
    const url = `http://rebind.test:${here.port}/`;
    expect([await outcome(fetch(url)), await outcome(fetch(url))]).toEqual(["here", "here"]);
    expect(network.reached).toEqual([METADATA]);
    expect(here.seen).toHaveLength(2);
  });

  test("is refused at the connection that would lead there", async () => {
    const [network, here, dns] = [cloud(METADATA), await started({}), rebinding()];
    const { fetch } = outbound(dns);
    const url = `http://rebind.test:${here.port}/`;
    expect(await outcome(fetch(url))).toBe("here");
    expect(await outcome(fetch(url))).toBe("refused: rebind.test");
    expect(dns.asked).toEqual(["rebind.test", "rebind.test"]);
    expect(network.reached).toEqual([]);
    expect(here.seen).toHaveLength(1);
  });

  test("is refused within one call, at the request that a redirect makes", async () => {
    const answers: Parameters<typeof site>[0] = {
      "/moved": (_, response) =>
        void response.writeHead(302, { location: "/latest/meta-data" }).end(),
    };
    const reached: number[] = [];
    for (const allow of [EVERYTHING, []]) {
      const [network, here] = [cloud(METADATA), await started(answers)];
      const { fetch } = outbound(rebinding(), allow);
      const bounds = { id: "crm", base: undefined, timeoutMs: 10_000, maxResponseBytes: 1_000 };
      const call = openFetch({ ...bounds, fetch }, new AbortController().signal);
      const asked = call.fetch(`http://rebind.test:${here.port}/moved`);
      const told = await asked.then(
        (response) => response.text(),
        (error: unknown) => error,
      );
      if (allow.length > 0) expect(told).toBe("here");
      else expect(told).toEqual(new ToolError(new HostRefused("rebind.test").told("crm")));
      reached.push(network.reached.length);
      network.leave();
    }
    expect(reached).toEqual([1, 0]);
  });

  test("reaches this machine by 0.0.0.0 when nobody looks, and is refused", async () => {
    const here = await started({});
    const url = `http://rebind.test:${here.port}/`;
    const dns = () => lyingDns(["0.0.0.0"]);
    expect(await outcome(outbound(dns(), EVERYTHING).fetch(url))).toBe("here");
    expect(await outcome(outbound(dns()).fetch(url))).toBe("refused: rebind.test");
    expect(here.seen).toHaveLength(1);
  });
});

describe("a name with several addresses of which some are refused", () => {
  const mixed = [METADATA, "127.0.0.1", "fe80::1%lo"];

  test("is connected to at the first one when nobody looks", async () => {
    const [network, here] = [cloud(METADATA), await started({})];
    const { fetch } = outbound(lyingDns(mixed), EVERYTHING);
    expect(await outcome(fetch(`http://mixed.test:${here.port}/`))).toBe("here");
    expect(network.reached).toEqual([METADATA]);
  });

  test.each([true, false])(
    "is connected to at the others alone (several at once: %s)",
    async (several) => {
      const before = net.getDefaultAutoSelectFamily();
      net.setDefaultAutoSelectFamily(several);
      ends.push(() => net.setDefaultAutoSelectFamily(before));
      const [network, here] = [cloud(METADATA, "fe80::1%lo"), await started({})];
      const { fetch } = outbound(lyingDns(mixed));
      expect(await outcome(fetch(`http://mixed.test:${here.port}/`))).toBe("here");
      expect(network.reached).toEqual([]);
    },
  );

  test("is refused when all are, also those that are IPv4 within IPv6", async () => {
    const network = cloud(METADATA, "::ffff:a9fe:a9fe");
    const { fetch } = outbound(lyingDns([METADATA, "::ffff:a9fe:a9fe", "fd00:ec2::254"]));
    expect(await outcome(fetch("http://all.test/"))).toBe("refused: all.test");
    expect(await outcome(fetch("https://all.test/"))).toBe("refused: all.test");
    expect(network.reached).toEqual([]);
  });
});

describe("an address in place of a name", () => {
  const forms = [
    [METADATA, METADATA],
    ["2852039166", METADATA],
    ["0xa9fea9fe", METADATA],
    ["0251.0376.0251.0376", METADATA],
    ["169.254.169.254.", METADATA],
    ["[::ffff:169.254.169.254]", "::ffff:a9fe:a9fe"],
    ["[64:ff9b::169.254.169.254]", "64:ff9b::a9fe:a9fe"],
    ["[2002:a9fe:a9fe::1]", "2002:a9fe:a9fe::1"],
    ["[fe80::1]", "fe80::1"],
    ["[fd00:ec2::254]", "fd00:ec2::254"],
    ["100.100.100.200", "100.100.100.200"],
  ] as const;

  test.each(forms)("%s reaches its place when nobody looks", async (host, address) => {
    const [network, here] = [cloud(address), await started({})];
    const { fetch } = outbound(undefined, EVERYTHING);
    expect(await outcome(fetch(`http://${host}:${here.port}/`))).toBe("here");
    expect(network.reached).toEqual([address]);
  });

  test.each(forms)("%s is refused before a socket is opened", async (host, address) => {
    const [network, here] = [cloud(address), await started({})];
    const work = outcome(outbound().fetch(`http://${host}:${here.port}/`));
    expect(await work).toBe(`refused: ${address}`);
    expect([network.reached, here.seen]).toEqual([[], []]);
  });

  test("that a redirect names is not followed", async () => {
    const here = await started({
      "/moved": (_, response) =>
        void response.writeHead(302, { location: `http://${METADATA}:${here.port}/` }).end(),
    });
    const network = cloud(METADATA);
    const url = `http://127.0.0.1:${here.port}/moved`;
    const follow = { redirect: "follow" } as const;
    expect(await outcome(fetch(url, follow))).toBe("here");
    expect(network.reached).toEqual([METADATA]);
    const answer = await outbound().fetch(url, follow);
    expect([answer.status, network.reached]).toEqual([302, [METADATA]]);
    const location = answer.headers.get("location") ?? "";
    expect(await outcome(outbound().fetch(location))).toBe(`refused: ${METADATA}`);
  });
});

test("a name of metadata is refused before it is looked up", async () => {
  const dns = lyingDns(["127.0.0.1"]);
  const here = await started({});
  const url = `http://metadata.google.internal.:${here.port}/`;
  expect(await outcome(outbound(dns).fetch(url))).toBe("refused: metadata.google.internal");
  expect(dns.asked).toEqual([]);
  const allowed = outbound(dns, ["metadata.google.internal"]);
  expect(await outcome(allowed.fetch(url))).toBe("here");
});

test("a dispatcher that the caller brings along does not take the place of ours", async () => {
  const dispatcher = { dispatch: vi.fn<() => never>() };
  const { fetch } = outbound(lyingDns([METADATA]));
  const init: RequestInit & { readonly dispatcher: unknown } = { dispatcher };
  for (const request of ["http://a.test/", new Request("http://a.test/", init)]) {
    expect(await outcome(fetch(request, init))).toBe("refused: a.test");
  }
  expect(dispatcher.dispatch).not.toHaveBeenCalled();
});

describe("requests on connections of their own are those of the platform", () => {
  test("in what is sent, forms and streams included", async () => {
    const here = await started({
      "/echo": (request, response) => {
        let [bytes, type] = [0, request.headers["content-type"] ?? "-"];
        request.on("data", (data: Buffer) => (bytes += data.length));
        request.on("end", () => {
          type = type.replace(/ boundary=.*/, "");
          response.end(`${type} ${request.headers["content-length"] ?? "streamed"} ${bytes}`);
        });
      },
    });
    const form = new FormData();
    form.set("a", new File(["bytes"], "a.txt"));
    const stream: RequestInit & { readonly duplex: "half" } = {
      body: new Blob(["abc"]).stream(),
      duplex: "half",
    };
    const sent = async (init: RequestInit) => {
      const url = `http://127.0.0.1:${here.port}/echo`;
      return outcome(outbound().fetch(url, { method: "POST", ...init }));
    };
    expect(await sent({ body: "abc" })).toBe("text/plain;charset=UTF-8 3 3");
    expect(await sent({ body: new URLSearchParams({ a: "1" }) })).toContain("urlencoded");
    expect(await sent({ body: form })).toMatch(/^multipart\/form-data; (\d+) \1$/);
    expect(await sent(stream)).toBe("- streamed 3");
  });

  test("in what is received: a response, unpacked, as it comes", async () => {
    const rest = deferred<void>();
    const here = await started({
      "/packed": (_, response) =>
        void response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("packed")),
      "/slow": (_, response) => {
        response.write("first");
        void rest.promise.then(() => response.end("second"));
      },
    });
    const { fetch } = outbound();
    const at = (path: string) => `http://127.0.0.1:${here.port}${path}`;
    const packed = await fetch(at("/packed"));
    expect([packed instanceof Response, packed.url]).toEqual([true, at("/packed")]);
    expect(await packed.text()).toBe("packed");
    const reader = (await fetch(at("/slow"))).body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("first");
    rest.resolve();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("second");
  });

  test("in how they end: with their signal", async () => {
    const gone = deferred<void>();
    const here = await started({
      "/hang": (_, response) => {
        response.once("close", () => gone.resolve());
        response.write("first");
      },
    });
    const leaving = new AbortController();
    const url = `http://127.0.0.1:${here.port}/hang`;
    const left = await outbound().fetch(url, { signal: leaving.signal });
    leaving.abort(new Error("left"));
    await expect(left.text()).rejects.toBeInstanceOf(Error);
    await gone.promise;
  });

  test("in their faults: what cannot be found or reached says so", async () => {
    const here = await site({});
    await here.close();
    const cause = { cause: { code: "ECONNREFUSED" } };
    const refused = outbound().fetch(`http://a.test:${here.port}/`);
    await expect(refused).rejects.toMatchObject(cause);
    const nowhere = Object.assign(new Error("not found"), { code: "ENOTFOUND" });
    const { fetch } = outbound({ lookup: (_, __, callback) => callback(nowhere, []), asked: [] });
    await expect(fetch("http://a.test/")).rejects.toMatchObject({ cause: { code: "ENOTFOUND" } });
  });
});

test("connections that were kept are closed with the deployment, and none is made after", async () => {
  const here = await started({}, true);
  // Longer than this test may take: it is not its age that ends a connection.
  here.server.keepAliveTimeout = 60_000;
  const gone = deferred<void>();
  here.server.once("connection", (socket) => socket.once("close", () => gone.resolve()));
  const made = outbound();
  const url = `http://127.0.0.1:${here.port}/`;
  expect(await outcome(made.fetch(url))).toBe("here");
  await made.close?.();
  await gone.promise;
  await expect(made.fetch(url)).rejects.toThrow("The deployment is closed.");
  expect(here.seen).toHaveLength(1);
});

describe("where Node goes through proxies of the environment", () => {
  async function proxied(url: string) {
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.end("by proxy");
    });
    proxy.on("connect", (request, socket) => {
      asked.push(request.url ?? "");
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    });
    await new Promise<void>((resolve) => {
      proxy.listen(0, "127.0.0.1", resolve);
    });
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    for (const name of ["http_proxy", "https_proxy"]) vi.stubEnv(name, address);
    vi.stubEnv("no_proxy", "direct.test");
    ends.push(
      vi.unstubAllEnvs,
      () => proxy.close(),
      () => proxy.closeAllConnections(),
    );
    const work = outcome(outbound(lyingDns([METADATA])).fetch(url));
    return { asked, told: await work.catch((error: unknown) => error) };
  }

  test.each([
    ["http://a.test/", "a.test:80"],
    ["https://a.test/", "a.test:443"],
  ])("so do requests, and the proxy finds the address of %s", async (url, tunnel) => {
    expect((await proxied(url)).asked).toEqual([tunnel]);
  });

  test("hosts are refused as they are written, and by their addresses without a proxy", async () => {
    const literal = await proxied(`http://${METADATA}/`);
    expect(literal).toEqual({ asked: [], told: `refused: ${METADATA}` });
    const direct = await proxied("http://direct.test/");
    expect(direct).toEqual({ asked: [], told: "refused: direct.test" });
  });
});
