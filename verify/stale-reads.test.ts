import type { Frame } from "playwright";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Connector, Tool, ToolPolicy } from "../server/index.ts";
import { gateway, type Gateway } from "./hostile/downstream/support/gateway.ts";
import * as results from "./shell/results.ts";
import { Stage } from "./shell/stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterAll(() => stage.close());

const open: Gateway[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const LIST: Tool = {
  name: "list",
  description: "List tickets.",
  inputSchema: { type: "object", properties: { cursor: { type: "integer" } } },
  annotations: { readOnlyHint: true },
};
const READS = {
  page: { address: "desk.list", fixedArgs: { state: "open" }, viewArgs: ["cursor"] },
};
const VALUE = { value: { first: "Printer on fire" } };

/** An integration that may change under a view; it keeps what reached it. */
function ticketDesk() {
  const desk = {
    tools: [LIST] as readonly Tool[],
    reached: [] as unknown[],
    announce: () => {},
    connector: (policy?: ToolPolicy): Connector => ({
      id: "desk",
      kind: "api",
      ...(policy && { policy }),
      onToolsChanged: (listener) => void (desk.announce = listener),
      listTools: () => Promise.resolve({ ok: true, value: desk.tools }),
      callTool: (_, args) => {
        desk.reached.push(args);
        return Promise.resolve({ ok: true, value: { kind: "value", ...VALUE } });
      },
    }),
  };
  return desk;
}

interface Settled {
  readonly value?: unknown;
  readonly code?: string | undefined;
  readonly retryable?: boolean | undefined;
}

/** One read of the view's own page. */
const read = (inner: Frame): Promise<Settled> =>
  inner.evaluate(() => {
    type Page = { connecta: { read(name: string, args: object): Promise<unknown> } };
    return (window as unknown as Page).connecta.read("page", { cursor: 4 }).then(
      (value) => ({ value }),
      ({ code, retryable }: Settled) => ({ code, retryable }),
    );
  });

/** A view in the real shell, whose host passes its calls to whatever deployment there is now. */
async function opened() {
  const desk = ticketDesk();
  let now: Gateway;
  const deploy = (...connectors: readonly Connector[]) => {
    now = gateway(...connectors);
    open.push(now);
  };
  deploy(desk.connector());
  const host = await stage.open(
    { result: results.viewResult("<p>Tickets</p>", READS) },
    (_, params) => {
      const { name, arguments: args } = params as {
        name: string;
        arguments: Record<string, unknown>;
      };
      return now.call(name, args);
    },
  );
  const inner = await host.inner();
  // The control of every case below.
  expect(await read(inner)).toEqual(VALUE);
  expect(desk.reached.splice(0)).toEqual([{ state: "open", cursor: 4 }]);
  return { desk, inner, deploy };
}

test.each<[string, readonly Tool[], string]>([
  ["its tool is gone", [], "unknown_tool"],
  [
    "its tool writes now",
    [{ ...LIST, annotations: { readOnlyHint: false } }],
    "destructive_tool_requires_approval",
  ],
  [
    "its tool takes other arguments now",
    [{ ...LIST, inputSchema: { type: "object", properties: { cursor: { type: "string" } } } }],
    "invalid_args",
  ],
])(
  "V6, V7: a view in the shell is told when %s, and reads again when it is not",
  async (_, tools, code) => {
    const { desk, inner } = await opened();
    desk.tools = tools;
    desk.announce();
    for (let again = 0; again < 2; again++) {
      expect(await read(inner)).toEqual({ code, retryable: false });
    }
    expect(desk.reached).toEqual([]);
    desk.tools = [LIST];
    desk.announce();
    expect(await read(inner)).toEqual(VALUE);
  },
);

test("V6, V7: a view in the shell is told when its tool needs approval and when its connector is gone", async () => {
  const { desk, inner, deploy } = await opened();
  deploy(desk.connector({ approval: ["list"] }));
  expect(await read(inner)).toMatchObject({ code: "destructive_tool_requires_approval" });
  deploy();
  expect(await read(inner)).toMatchObject({ code: "unknown_address" });
  expect(desk.reached).toEqual([]);
  deploy(desk.connector());
  expect(await read(inner)).toEqual(VALUE);
});
