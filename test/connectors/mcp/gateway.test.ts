import { afterEach, describe, expect, test } from "vitest";
import { stdioMcp } from "../../../server/node/index.ts";
import {
  answering,
  attacked,
  closeAll,
  closing,
} from "../../../verify/hostile/downstream/support/attacked.ts";
import { gateway } from "../../../verify/hostile/downstream/support/gateway.ts";
import { legacy, modern } from "../../../verify/hostile/downstream/support/http.ts";
import { SERVER } from "../stdio/started.ts";

afterEach(closeAll);

const listings = (methods: readonly string[]) =>
  methods.filter((method) => method === "tools/list").length;

describe("a connector behind the gateway", () => {
  test("C2: tools that a server says have changed are read again", async () => {
    const { server, front } = await attacked(
      answering(legacy, "tools/call", (asked, reply) => {
        const note = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
        reply.events(note, { jsonrpc: "2.0", id: asked.id, result: { content: [] } });
      }),
    );
    await front.tool("crm.echo");
    expect(listings(server.methods)).toBe(1);
    await front.tool("crm.echo");
    await expect.poll(() => listings(server.methods)).toBe(2);
  });

  test("C2: control: without a word from the server they are not", async () => {
    const { server, front } = await attacked(legacy());
    await front.tool("crm.echo");
    await front.tool("crm.echo");
    await front.tool("crm.echo");
    expect(listings(server.methods)).toBe(1);
  });

  test("E3: a missing credential leads to authorize_connector", async () => {
    const { front } = await attacked((_, reply) => reply.status(401));
    const { structuredContent } = await front.tool("crm.echo");
    expect(structuredContent).toMatchObject({
      error: {
        code: "auth_required",
        nextAction: { tool: "authorize_connector", arguments: { connector: "crm" } },
      },
    });
  });

  test("I8: a tool that does not call itself read-only is refused, and never called", async () => {
    const { server, front } = await attacked(
      answering(modern, "tools/list", (_, reply) => {
        const send = { name: "send", inputSchema: { type: "object" } };
        reply.result({ resultType: "complete", tools: [send] });
      }),
    );
    expect(await front.codeOf("crm.send")).toBe("destructive_tool_requires_approval");
    expect(server.methods).not.toContain("tools/call");
    await front.call("call_destructive_tool", { address: "crm.send", reason: "for a person" });
    const { params } = server.asked.at(-1) ?? {};
    expect(params).toMatchObject({ name: "send", arguments: {} });
    expect(JSON.stringify(params)).not.toContain("for a person");
  });

  test("a process and a server on the network are called side by side", async () => {
    const args = [SERVER, "{}"];
    const files = stdioMcp({ id: "files", command: process.execPath, args });
    const front = closing(gateway(files));
    const { front: other } = await attacked(modern());
    const [here, there] = await Promise.all([front.codeOf("files.pid"), other.codeOf("crm.echo")]);
    expect([here, there]).toEqual(["ok", "ok"]);
  });
});
