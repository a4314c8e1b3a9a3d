import { afterEach, describe, expect, test } from "vitest";
import { remoteMcp } from "../../../server/connectors/remote/remote.ts";
import { nodeOutbound } from "../../../server/node/outbound.ts";
import { HostRefused, OutboundRules } from "../../../server/shared/outbound.ts";
import {
  fakeServer,
  legacy,
  modern,
  type Answering,
} from "../../../verify/hostile/downstream/support/http.ts";
import { enterCloud, lyingDns } from "../../support/network.ts";
import { testScope } from "../../support/scope.ts";

const METADATA = "169.254.169.254";
const scope = testScope();
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A server under a name that leads to the metadata service from the connection of this number on. */
async function rebinding(answering: Answering, from: number, allow: readonly string[] = []) {
  const server = await fakeServer(answering);
  const network = enterCloud(METADATA);
  const { lookup } = lyingDns(...Array.from({ length: from }, () => ["127.0.0.1"]), [METADATA]);
  const outbound = nodeOutbound(new OutboundRules(allow), lookup);
  const url = server.url.replace("127.0.0.1", "rebind.test");
  const crm = remoteMcp({ id: "crm", url, redirects: "same-origin" });
  crm.useFetch?.(outbound.fetch);
  ends.push(
    server.close,
    network.leave,
    () => outbound.close?.(),
    () => crm.close?.(),
  );
  return { crm, server, network };
}

const refused = (host: string) => ({
  ok: false,
  failure: {
    code: "connector_call_failed",
    retryable: false,
    message: new HostRefused(host).told("crm"),
  },
});

/** Lets no connection live on, so that every request looks the name up. */
const alone: Answering = (_, reply) => {
  reply.raw.setHeader("connection", "close");
  return false;
};
const moving: Answering = (asked, reply) => {
  reply.raw.setHeader("connection", "close");
  if (asked.method !== "tools/call" || asked.path !== "/mcp") return false;
  reply.status(307, { location: "/elsewhere" });
  return true;
};

describe.each([
  ["newer", modern],
  ["older", legacy],
] as const)("a server of the %s generation whose name leads elsewhere later", (_, generation) => {
  test("has the call when nobody looks where it leads", async () => {
    const { crm, server, network } = await rebinding(generation(alone), 0, ["0.0.0.0/0"]);
    expect(await crm.callTool("echo", { key: "s3cret" }, scope)).toMatchObject({ ok: true });
    expect(server.methods).toContain("tools/call");
    expect(network.reached.length).toBeGreaterThan(0);
  });

  test("is refused at the handshake", async () => {
    const { crm, server, network } = await rebinding(generation(alone), 0);
    expect(await crm.callTool("echo", {}, scope)).toEqual(refused("rebind.test"));
    expect(await crm.listTools(scope)).toEqual(refused("rebind.test"));
    expect([server.asked, network.reached]).toEqual([[], []]);
  });

  test("is refused at the call", async () => {
    const handshake = generation === modern ? 1 : 3;
    const { crm, server, network } = await rebinding(generation(alone), handshake);
    expect(await crm.callTool("echo", {}, scope)).toEqual(refused("rebind.test"));
    expect(server.methods).not.toContain("tools/call");
    expect(network.reached).toEqual([]);
  });

  test("is refused where a redirect within the origin leads, which lands when nobody looks", async () => {
    const before = generation === modern ? 2 : 4;
    const open = await rebinding(generation(moving), before, ["0.0.0.0/0"]);
    expect(await open.crm.callTool("echo", {}, scope)).toMatchObject({ ok: true });
    expect(open.server.asked.at(-1)?.path).toBe("/elsewhere");
    expect(open.network.reached).toEqual([METADATA]);
    open.network.leave();
    const { crm, server, network } = await rebinding(generation(moving), before);
    expect(await crm.callTool("echo", {}, scope)).toEqual(refused("rebind.test"));
    expect(server.asked.map(({ path }) => path)).not.toContain("/elsewhere");
    expect(network.reached).toEqual([]);
  });
});

test.each([
  ["http://169.254.169.254/mcp", "169.254.169.254"],
  ["http://[::ffff:169.254.169.254]/mcp", "::ffff:a9fe:a9fe"],
  ["https://metadata.google.internal/mcp", "metadata.google.internal"],
])("a connector that no deployment has taken up does not ask %s", async (url, host) => {
  const crm = remoteMcp({ id: "crm", url });
  expect(await crm.callTool("echo", {}, scope)).toEqual(refused(host));
  await crm.close?.();
});
