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

  test("a permit that is held for longer than it can be counts as given back, once", async () => {
    vi.useFakeTimers();
    try {
      const permits = new Permits({ active: 1, queued: 0, waitMs: 5_000, heldMs: 1_000 });
      const lost = await taken(permits);
      vi.advanceTimersByTime(1_000);
      expect(await permits.acquire()).toEqual({ ok: false, reason: "full" });
      vi.advanceTimersByTime(1);
      const next = await taken(permits);
      lost.release();
      expect(permits.active).toBe(1);
      next.release();
      expect(permits.active).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test("units that are held for longer than they can be are given to who waits", async () => {
    vi.useFakeTimers();
    try {
      const permits = new Permits({ active: 8, queued: 2, waitMs: 5_000, heldMs: 1_000 });
      const lost = await permits.acquire(undefined, { units: 6 });
      const waiting = permits.acquire(undefined, { units: 5 });
      vi.advanceTimersByTime(1_001);
      expect(permits.take(4)).toBeUndefined();
      expect(await waiting).toMatchObject({ ok: true, waitedMs: 1_001 });
      expect(permits.active).toBe(5);
      // Whoever comes back after all changes nothing any more.
      if (lost.ok) lost.correct(8);
      expect(lost.ok && lost.resize(1)).toBe(false);
      expect(permits.active).toBe(5);
    } finally {
      vi.useRealTimers();
    }
  });

  test("without a time after which it counts as given back, a permit is held however long", async () => {
    vi.useFakeTimers();
    try {
      const permits = new Permits({ active: 1, queued: 0, waitMs: 5_000 });
      await taken(permits);
      vi.advanceTimersByTime(86_400_000);
      expect(permits.take()).toBeUndefined();
      expect(await permits.acquire()).toEqual({ ok: false, reason: "full" });
    } finally {
      vi.useRealTimers();
    }
  });

  test("closing refuses who waits and who comes later", async () => {
    const permits = new Permits({ active: 1, queued: 1, waitMs: 5_000 });
    await taken(permits);
    const waiting = permits.acquire();
    permits.close();
    expect(await waiting).toEqual({ ok: false, reason: "closed" });
    expect(await permits.acquire()).toEqual({ ok: false, reason: "closed" });
  });

  test("a caller may ask for several units; nobody overtakes whoever waits for many", async () => {
    const permits = new Permits({ active: 4, queued: 4, waitMs: 1_000 });
    const two = await permits.acquire(undefined, { units: 2 });
    const order: string[] = [];
    const four = permits.acquire(undefined, { units: 4 }).then((held) => (order.push("4"), held));
    const one = permits.acquire().then((held) => (order.push("1"), held));
    await Promise.resolve();
    expect([permits.active, permits.waiting, order]).toEqual([2, 2, []]);
    if (two.ok) two.release();
    const held = await four;
    expect([permits.active, order]).toEqual([4, ["4"]]);
    if (held.ok) held.release();
    await one;
    expect(order).toEqual(["4", "1"]);
  });

  test("those behind one that gives up get what it stood before", async () => {
    const permits = new Permits({ active: 2, queued: 2, waitMs: 1_000 });
    await taken(permits);
    const leaving = new AbortController();
    const two = permits.acquire(leaving.signal, { units: 2 });
    const one = permits.acquire();
    leaving.abort();
    expect((await two).ok).toBe(false);
    expect((await one).ok).toBe(true);
  });

  test("a permit shrinks for others, grows only into what is free, and may be corrected", async () => {
    const permits = new Permits({ active: 10, queued: 1, waitMs: 1_000 });
    const first = permits.take(8);
    expect(permits.take(3)).toBeUndefined();
    const waiting = permits.acquire(undefined, { units: 6 });
    expect(first?.resize(4)).toBe(true);
    expect((await waiting).ok).toBe(true);
    expect(first?.resize(5)).toBe(false);
    expect(permits.active).toBe(10);
    first?.correct(7);
    expect(permits.active).toBe(13);
    first?.release();
    expect(first?.resize(1)).toBe(false);
    first?.correct(9);
    expect(permits.active).toBe(6);
  });

  test("a caller's own bound of waiting replaces that of the queue", async () => {
    vi.useFakeTimers();
    try {
      const permits = new Permits({ active: 1, queued: 1, waitMs: 5_000 });
      await taken(permits);
      const waiting = permits.acquire(undefined, { waitMs: 20 });
      vi.advanceTimersByTime(20);
      expect(await waiting).toEqual({ ok: false, reason: "timeout" });
    } finally {
      vi.useRealTimers();
    }
  });
});
