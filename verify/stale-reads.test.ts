import type { Frame } from "playwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Connecta } from "../server/index.ts";
import type { Tool } from "../server/shared/contracts.ts";
import { call, deploy, PROGRAM, ticketDesk } from "../test/gateway/ticket-desk.ts";
import { Stage } from "./shell/stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterAll(() => stage.close());

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
  let connecta = deploy([desk.connector()]);
  const result = await call(connecta, "execute_code", { code: PROGRAM });
  const host = await stage.open({ result }, (_, params) => {
    const { name, arguments: args } = params as { name: string; arguments: object };
    return call(connecta, name, args);
  });
  const inner = await host.inner();
  const value = { value: { first: "Printer on fire" } };
  // The control of every case below.
  expect(await read(inner)).toEqual(value);
  expect(desk.reads.splice(0)).toEqual([{ state: "open", cursor: 4 }]);
  return { desk, inner, value, restart: (next: Connecta) => void (connecta = next) };
}

test.each<[string, Partial<Tool> | undefined, string]>([
  ["its tool is gone", undefined, "unknown_tool"],
  [
    "its tool writes now",
    { annotations: { readOnlyHint: false } },
    "destructive_tool_requires_approval",
  ],
  [
    "its tool takes other arguments now",
    { inputSchema: { type: "object", properties: { cursor: { type: "string" } } } },
    "invalid_args",
  ],
])(
  "V6, V7: a view in the shell is told when %s, and reads again when it is not",
  async (_, list, code) => {
    const { desk, inner, value } = await opened();
    desk.change(list);
    for (let again = 0; again < 2; again++) {
      expect(await read(inner)).toEqual({ code, retryable: false });
    }
    expect([desk.reads, desk.writes]).toEqual([[], []]);
    desk.change({});
    expect(await read(inner)).toEqual(value);
  },
);

test("V6, V7: a view in the shell is told when its tool needs approval and when its connector is gone", async () => {
  const { desk, inner, value, restart } = await opened();
  restart(deploy([desk.connector({ approval: ["list"] })]));
  expect(await read(inner)).toMatchObject({ code: "destructive_tool_requires_approval" });
  restart(deploy([]));
  expect(await read(inner)).toMatchObject({ code: "unknown_address" });
  expect([desk.reads, desk.writes]).toEqual([[], []]);
  restart(deploy([desk.connector()]));
  expect(await read(inner)).toEqual(value);
});
