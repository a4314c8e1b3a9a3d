import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { api, ToolError } from "../../server/connectors/api.ts";
import { Invoker, type Invocation, type Invoked } from "../../server/invoke/invoke.ts";
import type { Connector, ToolResult } from "../../server/shared/contracts.ts";
import { fail, ok, type Outcome } from "../../server/shared/failure.ts";
import type { Scope } from "../../server/shared/scope.ts";
import { invocation } from "../support/invocation.ts";
import { testScope } from "../support/scope.ts";

const NOON = Date.UTC(2026, 0, 1, 12);

beforeEach(() => {
  vi.useFakeTimers({ now: NOON });
  // The one thing that takes real time: timers would run ahead of it.
  vi.spyOn(crypto.subtle, "digest").mockResolvedValue(new ArrayBuffer(32));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const VALUE = ok<ToolResult>({ kind: "value", value: 1 });
const NEVER = new Promise<never>(() => {});
const CALL = invocation({ timeoutMs: 1_000 });

type Answer = (scope: Scope) => Promise<Outcome<ToolResult>>;

/** Starts a call of a tool that answers in turn as listed; follows when it was asked, and what came. */
async function started(
  answers: readonly Answer[],
  call: Partial<Invocation> = {},
  signal = new AbortController().signal,
) {
  const asked: number[] = [];
  const connector: Connector = {
    id: "crm",
    kind: "api",
    listTools: () =>
      Promise.resolve(
        ok([
          {
            name: "read",
            description: "Read.",
            inputSchema: { type: "object" },
            annotations: { readOnlyHint: true },
          },
        ]),
      ),
    callTool: (_name, _args, scope) => {
      asked.push(Date.now() - NOON);
      return (answers[asked.length - 1] ?? answers.at(-1) ?? (() => NEVER))(scope);
    },
  };
  const catalogs = new Catalogs([connector]);
  await catalogs.resolve("crm.read", testScope({ now: Date.now }));
  await vi.runAllTimersAsync();
  vi.setSystemTime(NOON);
  const state: { asked: number[]; outcome?: Outcome<Invoked>; at?: number } = { asked };
  const scope = testScope({ now: Date.now, signal });
  void new Invoker(catalogs).invoke({ ...CALL, ...call }, scope).then((outcome) => {
    state.outcome = outcome;
    state.at = Date.now() - NOON;
  });
  await vi.advanceTimersByTimeAsync(0);
  return state;
}

const busy =
  (retryAfterMs?: number): Answer =>
  () =>
    Promise.resolve(
      fail("rate_limited", "Busy.", { ...(retryAfterMs !== undefined && { retryAfterMs }) }),
    );
const silent: Answer = () => NEVER;
const answer: Answer = () => Promise.resolve(VALUE);

describe("I4: a deadline", () => {
  test("ends a call at its time, not before, and leaves no timer", async () => {
    const call = await started([silent]);
    await vi.advanceTimersByTimeAsync(999);
    expect(call.outcome).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(call.outcome).toMatchObject({
      failure: { code: "timeout", retryable: true, timeoutMs: 1_000, address: "crm.read" },
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("is each attempt's own, and pauses do not count", async () => {
    const call = await started([silent, silent, answer], { maxRetries: 2 });
    await vi.runAllTimersAsync();
    expect(call).toMatchObject({ asked: [0, 1_250, 2_750], outcome: { value: { attempts: 3 } } });
  });

  test("aborts the attempt, whose late answer is nobody's", async () => {
    let late: (outcome: Outcome<ToolResult>) => void = () => {};
    let signal: AbortSignal | undefined;
    const call = await started([
      (scope) => {
        signal = scope.signal;
        return new Promise((resolve) => (late = resolve));
      },
    ]);
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(signal?.aborted).toBe(true);
    late(VALUE);
    await vi.runAllTimersAsync();
    expect(call.outcome).toMatchObject({ failure: { code: "timeout" } });
  });

  test("that is not reached leaves no timer behind", async () => {
    expect(await started([answer])).toMatchObject({ outcome: { ok: true } });
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("I4: the pause before the next attempt", () => {
  test("is a quarter of a second, then half of one, where nothing is asked for", async () => {
    const call = await started([busy(), busy(), answer], { maxRetries: 2 });
    await vi.runAllTimersAsync();
    expect(call.asked).toEqual([0, 250, 750]);
  });

  test.each([0, 1, 250, 9_999, 10_000])("is the %d ms that are asked for, exactly", async (ms) => {
    const call = await started([busy(ms), answer], { maxRetries: 1 });
    await vi.runAllTimersAsync();
    expect(call).toMatchObject({ asked: [0, ms], outcome: { ok: true } });
  });

  test.each([10_001, 120_000])("is none at all where %d ms are asked for", async (ms) => {
    const call = await started([busy(ms), answer], { maxRetries: 2 });
    await vi.runAllTimersAsync();
    expect(call).toMatchObject({ asked: [0], at: 0, outcome: { failure: { retryAfterMs: ms } } });
  });

  test("ends at once with its caller, who is not answered by another attempt", async () => {
    const controller = new AbortController();
    const call = await started([busy(9_000), answer], { maxRetries: 1 }, controller.signal);
    await vi.advanceTimersByTimeAsync(4_000);
    controller.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(call).toMatchObject({ at: 4_000, outcome: { failure: { code: "cancelled" } } });
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(call.asked).toEqual([0]);
  });
});

describe("I4: a Retry-After of an HTTP service", () => {
  test.each([
    ["7", 7_000],
    ["Thu, 01 Jan 2026 12:00:07 GMT", 7_000],
    ["Thu, 01 Jan 2026 11:59:00 GMT", 0],
    ["soon", 250],
  ])("of %j is a pause of %d ms", async (header, pause) => {
    const asked: number[] = [];
    const connector = api({
      id: "crm",
      tools: {
        read: {
          description: "Read.",
          inputSchema: { type: "object" },
          annotations: { readOnlyHint: true },
          handler: () => {
            asked.push(Date.now() - NOON);
            if (asked.length > 1) return 1;
            throw ToolError.fromResponse(
              new Response(null, { status: 503, headers: { "retry-after": header } }),
            );
          },
        },
      },
    });
    const invoker = new Invoker(new Catalogs([connector]));
    const pending = invoker.invoke({ ...CALL, maxRetries: 1 }, testScope({ now: Date.now }));
    await vi.runAllTimersAsync();
    expect(await pending).toMatchObject({ ok: true });
    const [first = 0, second = 0] = asked;
    expect(second - first).toBe(pause);
  });
});
