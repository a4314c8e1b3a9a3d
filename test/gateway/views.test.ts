import { describe, expect, test } from "vitest";
import type { Connecta, Connector } from "../../server/index.ts";
import type { Tool } from "../../server/shared/contracts.ts";
import type { FailureCode } from "../../server/shared/failure.ts";
import {
  call,
  callOf,
  codeOf,
  deploy,
  read,
  rendered,
  send,
  VALUE,
  type Desk,
  type Sent,
} from "./ticket-desk.ts";

describe("V6, V7: a view outlives what it was declared against, its reads do not", () => {
  test.each<[string, Partial<Tool> | undefined, string]>([
    ["its tool is gone", undefined, "unknown_tool"],
    [
      "its tool writes now",
      { annotations: { readOnlyHint: false } },
      "destructive_tool_requires_approval",
    ],
    [
      "its tool contradicts itself now",
      { annotations: { readOnlyHint: true, destructiveHint: true } },
      "destructive_tool_requires_approval",
    ],
    ["its tool says nothing any more", { annotations: {} }, "destructive_tool_requires_approval"],
    [
      "its tool takes other arguments now",
      { inputSchema: { type: "object", properties: { cursor: { type: "string" } } } },
      "invalid_args",
    ],
  ])("%s, as the integration announced", async (_, list, code) => {
    const { desk, connecta, view } = await rendered();
    desk.change(list);
    // Until the new list has been read, the old one is in force.
    const told = async () => codeOf(await read(connecta, view));
    await expect.poll(told, { timeout: 4_000 }).toBe(code);
    desk.reads.length = 0;
    for (let again = 0; again < 3; again++) {
      expect(await read(connecta, view)).toMatchObject({ error: { code, retryable: false } });
    }
    expect([desk.reads, desk.writes]).toEqual([[], []]);
  });

  test.each<[string, (desk: Desk) => Connecta, string]>([
    [
      "its tool needs approval by policy",
      (desk) => deploy([desk.connector({ approval: ["list"] })]),
      "destructive_tool_requires_approval",
    ],
    [
      "its tool is hidden by policy",
      (desk) => deploy([desk.connector({ hide: ["list"] })]),
      "unknown_tool",
    ],
    ["its connector is gone", () => deploy([]), "unknown_address"],
  ])("%s, since the deployment was started again", async (_, restart, code) => {
    const { desk, view } = await rendered();
    const connecta = restart(desk);
    for (let again = 0; again < 2; again++) {
      expect(await read(connecta, view)).toMatchObject({ error: { code, retryable: false } });
    }
    expect([desk.reads, desk.writes]).toEqual([[], []]);
  });

  test.each<[FailureCode, boolean]>([
    ["auth_required", false],
    ["rate_limited", true],
    ["unavailable", true],
  ])("its connector answers %s now", async (code, retryable) => {
    const { desk, connecta, view } = await rendered();
    desk.failing = code;
    expect(await read(connecta, view)).toMatchObject({ error: { code, retryable } });
    desk.failing = undefined;
    expect(await read(connecta, view)).toEqual(VALUE);
  });

  test("its caller is no longer let in, nor anyone without a token or from another page", async () => {
    const token = "a-token-of-many-letters";
    const config = { auth: { bearer: token } };
    const { desk, connecta, view } = await rendered(config, { token });
    const later = deploy([desk.connector()], { auth: { bearer: "another-token-of-letters" } });
    const status = async (to: Connecta, sent: Sent) =>
      (await send(to, "tools/call", { name: "call_tool", arguments: callOf(view) }, sent)).status;
    expect(await status(later, { token })).toBe(401);
    expect(await status(connecta, {})).toBe(401);
    expect(await status(connecta, { token, origin: "https://elsewhere.example" })).toBe(403);
    expect(desk.reads).toEqual([]);
    expect(await status(connecta, { token })).toBe(200);
    expect(desk.reads).toHaveLength(1);
  });

  test("its read runs as whoever asks for it now, not as who rendered it", async () => {
    const token = "a-token-of-many-letters";
    const { desk, view } = await rendered({ auth: { bearer: token } }, { token });
    const callers: string[] = [];
    const connector = desk.connector();
    const noting: Connector = {
      ...connector,
      callTool: (name, args, scope) => {
        callers.push(scope.principal);
        return connector.callTool(name, args, scope);
      },
    };
    await read(deploy([noting], { auth: { bearer: token } }), view, { token });
    await read(deploy([noting]), view);
    expect(callers).toEqual(["bearer", "anonymous"]);
  });

  test("its read has the deadline that calls have now", async () => {
    const { desk, view } = await rendered();
    const brief = deploy([desk.connector()], { calls: { timeoutMs: 20 } });
    desk.failing = "timeout";
    expect(await read(brief, view)).toMatchObject({ error: { code: "timeout", retryable: true } });
  });
});

describe("V6: a read is an ordinary call", () => {
  test("whose answer is the one that the model gets, byte for byte", async () => {
    const { connecta, view } = await rendered();
    const asked = { address: "desk.list", args: { state: "open", cursor: 4 }, resultMode: "value" };
    const text = async (args: object) =>
      (await send(connecta, "tools/call", { name: "call_tool", arguments: args })).text();
    expect(await text(callOf(view))).toBe(await text(asked));
  });

  test("that a server which never rendered the view answers as well: nothing was kept", async () => {
    const { desk, view } = await rendered();
    expect(await read(deploy([desk.connector()]), view)).toEqual(VALUE);
  });
});

describe("V7: a read that is sent again", () => {
  test("reads again, as often as it is sent, and does nothing else", async () => {
    const { desk, connecta, view } = await rendered();
    const outcomes = [];
    for (let again = 0; again < 5; again++) outcomes.push(await read(connecta, view));
    expect(outcomes).toEqual(Array(5).fill(VALUE));
    expect(desk.reads).toEqual(Array(5).fill({ state: "open", cursor: 4 }));
    expect(desk.writes).toEqual([]);
  });

  test("with another address in it is decided by that tool, whatever the manifest said", async () => {
    const { desk, connecta, view } = await rendered();
    const forged = { ...view, reads: { page: { address: "desk.close", viewArgs: ["cursor"] } } };
    const code = "destructive_tool_requires_approval";
    expect(await read(connecta, forged)).toMatchObject({ error: { code } });
    expect(desk.writes).toEqual([]);
    await call(connecta, "call_destructive_tool", { address: "desk.close", args: {} });
    expect(desk.writes).toHaveLength(1);
  });
});
