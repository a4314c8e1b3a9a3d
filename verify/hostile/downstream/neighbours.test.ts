import { afterEach, describe, expect, test } from "vitest";
import { remoteMcp, type Connector } from "../../../server/index.ts";
import { stdioMcp } from "../../../server/node/index.ts";
import { closeAll, closing } from "./support/attacked.ts";
import { deferred } from "./support/deferred.ts";
import { gateway } from "./support/gateway.ts";
import { fakeServer, modern } from "./support/http.ts";

afterEach(closeAll);

const node = (id: string, script: string) =>
  stdioMcp({ id, command: process.execPath, args: ["-e", script] });

/** Connectors that are of no use, each with a sign that it was asked. */
const dead: [string, () => Promise<{ connector: Connector; asked: Promise<unknown> }>][] = [
  [
    "a server that never answers",
    async () => {
      const asked = deferred();
      const server = closing(await fakeServer(() => asked.resolve()));
      return { connector: remoteMcp({ id: "dead", url: server.url }), asked: asked.promise };
    },
  ],
  [
    "a server that answers the handshake only",
    async () => {
      const asked = deferred();
      const server = closing(
        await fakeServer(
          modern(({ method }) => {
            if (method === "tools/list") asked.resolve();
            return method === "tools/list";
          }),
        ),
      );
      return { connector: remoteMcp({ id: "dead", url: server.url }), asked: asked.promise };
    },
  ],
  [
    "a process that never answers",
    () =>
      Promise.resolve({
        connector: node("dead", "setInterval(() => {}, 1000)"),
        asked: Promise.resolve(),
      }),
  ],
];

describe("one dead connector", () => {
  test.each(dead)("delays no other: %s", async (_, make) => {
    const { connector, asked } = await make();
    const alive = closing(await fakeServer(modern()));
    const front = closing(gateway(connector, remoteMcp({ id: "crm", url: alive.url })));
    let hasDied = false;
    const lost = front.codeOf("dead.echo").finally(() => (hasDied = true));
    await asked;
    expect(await front.codeOf("crm.echo")).toBe("ok");
    const found = await front.call("search_tools", { query: "echo", connector: "crm" });
    expect(JSON.stringify(found.structuredContent)).toContain("crm.echo");
    expect(hasDied).toBe(false);
    await front.close();
    expect(["unavailable", "cancelled"]).toContain(await lost);
  });

  test("control: the same call to a connector that works ends at once", async () => {
    const alive = closing(await fakeServer(modern()));
    const front = closing(gateway(remoteMcp({ id: "dead", url: alive.url })));
    expect(await front.codeOf("dead.echo")).toBe("ok");
  });

  test.each([
    [
      "a port that nobody listens at",
      () => remoteMcp({ id: "dead", url: "http://127.0.0.1:1/mcp" }),
    ],
    ["a command that does not exist", () => stdioMcp({ id: "dead", command: "connecta-none" })],
    ["a process that ends at once", () => node("dead", "process.exit(7)")],
  ])("never reads as an empty one: %s", async (_, make) => {
    const alive = closing(await fakeServer(modern()));
    const front = closing(gateway(make(), remoteMcp({ id: "crm", url: alive.url })));
    const found = await front.call("search_tools", { query: "echo" });
    const text = JSON.stringify(found.structuredContent);
    expect(text).toContain("crm.echo");
    expect(text).toContain("unavailable");
    expect(await front.codeOf("dead.echo")).toBe("unavailable");
  });
});
