import { describe, expect, it, vi } from "vitest";
import { host, limitsWith, report, sharedPool } from "./support.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const pool = sharedPool();

describe("L4: a flood of host calls", () => {
  it("ends the run by the budget's name, and the server sees no more than it allows", async () => {
    let seen = 0;
    const count = async () => {
      seen++;
    };
    const code = `async () => {
      await Promise.allSettled(Array.from({ length: 5_000 }, () => host.count()));
      return "went on";
    }`;
    const { result, error, failures } = await report(pool, code, host({ count }));
    expect(failures).toEqual([
      {
        code: "budget_exceeded",
        message: "maxHostCalls: at most 256 can be under way at once.",
        retryable: false,
        budget: "maxHostCalls",
        remaining: 0,
      },
    ]);
    expect([result, error]).toEqual([undefined, failures[0]?.message]);
    expect(seen).toBe(256);
  });

  it("stops the program that goes on computing, whatever CPU time it has left", async () => {
    const providers = host({ count: () => new Promise(() => {}) });
    const code = `async () => {
      for (let i = 0; i < 300; i++) host.count().catch(() => {});
      for (;;);
    }`;
    const limits = limitsWith({ cpuMs: 20_000 });
    const { pids } = pool;
    const { failures } = await report(pool, code, providers, { limits });
    expect(failures).toMatchObject([{ code: "budget_exceeded", budget: "maxHostCalls" }]);
    expect((await report(pool, "async () => 'next'")).result).toBe("next");
    expect(pool.pids).toEqual(pids);
  });

  it("within the budget is none: 256 at once, and thousands one after the other", async () => {
    const providers = host({ count: async () => 1 });
    const code = `async () => {
      const all = await Promise.all(Array.from({ length: 256 }, () => host.count()));
      for (let i = 0; i < 1_000; i++) all.push(await host.count());
      return all.length;
    }`;
    expect(await report(pool, code, providers)).toMatchObject({ result: 1_256, failures: [] });
  });

  it.each([
    [4, []],
    [5, [{ code: "budget_exceeded", budget: "maxArgumentBytes", bytes: 4_500, maxBytes: 4_000 }]],
  ])("with %i large arguments is measured in their bytes", async (length, expected) => {
    const limits = limitsWith({ maxArgumentBytes: 1_000 });
    const code = `async () => {
      const all = Array.from({ length: ${length} }, () => host.size("x".repeat(900)));
      return (await Promise.allSettled(all)).length;
    }`;
    const providers = host({ size: async (text) => String(text).length });
    const { failures, result } = await report(pool, code, providers, { limits });
    expect(failures).toMatchObject(expected);
    expect(result).toBe(expected.length === 0 ? length : undefined);
  });
});
