import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { newVaultKey } from "../../server/access/keys.ts";
import {
  api,
  createConnecta,
  memoryStorage,
  remoteMcp,
  tool,
  type Connecta,
  type ConnectaConfig,
} from "../../server/index.ts";
import { listen, quickjsExecutor } from "../../server/node/index.ts";
import { nodeOutbound, type Lookup } from "../../server/node/outbound.ts";
import { HostRefused, urlOf, type Outbound } from "../../server/shared/outbound.ts";
import { callTool } from "../support/gateway.ts";
import { lyingDns, site } from "../support/network.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A connector that asks for whatever a model tells it to. */
const reader = () =>
  api({
    id: "web",
    tools: {
      read: tool({
        description: "Read a page.",
        inputSchema: z.object({ url: z.string() }),
        annotations: { readOnlyHint: true },
        handler: async ({ url }, { fetch }) => ({ page: await (await fetch(url)).text() }),
      }),
    },
  });

const config = (parts: Partial<ConnectaConfig> = {}): ConnectaConfig => ({
  connectors: [reader()],
  executor: quickjsExecutor({ processes: 1 }),
  ...parts,
});

function assembled(...args: Parameters<typeof createConnecta>): Connecta {
  const connecta = createConnecta(...args);
  ends.push(() => connecta.close());
  return connecta;
}

/** What a call answers that asks for a URL. */
async function read(connecta: Pick<Connecta, "fetch">, url: string): Promise<unknown> {
  const called = await callTool(connecta, "call_tool", { address: "web.read", args: { url } });
  return called.structuredContent;
}

const REFUSED = (host: string) => ({
  error: {
    code: "connector_call_failed",
    message: new HostRefused(host).told("web"),
    retryable: false,
  },
});

async function page() {
  const here = await site({});
  ends.push(here.close);
  return here;
}

/** Makes the system's resolver answer with these addresses for a name of ours. */
function systemLies(lookup: Lookup): void {
  const honest = dns.lookup;
  const lying = (name: string, options: never, callback: never) =>
    name.endsWith(".test") ? lookup(name, options, callback) : honest(name, options, callback);
  Object.assign(dns, { lookup: lying });
  syncBuiltinESMExports();
  ends.push(() => {
    Object.assign(dns, { lookup: honest });
    syncBuiltinESMExports();
  });
}

describe("a deployment without a fetch of its runtime", () => {
  test("refuses hosts as they are written, with a failure that names host and option", async () => {
    const here = await page();
    const connecta = assembled(config());
    expect(await read(connecta, `http://0:${here.port}/`)).toMatchObject(REFUSED("0.0.0.0"));
    const metadata = "http://[::ffff:169.254.169.254]/latest/meta-data";
    expect(await read(connecta, metadata)).toMatchObject(REFUSED("::ffff:a9fe:a9fe"));
    expect(here.seen).toEqual([]);
  });

  test("asks what its config allows, and what is private", async () => {
    const here = await page();
    const connecta = assembled(config({ outbound: { allow: ["0.0.0.0"] } }));
    expect(await read(connecta, `http://0:${here.port}/`)).toMatchObject({
      data: { page: "here" },
    });
    expect(await read(connecta, `http://localhost:${here.port}/`)).toMatchObject({
      data: { page: "here" },
    });
  });
});

describe("a deployment on Node", () => {
  /** Serves a config; what it answers goes over a socket, as for any client. */
  async function served(parts: Partial<ConnectaConfig> = {}): Promise<Pick<Connecta, "fetch">> {
    const opened = await listen(config(parts), { port: 0 });
    if (!opened.ok) throw new Error(opened.failure.message);
    const { url, close } = opened.value;
    ends.push(close);
    return {
      async fetch(request) {
        const { method, headers } = request;
        const sent = new Headers(headers);
        sent.delete("host");
        return fetch(`${url}/mcp`, { method, headers: sent, body: await request.text() });
      },
    };
  }

  test("reads a name that leads elsewhere the second time, when it is allowed", async () => {
    const here = await page();
    const { lookup, asked } = lyingDns(["127.0.0.1"], ["0.0.0.0"]);
    systemLies(lookup);
    const connecta = await served({ outbound: { allow: ["rebind.test"] } });
    const url = `http://rebind.test:${here.port}/`;
    expect(await read(connecta, url)).toMatchObject({ data: { page: "here" } });
    expect(await read(connecta, url)).toMatchObject({ data: { page: "here" } });
    expect(asked).toHaveLength(2);
  });

  test("refuses it the second time, when it is not", async () => {
    const here = await page();
    const { lookup, asked } = lyingDns(["127.0.0.1"], ["0.0.0.0"]);
    systemLies(lookup);
    const connecta = await served();
    const url = `http://rebind.test:${here.port}/`;
    expect(await read(connecta, url)).toMatchObject({ data: { page: "here" } });
    expect(await read(connecta, url)).toMatchObject(REFUSED("rebind.test"));
    expect(asked).toHaveLength(2);
    expect(here.seen).toHaveLength(1);
  });
});

test("a lent fetch is given to every connector, and closed after them", async () => {
  const order: string[] = [];
  const connector = (id: string) => ({
    ...api({ id, tools: {} }),
    useFetch: () => void order.push(`${id} is given it`),
    close: async () => void order.push(`${id} closes`),
  });
  const outbound = (): Outbound => ({
    fetch: () => Promise.reject(new Error("unused")),
    close: async () => void order.push("connections close"),
  });
  const connecta = createConnecta(config({ connectors: [connector("a"), connector("b")] }), {
    outbound,
  });
  expect(order).toEqual(["a is given it", "b is given it"]);
  await connecta.close();
  expect(order.slice(2)).toEqual(["a closes", "b closes", "connections close"]);
});

test("what looks for an authorization server asks with the lent fetch too", async () => {
  const asked: string[] = [];
  const outbound = (): Outbound => ({
    fetch: async (input) => {
      asked.push(urlOf(input).href);
      return new Response(null, { status: 404 });
    },
  });
  const crm = remoteMcp({ id: "crm", url: "https://crm.test/mcp", auth: "oauth" });
  const kept = { storage: memoryStorage(), vault: { key: newVaultKey() } };
  const parts = { connectors: [crm], publicUrl: "https://connecta.test", ...kept };
  const connecta = assembled(config(parts), { outbound });
  await callTool(connecta, "authorize_connector", { connector: "crm" });
  expect(asked).toContain("https://crm.test/mcp");
  expect(asked).toContain("https://crm.test/.well-known/oauth-protected-resource/mcp");
});

test("an assembly of one's own on Node is lent the same", async () => {
  const { lookup } = lyingDns(["169.254.169.254"]);
  const outbound = (rules: Parameters<typeof nodeOutbound>[0]) => nodeOutbound(rules, lookup);
  const connecta = assembled(config(), { outbound });
  expect(await read(connecta, "http://a.test/")).toMatchObject(REFUSED("a.test"));
});
