import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { Invoker, type Invocation, type Take } from "../../server/invoke/invoke.ts";
import { Recorder } from "../../server/invoke/recorder.ts";
import { memoryActivity, type ActivityEvent, type ActivityStore } from "../../server/index.ts";
import { fail, ok, type Outcome } from "../../server/shared/failure.ts";
import type { ToolResult } from "../../server/shared/contracts.ts";
import { activityEvent } from "../support/activity.ts";
import { fakeConnector, fakeTool, valueOf } from "../support/catalog.ts";
import { invocation } from "../support/invocation.ts";
import { testScope } from "../support/scope.ts";

const CALL = invocation();

type Answer = () => Promise<Outcome<ToolResult>>;
const VALUE = ok<ToolResult>({ kind: "value", value: 1 });

function invoker(store: ActivityStore, answer: Answer = () => Promise.resolve(VALUE)): Invoker {
  const tools = [fakeTool("read"), fakeTool("x".repeat(200))];
  const connector = fakeConnector("crm", tools, { callTool: answer });
  return new Invoker(new Catalogs([connector]), new Recorder(store));
}

/** The one event of a call. */
async function recorded(
  call: Partial<Invocation> = {},
  answer?: Answer,
  scope = testScope(),
): Promise<ActivityEvent | undefined> {
  const store = memoryActivity();
  await invoker(store, answer).invoke({ ...CALL, ...call }, scope);
  const { events } = valueOf(await store.read());
  expect(events).toHaveLength(1);
  return events[0];
}

describe("what is recorded of a call", () => {
  test("T1: who called what through which tool, how it came out and how long it took", async () => {
    const scope = testScope({ now: () => 1_700, principal: "ada", requestId: "request-7" });
    const event = await recorded({ source: "execute_code", runId: "run-3" }, undefined, scope);
    expect(event).toEqual({
      time: 1_700,
      source: "execute_code",
      connector: "crm",
      tool: "read",
      address: "crm.read",
      outcome: "ok",
      code: undefined,
      durationMs: expect.any(Number) as number,
      attempts: 1,
      principal: "ada",
      requestId: "request-7",
      runId: "run-3",
    });
  });

  test("T1: an address that leads to no tool stands as it was written, up to 128 bytes", async () => {
    expect(await recorded({ address: "crm.rread" })).toMatchObject({
      connector: "crm",
      tool: undefined,
      address: "crm.rread",
      code: "unknown_tool",
      attempts: 0,
    });
    const event = await recorded({ address: `nowhere.${"é".repeat(500)}` });
    expect(event).toMatchObject({ connector: undefined, code: "unknown_address" });
    expect(event?.address).toBe(`nowhere.${"é".repeat(60)}`);
  });

  test("T1: a tool's long name and a caller's long name are cut", async () => {
    const scope = testScope({ principal: "p".repeat(500) });
    const event = await recorded({ address: `crm.${"x".repeat(200)}` }, undefined, scope);
    expect(event).toMatchObject({
      tool: "x".repeat(128),
      address: `crm.${"x".repeat(124)}`,
      principal: "p".repeat(128),
      outcome: "ok",
    });
  });

  test("T1: every attempt counts, and a call that was cancelled before it began has none", async () => {
    const busy = fail("rate_limited", "Busy.", { retryAfterMs: 1 });
    const event = await recorded({ maxRetries: 2 }, () => Promise.resolve(busy));
    expect(event).toMatchObject({ attempts: 3, outcome: "failed", code: "rate_limited" });
    const scope = testScope({ signal: AbortSignal.abort() });
    const early = await recorded({}, undefined, scope);
    expect(early).toMatchObject({ attempts: 0, code: "cancelled" });
  });

  test("a result that tells of a failure is recorded as one, though it is passed on whole", async () => {
    const result: ToolResult = { kind: "mcp", content: [], isError: true };
    const event = await recorded({}, () => Promise.resolve(ok(result)));
    expect(event).toMatchObject({ outcome: "failed", code: "connector_call_failed" });
  });

  test("what the caller could not take is recorded as that, a fault of ours as internal", async () => {
    const codes: unknown[] = [];
    const takes: Take<unknown>[] = [
      () => fail("result_too_large", "Too large."),
      () => Promise.reject(new Error("a bug")),
    ];
    for (const take of takes) {
      const store = memoryActivity();
      await invoker(store)
        .invoke(CALL, testScope(), take)
        .catch(() => undefined);
      codes.push(...valueOf(await store.read()).events.map(({ code }) => code));
    }
    expect(codes).toEqual(["result_too_large", "internal"]);
  });
});

describe("T2: a store that fails", () => {
  const secret = "sk-live-1";
  const failing: Record<string, () => ReturnType<ActivityStore["record"]>> = {
    throws: () => {
      throw new TypeError(secret);
    },
    "throws what is no error": () => {
      throw { message: secret } as unknown;
    },
    rejects: () => Promise.reject(new TypeError(secret)),
    "answers with a failure": () => Promise.resolve(fail("unavailable", "The disk is full.")),
    hangs: () => new Promise(() => {}),
  };
  const store = (record: ActivityStore["record"]): ActivityStore => ({
    record,
    read: () => memoryActivity().read(),
  });

  test.each(Object.entries(failing))("one that %s fails no call", async (_, record) => {
    const one = invoker(store(record));
    expect(await one.invoke(CALL, testScope())).toMatchObject({ ok: true, value: { attempts: 1 } });
    expect(await one.invoke({ ...CALL, address: "crm.x" }, testScope())).toMatchObject({
      failure: { code: "unknown_tool" },
    });
  });

  test("a store's answer is waited for after the call's, by whoever keeps the request alive", async () => {
    let store: (outcome: Outcome<void>) => void = () => undefined;
    const stored = new Promise<Outcome<void>>((resolve) => (store = resolve));
    const deferred: Promise<unknown>[] = [];
    const scope = testScope({ defer: (task) => void deferred.push(task) });
    const one = new Recorder({ record: () => stored, read: () => memoryActivity().read() });
    one.record(activityEvent(), scope);
    expect(deferred).toHaveLength(1);
    let settled = false;
    const settling = deferred[0]?.then(() => (settled = true));
    await Promise.resolve();
    expect(settled).toBe(false);
    store(ok(undefined));
    expect(await settling).toBe(true);
  });

  describe("is told to the operator", () => {
    const report = vi.fn<(error: unknown, what: string) => void>();
    let time = 0;
    const deferred: Promise<unknown>[] = [];
    const scope = testScope({ report, now: () => time, defer: (task) => void deferred.push(task) });
    const record = async (recorder: Recorder, times: number) => {
      for (let at = 0; at < times; at++) recorder.record(activityEvent(), scope);
      await Promise.all(deferred.splice(0));
    };
    beforeEach(() => (time = 0));
    afterEach(() => void report.mockReset());
    const texts = () => report.mock.calls.map(([error]) => (error as Error).message);

    test.each(["throws", "rejects"])("by its kind where it %s, never by its text", async (how) => {
      await record(new Recorder(store(failing[how] ?? (() => undefined))), 1);
      expect(texts()).toEqual(["The activity store failed; a call was not recorded. TypeError."]);
      expect(report).toHaveBeenCalledWith(expect.anything(), "activity");
    });

    test("at most once a minute, with how much was lost since", async () => {
      const recorder = new Recorder(store(failing["answers with a failure"] ?? (() => undefined)));
      await record(recorder, 5);
      time = 59_999;
      await record(recorder, 5);
      expect(texts()).toHaveLength(1);
      time = 60_000;
      await record(recorder, 1);
      expect(texts().slice(1)).toEqual([
        "The activity store failed; 10 calls were not recorded. The disk is full.",
      ]);
    });

    test("when it owes ten thousand answers; then it is asked no more", async () => {
      const hangs = vi.fn<ActivityStore["record"]>(failing.hangs);
      const recorder = new Recorder(store(hangs));
      for (let at = 0; at < 10_050; at++) recorder.record(activityEvent(), scope);
      deferred.length = 0;
      expect(hangs).toHaveBeenCalledTimes(10_000);
      expect(texts()).toEqual([
        "The activity store failed; a call was not recorded. It does not answer.",
      ]);
    });
  });

  test("one that hangs or throws while it closes keeps nobody from closing", async () => {
    vi.useFakeTimers();
    try {
      const closing = { hangs: () => new Promise<void>(() => {}), throws: () => Promise.reject() };
      for (const close of Object.values(closing)) {
        const closed = new Recorder({ ...store(() => undefined), close }).close();
        await vi.runAllTimersAsync();
        await closed;
      }
    } finally {
      vi.useRealTimers();
    }
  });
});
