import { afterAll, afterEach, describe, expect, test } from "vitest";
import { api, createConnecta, type Connecta, type Connector } from "../../server/index.ts";
import { remoteMcp } from "../../server/connectors/remote/remote.ts";
import { quickjsExecutor } from "../../server/sandbox/pool.ts";
import { fakeServer, legacy, modern } from "../../verify/hostile/downstream/support/http.ts";
import { callTool, rpc, type Era } from "../support/gateway.ts";

/** JSON whose names mean something to JavaScript, and whose texts are halves of pairs and marks. */
const ODD = String.raw`{"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}},
"hasOwnProperty":null,"toJSON":"t","then":1,"":2,"a.b":[{"__proto__":5}],"s":"\ud800","b":"\ufeffx"}`;
const odd = () => JSON.parse(ODD) as Record<string, unknown>;
const EXACT = JSON.stringify(odd());

const executor = quickjsExecutor({ processes: 1 });
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
});
afterAll(() => executor.close());

function deploy(connector: Connector): Connecta {
  const connecta = createConnecta({
    connectors: [connector],
    executor: { execute: (...run) => executor.execute(...run) },
  });
  open.push(connecta);
  return connecta;
}

/** What reached the tool, as JSON, and a deployment whose one tool gives back what it gets. */
interface Echo {
  readonly connecta: Connecta;
  readonly received: () => readonly string[];
}

const own = (): Promise<Echo> => {
  const received: string[] = [];
  const connecta = deploy(
    api({
      id: "crm",
      tools: {
        echo: {
          description: "Gives back what it gets.",
          inputSchema: { type: "object" },
          annotations: { readOnlyHint: true },
          handler: (args: object) => {
            received.push(JSON.stringify(args));
            return args;
          },
        },
      },
    }),
  );
  return Promise.resolve({ connecta, received: () => received });
};

const remote = async (era: typeof legacy | typeof modern): Promise<Echo> => {
  const received: string[] = [];
  const server = await fakeServer(
    era((asked, reply) => {
      if (asked.method !== "tools/call") return false;
      const { arguments: args } = asked.params;
      received.push(JSON.stringify(args));
      const blocks = { content: [{ type: "text", text: "echo", _meta: args }] };
      reply.result({ resultType: "complete", ...blocks, structuredContent: args });
      return true;
    }),
  );
  open.push(server);
  return {
    connecta: deploy(remoteMcp({ id: "crm", url: server.url })),
    received: () => received,
  };
};

const KINDS: readonly [string, () => Promise<Echo>][] = [
  ["an api() tool", own],
  ["a server of the older generation", () => remote(legacy)],
  ["a server of the newer generation", () => remote(modern)],
];
const ERAS: readonly Era[] = ["legacy", "modern"];

describe.each(KINDS)("I1, I7: odd names and texts reach %s as they were sent", (_, make) => {
  test.each(ERAS)(
    "through call_tool of a %s client, and come back as they were answered",
    async (era) => {
      const { connecta, received } = await make();
      const call = (more: object) =>
        rpc(
          connecta,
          "tools/call",
          { name: "call_tool", arguments: { address: "crm.echo", args: odd(), ...more } },
          era,
        );
      const value = await call({ resultMode: "value" });
      expect(received()).toEqual([EXACT]);
      expect(JSON.stringify(value.result.structuredContent)).toBe(`{"ok":true,"data":${EXACT}}`);
      const blocks = await call({ resultMode: "mcp" });
      expect(JSON.stringify(blocks.result.structuredContent)).toBe(EXACT);
      const fields = await call({ fields: ["__proto__", "a.b[].__proto__", "s", "constructor"] });
      expect(JSON.stringify((fields.result.structuredContent as { data: unknown }).data)).toBe(
        String.raw`{"__proto__":{"admin":true},"a.b":[{"__proto__":5}],"s":"\ud800","constructor":{"prototype":{"x":1}}}`,
      );
      expect(({} as { admin?: boolean }).admin).toBeUndefined();
    },
  );

  test("through a program, and come back into it", async () => {
    const { connecta, received } = await make();
    const code = `const odd = JSON.parse(${JSON.stringify(ODD)});
      const one = await connecta.call("crm.echo", odd);
      const [two] = await connecta.batch([{ address: "crm.echo", args: odd }]);
      const three = await crm.echo(odd);
      return [one, two.data, three].map((each) => JSON.stringify(each));`;
    const { structuredContent } = await callTool(connecta, "execute_code", { code });
    expect(structuredContent).toEqual({ result: [EXACT, EXACT, EXACT] });
    expect(received()).toEqual([EXACT, EXACT, EXACT]);
  });

  test("and through pages", async () => {
    const { connecta } = await make();
    const args = { ...odd(), long: "\u{1f600}\ud800".repeat(20_000) };
    const first = await callTool(connecta, "call_tool", {
      address: "crm.echo",
      args,
      resultMode: "value",
    });
    let next = first.structuredContent?.nextAction as { arguments: Record<string, unknown> };
    let text = "";
    while (next !== undefined) {
      const { structuredContent = {} } = await callTool(connecta, "get_result", next.arguments);
      text += structuredContent.text as string;
      next = structuredContent.nextAction as typeof next;
    }
    expect(text).toBe(JSON.stringify(args));
  });
});
