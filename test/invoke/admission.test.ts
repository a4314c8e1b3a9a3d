import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Admission } from "../../server/invoke/admission.ts";
import type { CallLimits } from "../../server/shared/call-limits.ts";
import type { Connector } from "../../server/shared/contracts.ts";
import { fail, ok, type Outcome } from "../../server/shared/failure.ts";
import { testScope } from "../support/scope.ts";
import { settle } from "../support/timers.ts";

function connector(limits?: CallLimits): Connector {
  return {
    id: "crm",
    kind: "api",
    ...(limits && { limits }),
    listTools: () => Promise.resolve(ok([])),
    callTool: () => Promise.resolve(ok({ kind: "value", value: 1 })),
  };
}

/** Attempts of one connector: each goes on until it is ended. */
function attempts(limits?: CallLimits) {
  const one = connector(limits);
  const admission = new Admission([one]);
  const begun: { readonly leftMs: number; end(): void }[] = [];
  const call = (principal = "ada", timeoutMs = 1_000, signal?: AbortSignal) => {
    const scope = testScope({ principal, now: Date.now, ...(signal && { signal }) });
    return admission.admit(
      one,
      timeoutMs,
      scope,
      (leftMs) =>
        new Promise<Outcome<string>>((resolve) => {
          begun.push({ leftMs, end: () => resolve(ok("answered")) });
        }),
    );
  };
  const answered = async (principal?: string) => {
    const done = call(principal);
    await settle();
    begun.at(-1)?.end();
    return done;
  };
  return { begun, call, answered, load: () => admission.load.crm };
}

const codeOf = (outcome: Outcome<unknown>) => (outcome.ok ? "ok" : outcome.failure.code);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("without limits", () => {
  test("any number of calls is under way, and all are counted", async () => {
    const { call, begun, load } = attempts();
    const all = Array.from({ length: 500 }, () => call());
    await settle();
    expect(load()).toEqual({ active: 500, waiting: 0 });
    for (const { end } of begun) end();
    expect((await Promise.all(all)).every(({ ok: fine }) => fine)).toBe(true);
    expect(load()).toEqual({ active: 0, waiting: 0 });
  });
});

describe("concurrency", () => {
  test("I1: as many calls as allowed are under way, and the next gets its turn when one ends", async () => {
    const { call, begun, load } = attempts({ concurrency: 2 });
    const all = [call(), call(), call()];
    await settle();
    expect(load()).toEqual({ active: 2, waiting: 1 });
    await vi.advanceTimersByTimeAsync(400);
    begun[0]?.end();
    await settle();
    expect(load()).toEqual({ active: 2, waiting: 0 });
    // What it waited is taken from its own deadline.
    expect(begun.map(({ leftMs }) => leftMs)).toEqual([1_000, 1_000, 600]);
    for (const { end } of begun) end();
    expect((await Promise.all(all)).map(codeOf)).toEqual(["ok", "ok", "ok"]);
  });

  test("I4: a call waits no longer than its own deadline, and says what it waited for", async () => {
    const { call, load } = attempts({ concurrency: 1 });
    void call();
    const late = call("ada", 300);
    await vi.advanceTimersByTimeAsync(299);
    expect(load()).toEqual({ active: 1, waiting: 1 });
    await vi.advanceTimersByTimeAsync(1);
    expect(await late).toMatchObject({
      failure: {
        code: "unavailable",
        message:
          "crm works on as many calls as it may (limits.concurrency); no turn came within 300 ms.",
      },
    });
    expect(load()).toEqual({ active: 1, waiting: 0 });
  });

  test("a call that ended without a word holds its turn no longer than the longest one", async () => {
    const { call, begun, load } = attempts({ concurrency: 1 });
    void call();
    await vi.advanceTimersByTimeAsync(124_000);
    const next = call("ada", 2_000);
    await vi.advanceTimersByTimeAsync(1_001);
    expect(begun).toHaveLength(1);
    void call();
    await settle();
    expect(begun).toHaveLength(2);
    for (const { end } of begun) end();
    expect(codeOf(await next)).toBe("ok");
    expect(load()).toMatchObject({ waiting: 0 });
  });

  test("a caller that goes away while it waits leaves at once", async () => {
    const { call, load } = attempts({ concurrency: 1 });
    void call();
    const leaving = new AbortController();
    const gone = call("ada", 1_000, leaving.signal);
    await settle();
    leaving.abort();
    expect(codeOf(await gone)).toBe("cancelled");
    expect(load()).toEqual({ active: 1, waiting: 0 });
  });

  test("a bounded number waits; one more is refused at once", async () => {
    const { call, load } = attempts({ concurrency: 1 });
    const all = Array.from({ length: 257 }, () => call());
    await settle();
    expect(load()).toEqual({ active: 1, waiting: 256 });
    expect(await call()).toMatchObject({
      failure: { code: "unavailable", retryable: true, retryAfterMs: 1_000 },
    });
    expect(all).toHaveLength(257);
  });

  test("an attempt that throws gives its turn back", async () => {
    const one = connector({ concurrency: 1 });
    const admission = new Admission([one]);
    const broken = admission.admit(one, 1_000, testScope(), () => Promise.reject(new Error("x")));
    await expect(broken).rejects.toThrow("x");
    const after = admission.admit(one, 1_000, testScope(), () => Promise.resolve(ok(1)));
    expect(codeOf(await after)).toBe("ok");
  });
});

describe("a budget", () => {
  const budget = { calls: 3, windowMs: 1_000 };

  test("I1: so many calls in any stretch of time, and the next is told when it may come", async () => {
    const { answered } = attempts({ budget });
    expect(codeOf(await answered())).toBe("ok");
    await vi.advanceTimersByTimeAsync(400);
    expect(codeOf(await answered())).toBe("ok");
    expect(codeOf(await answered())).toBe("ok");
    await vi.advanceTimersByTimeAsync(350);
    expect(await answered()).toMatchObject({
      failure: { code: "rate_limited", retryable: true, retryAfterMs: 250 },
    });
    await vi.advanceTimersByTimeAsync(249);
    expect(codeOf(await answered())).toBe("rate_limited");
    await vi.advanceTimersByTimeAsync(1);
    // The window rolls: one has left it, the two of 400 ms later have not.
    expect(codeOf(await answered())).toBe("ok");
    expect(await answered()).toMatchObject({ failure: { retryAfterMs: 400 } });
  });

  test("what is refused costs nothing, what failed does", async () => {
    const { answered, call, begun } = attempts({ budget: { calls: 1, windowMs: 1_000 } });
    expect(codeOf(await answered())).toBe("ok");
    for (let count = 0; count < 5; count++) expect(codeOf(await call())).toBe("rate_limited");
    expect(begun).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(codeOf(await answered())).toBe("ok");
  });

  test("the property: in no window begin more calls than allowed, and as many do", async () => {
    const one = connector({ budget: { calls: 7, windowMs: 100 } });
    const admission = new Admission([one]);
    const begun: number[] = [];
    for (let now = 0; now < 3_000; now += 3) {
      const scope = testScope({ now: () => now });
      await admission.admit(one, 1_000, scope, () => {
        begun.push(now);
        return Promise.resolve(fail("connector_call_failed", "no"));
      });
    }
    const within = (from: number) => begun.filter((at) => at >= from && at < from + 100).length;
    expect(Math.max(...begun.map(within))).toBe(7);
    expect(begun.length).toBeGreaterThanOrEqual(7 * 29);
  });

  test("whoever waited for a turn is refused when the budget is spent meanwhile", async () => {
    const { call, begun } = attempts({ concurrency: 1, budget: { calls: 1, windowMs: 10_000 } });
    const [first, second] = [call(), call()];
    await settle();
    begun[0]?.end();
    expect(codeOf(await first)).toBe("ok");
    expect(codeOf(await second)).toBe("rate_limited");
  });
});

describe("partitions", () => {
  const limits: CallLimits = {
    budget: { calls: 1, windowMs: 1_000 },
    partition: ({ principal }) => principal,
  };

  test("I1: each key has limits of its own", async () => {
    const { answered } = attempts(limits);
    expect(codeOf(await answered("ada"))).toBe("ok");
    expect(codeOf(await answered("bob"))).toBe("ok");
    expect(codeOf(await answered("ada"))).toBe("rate_limited");
  });

  test("a key that cannot be made fails its call, which waits no longer", async () => {
    const { call, load } = attempts({
      ...limits,
      partition: () => {
        throw new Error("no key");
      },
    });
    await expect(call()).rejects.toThrow("no key");
    expect(load()).toEqual({ active: 0, waiting: 0 });
  });

  test("more keys than are told apart share one, until others are through", async () => {
    const { answered } = attempts(limits);
    for (let at = 0; at < 256; at++) expect(codeOf(await answered(`caller ${at}`))).toBe("ok");
    expect(codeOf(await answered("one more"))).toBe("ok");
    expect(codeOf(await answered("yet another"))).toBe("rate_limited");
    expect(codeOf(await answered("caller 7"))).toBe("rate_limited");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(codeOf(await answered("one more"))).toBe("ok");
    expect(codeOf(await answered("yet another"))).toBe("ok");
  });
});
