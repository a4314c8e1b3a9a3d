import { describe, expect, test, vi } from "vitest";
import { Permits } from "../../server/shared/permits.ts";

async function taken(permits: Permits) {
  const admission = await permits.acquire();
  if (!admission.ok) throw new Error(`no permit: ${admission.reason}`);
  return admission;
}

describe("permits", () => {
  test("a released permit goes to the caller who waited longest", async () => {
    const permits = new Permits({ active: 1, queued: 2, waitMs: 1_000 });
    const first = await taken(permits);
    const order: string[] = [];
    const second = permits.acquire().then((admission) => (order.push("second"), admission));
    const third = permits.acquire().then((admission) => (order.push("third"), admission));
    first.release();
    const admission = await second;
    expect(order).toEqual(["second"]);
    if (admission.ok) admission.release();
    await third;
    expect(order).toEqual(["second", "third"]);
  });

  test("releasing twice gives back one permit", async () => {
    const permits = new Permits({ active: 2, queued: 0, waitMs: 1_000 });
    const first = await taken(permits);
    await taken(permits);
    first.release();
    first.release();
    expect(permits.active).toBe(1);
  });

  test("a full queue refuses at once, a waiting caller after its bound", async () => {
    vi.useFakeTimers();
    try {
      const permits = new Permits({ active: 1, queued: 1, waitMs: 5_000 });
      await taken(permits);
      const waiting = permits.acquire();
      expect(await permits.acquire()).toEqual({ ok: false, reason: "full" });
      vi.advanceTimersByTime(5_000);
      expect(await waiting).toEqual({ ok: false, reason: "timeout" });
      expect(permits.waiting).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test("a caller that goes away leaves the queue", async () => {
    const permits = new Permits({ active: 1, queued: 1, waitMs: 5_000 });
    const held = await taken(permits);
    const controller = new AbortController();
    const waiting = permits.acquire(controller.signal);
    controller.abort();
    expect(await waiting).toEqual({ ok: false, reason: "aborted" });
    held.release();
    expect(permits.active).toBe(0);
  });

  test("closing refuses who waits and who comes later", async () => {
    const permits = new Permits({ active: 1, queued: 1, waitMs: 5_000 });
    await taken(permits);
    const waiting = permits.acquire();
    permits.close();
    expect(await waiting).toEqual({ ok: false, reason: "closed" });
    expect(await permits.acquire()).toEqual({ ok: false, reason: "closed" });
  });
});
