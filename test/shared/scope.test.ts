import { describe, expect, test, vi } from "vitest";
import { ok } from "../../server/shared/failure.ts";
import { withDeadline } from "../../server/shared/scope.ts";
import { testScope } from "../support/scope.ts";

describe("deadlines", () => {
  test("I4: work that ignores its signal is abandoned at the deadline", async () => {
    vi.useFakeTimers();
    try {
      const waiting = withDeadline(testScope(), 15_000, "crm.slow", () => new Promise(() => {}));
      await vi.advanceTimersByTimeAsync(15_000);
      expect(await waiting).toMatchObject({
        ok: false,
        failure: { code: "timeout", retryable: true, timeoutMs: 15_000 },
      });
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test("a caller who goes away cancels the work and gets cancelled, not timeout", async () => {
    const controller = new AbortController();
    let inner: AbortSignal | undefined;
    const waiting = withDeadline(
      testScope({ signal: controller.signal }),
      60_000,
      "crm.slow",
      (scope) => {
        inner = scope.signal;
        return new Promise(() => {});
      },
    );
    controller.abort();
    expect(await waiting).toMatchObject({ ok: false, failure: { code: "cancelled" } });
    expect(inner?.aborted).toBe(true);
  });

  test("work in time keeps its value and leaves no timer", async () => {
    vi.useFakeTimers();
    try {
      expect(await withDeadline(testScope(), 10, "x", async () => ok(7))).toEqual(ok(7));
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
