import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { Invoker } from "../../server/invoke/invoke.ts";
import type { CallLimits } from "../../server/shared/call-limits.ts";
import type { Connector, ToolResult } from "../../server/shared/contracts.ts";
import { fail, ok, type Outcome } from "../../server/shared/failure.ts";
import { invocation } from "../support/invocation.ts";
import { testScope } from "../support/scope.ts";

const CALL = invocation({ maxRetries: 2 });
const VALUE = ok<ToolResult>({ kind: "value", value: 1 });
const SCOPE = testScope({ now: () => Date.now() });

async function invokerOf(limits: CallLimits, callTool: () => Promise<Outcome<ToolResult>>) {
  const connector: Connector = {
    id: "crm",
    kind: "api",
    limits,
    listTools: async () =>
      ok([
        {
          name: "read",
          description: "Reads.",
          inputSchema: { type: "object", properties: { id: { type: "string" } } },
          annotations: { readOnlyHint: true },
        },
      ]),
    callTool,
  };
  const catalogs = new Catalogs([connector]);
  await catalogs.resolve("crm.read", SCOPE);
  return new Invoker(catalogs, undefined, [connector]);
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("I4: a call that waits for its next attempt holds no turn", async () => {
  const callTool = vi
    .fn<() => Promise<Outcome<ToolResult>>>()
    .mockResolvedValueOnce(fail("unavailable", "Down.", { retryAfterMs: 5_000 }))
    .mockResolvedValue(VALUE);
  const invoker = await invokerOf({ concurrency: 1 }, callTool);
  const first = invoker.invoke(CALL, SCOPE);
  await vi.advanceTimersByTimeAsync(10);
  expect(invoker.load).toEqual({ crm: { active: 0, waiting: 0 } });
  expect(await invoker.invoke(CALL, SCOPE)).toMatchObject({ ok: true, value: { attempts: 1 } });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await first).toMatchObject({ ok: true, value: { attempts: 2 } });
});

test("I4: a call that the budget refuses is repeated when the budget says, if asked for", async () => {
  const callTool = vi.fn<() => Promise<Outcome<ToolResult>>>().mockResolvedValue(VALUE);
  const invoker = await invokerOf({ budget: { calls: 1, windowMs: 3_000 } }, callTool);
  expect((await invoker.invoke(CALL, SCOPE)).ok).toBe(true);
  const once = await invoker.invoke({ ...CALL, maxRetries: 0 }, SCOPE);
  expect(once).toMatchObject({ failure: { code: "rate_limited", address: "crm.read" } });
  const repeated = invoker.invoke(CALL, SCOPE);
  await vi.advanceTimersByTimeAsync(2_999);
  expect(callTool).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  // A refused one was no attempt: nobody was asked.
  expect(await repeated).toMatchObject({ ok: true, value: { attempts: 1 } });
});

test("I1: what is refused before costs the connector's limits nothing", async () => {
  const callTool = vi.fn<() => Promise<Outcome<ToolResult>>>().mockResolvedValue(VALUE);
  const invoker = await invokerOf({ budget: { calls: 1, windowMs: 3_000 } }, callTool);
  const invalid = await invoker.invoke({ ...CALL, args: { id: 7 } }, SCOPE);
  expect(invalid).toMatchObject({ failure: { code: "invalid_args" } });
  expect((await invoker.invoke(CALL, SCOPE)).ok).toBe(true);
});

test("I4: a deadline that passes gives the turn back, whatever the connector does", async () => {
  const callTool = vi
    .fn<() => Promise<Outcome<ToolResult>>>()
    .mockReturnValueOnce(new Promise(() => undefined))
    .mockResolvedValue(VALUE);
  const invoker = await invokerOf({ concurrency: 1 }, callTool);
  const stuck = invoker.invoke({ ...CALL, maxRetries: 0, timeoutMs: 100 }, SCOPE);
  const next = invoker.invoke(CALL, SCOPE);
  await vi.advanceTimersByTimeAsync(100);
  expect(await stuck).toMatchObject({ failure: { code: "timeout" } });
  expect(await next).toMatchObject({ ok: true });
});
