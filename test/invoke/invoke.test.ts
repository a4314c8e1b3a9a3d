import { describe, expect, test, vi } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { Invoker, type Invocation } from "../../server/invoke/invoke.ts";
import type { Connector, ToolResult } from "../../server/shared/contracts.ts";
import { fail, ok, type Outcome } from "../../server/shared/failure.ts";
import { invocation } from "../support/invocation.ts";
import { testScope } from "../support/scope.ts";

type Answer = () => Promise<Outcome<ToolResult>>;

function connector(answer: Answer): Connector {
  const tool = (name: string, readOnlyHint: boolean) => ({
    name,
    description: name,
    inputSchema: { type: "object" },
    annotations: { readOnlyHint },
  });
  return {
    id: "crm",
    kind: "api",
    listTools: async () => ok([tool("read", true), tool("write", false)]),
    callTool: answer,
  };
}

/** A path whose catalog is loaded, so that only the call itself takes time. */
async function path(answer: Answer): Promise<Invoker> {
  const catalogs = new Catalogs([connector(answer)]);
  await catalogs.resolve("crm.read", testScope());
  return new Invoker(catalogs);
}

const CALL = invocation();

async function invoke(answer: Answer, call: Partial<Invocation> = {}, scope = testScope()) {
  return (await path(answer)).invoke({ ...CALL, ...call }, scope);
}

const VALUE = ok<ToolResult>({ kind: "value", value: 1 });
const busy = (retryAfterMs?: number) =>
  fail("rate_limited", "Busy.", retryAfterMs === undefined ? {} : { retryAfterMs });

/** Fails so often, then answers. */
function failing(times: number, failed: Outcome<ToolResult>) {
  const answer = vi.fn<Answer>();
  for (let i = 0; i < times; i++) answer.mockResolvedValueOnce(failed);
  return answer.mockResolvedValue(VALUE);
}

describe("retries", () => {
  test("I3: nothing is repeated unless asked for", async () => {
    const answer = failing(1, busy());
    expect(await invoke(answer)).toMatchObject({ failure: { code: "rate_limited" } });
    expect(answer).toHaveBeenCalledTimes(1);
  });

  test("I3: a read is repeated as often as asked for, and no oftener", async () => {
    const twice = failing(2, busy(1));
    expect(await invoke(twice, { maxRetries: 2 })).toMatchObject({
      ok: true,
      value: { attempts: 3 },
    });
    const thrice = failing(3, busy(1));
    expect(await invoke(thrice, { maxRetries: 2 })).toMatchObject({
      failure: { code: "rate_limited", address: "crm.read" },
    });
    expect(thrice).toHaveBeenCalledTimes(3);
  });

  test("I3: a write is never repeated", async () => {
    const answer = failing(1, busy());
    const call = { address: "crm.write", access: "write" as const, maxRetries: 2 };
    expect(await invoke(answer, call)).toMatchObject({ failure: { code: "rate_limited" } });
    expect(answer).toHaveBeenCalledTimes(1);
  });

  test("I3: a failure that a retry cannot mend is not repeated", async () => {
    const answer = failing(1, fail("not_found", "Gone."));
    expect(await invoke(answer, { maxRetries: 2 })).toMatchObject({
      failure: { code: "not_found" },
    });
    expect(answer).toHaveBeenCalledTimes(1);
  });

  test("I4: a wait that is asked for is kept exactly, over ten seconds not at all", async () => {
    const answer = failing(1, busy(9_000));
    const long = failing(1, busy(10_001));
    const [one, other] = [await path(answer), await path(long)];
    vi.useFakeTimers();
    try {
      const pending = one.invoke({ ...CALL, maxRetries: 1 }, testScope());
      await vi.advanceTimersByTimeAsync(8_999);
      expect(answer).toHaveBeenCalledTimes(1);
      await vi.advanceTimersByTimeAsync(1);
      expect(await pending).toMatchObject({ ok: true });
      const refused = await other.invoke({ ...CALL, maxRetries: 1 }, testScope());
      expect(refused).toMatchObject({ failure: { code: "rate_limited", retryAfterMs: 10_001 } });
      expect(long).toHaveBeenCalledTimes(1);
    } finally {
      vi.useRealTimers();
    }
  });

  test("I4: a caller who goes away while waiting ends it", async () => {
    const controller = new AbortController();
    let called = () => {};
    const started = new Promise<void>((resolve) => (called = resolve));
    const one = await path(async () => {
      called();
      return busy(9_000);
    });
    const scope = testScope({ signal: controller.signal });
    const pending = one.invoke({ ...CALL, maxRetries: 1 }, scope);
    await started;
    controller.abort();
    expect(await pending).toMatchObject({ failure: { code: "cancelled" } });
  });
});

test("I8: the read path refuses a tool that writes, the write path runs it", async () => {
  const answer = vi.fn<Answer>().mockResolvedValue(VALUE);
  expect(await invoke(answer, { address: "crm.write" })).toMatchObject({
    failure: { code: "destructive_tool_requires_approval" },
  });
  expect(answer).not.toHaveBeenCalled();
  expect(await invoke(answer, { address: "crm.write", access: "write" })).toMatchObject({
    ok: true,
  });
});

test("E4: a connector that throws is answered by its kind, its text stays", async () => {
  const report = vi.fn<(error: unknown, what: string) => void>();
  const thrown = Object.assign(new Error("secret"), { name: "Bearer sk-123" });
  const failed = await invoke(() => Promise.reject(thrown), {}, testScope({ report }));
  expect(failed).toMatchObject({ failure: { code: "connector_call_failed" } });
  expect(JSON.stringify(failed)).not.toMatch(/secret|sk-123/);
  expect(report).toHaveBeenCalledWith(thrown, "crm.read");
});

describe("where the time goes", () => {
  const after = <T>(ms: number, value: T) =>
    new Promise<T>((resolve) => setTimeout(() => resolve(value), ms));

  /** Invokes with every wait passing at once, and the time that it would have taken. */
  async function timed(connecting: Connector, call: Partial<Invocation>) {
    vi.useFakeTimers();
    // The one thing that takes real time: timers would run ahead of it.
    const digest = vi.spyOn(crypto.subtle, "digest").mockResolvedValue(new ArrayBuffer(32));
    try {
      const times = { catalogMs: 0, connectorMs: 0 };
      const invoker = new Invoker(new Catalogs([connecting]));
      const done = invoker.invoke({ ...CALL, ...call, times }, testScope({ now: Date.now }));
      await vi.runAllTimersAsync();
      await done;
      return times;
    } finally {
      digest.mockRestore();
      vi.useRealTimers();
    }
  }

  test("R4: a catalog's load is the catalog's, attempts are the connector's, pauses nobody's", async () => {
    const answers = [busy(), busy(), VALUE];
    const slow = connector(() => after(50, answers.shift() ?? VALUE));
    const listing: Connector = {
      ...slow,
      listTools: (scope) => after(30, undefined).then(() => slow.listTools(scope)),
    };
    const times = await timed(listing, { maxRetries: 2 });
    expect(times).toEqual({ catalogMs: 30, connectorMs: 150 });
  });

  test("R4: a call that ends at its deadline took as long, one that is refused took none", async () => {
    const never = connector(() => new Promise(() => {}));
    expect(await timed(never, { timeoutMs: 40 })).toEqual({ catalogMs: 0, connectorMs: 40 });
    expect(await timed(never, { address: "crm.write" })).toEqual({ catalogMs: 0, connectorMs: 0 });
  });
});
