import { describe, expect, it, vi } from "vitest";
import { host, limitsWith, report, startPool, waitingRun } from "./support.ts";

vi.setConfig({ testTimeout: 60_000 });

const STUCK = "async () => Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)";
const CRASHED = [{ code: "executor_crashed", retryable: true }];

describe("L4: runs that wait behind a native call that never asks", () => {
  it("are begun elsewhere when nothing of them has happened, those that have are not", async () => {
    const pool = await startPool(1);
    const [pid] = pool.pids;
    const begun = waitingRun(pool);
    await begun.waits;
    const offender = report(pool, STUCK);
    let calls = 0;
    const once = async () => ++calls;
    const later = Array.from({ length: 5 }, (_, at) =>
      report(pool, `async () => [${at}, await host.once()]`, host({ once })),
    );
    expect((await offender).failures).toMatchObject([{ code: "executor_limit", limit: "cpu" }]);
    expect((await begun.report).failures).toMatchObject(CRASHED);
    const reports = await Promise.all(later);
    expect(reports.flatMap(({ failures }) => failures)).toEqual([]);
    expect(reports.map(({ result }) => result)).toEqual([0, 1, 2, 3, 4].map((at) => [at, at + 1]));
    expect(calls).toBe(5);
    expect(pool.pids).not.toContain(pid);
  });

  it("are begun after several of them in a row, and each of those is ended by name", async () => {
    const pool = await startPool(1);
    const runs = [STUCK, STUCK, STUCK, STUCK, "async () => 'through'"];
    const reports = await Promise.all(runs.map((code) => report(pool, code)));
    expect(reports.slice(0, 4).map(({ failures }) => failures[0]?.limit)).toEqual(
      Array(4).fill("cpu"),
    );
    expect(reports[4]).toMatchObject({ result: "through", failures: [] });
  });

  it("have no more time for it than their own", async () => {
    const pool = await startPool(1);
    const offender = report(pool, STUCK);
    const short = { limits: limitsWith({ timeoutMs: 100 }) };
    const { failures } = await report(pool, "async () => 1", [], short);
    expect(failures).toMatchObject([{ code: "executor_timeout", timeoutMs: 100 }]);
    expect((await offender).failures).toMatchObject([{ limit: "cpu" }]);
    expect((await report(pool, "async () => 'next'")).result).toBe("next");
  });

  it("can be cancelled and closed while they wait", async () => {
    const pool = await startPool(1);
    const offender = report(pool, STUCK);
    const controller = new AbortController();
    const cancelled = report(pool, "async () => 1", [], { signal: controller.signal });
    const closed = report(pool, "async () => 1");
    controller.abort();
    expect((await cancelled).failures).toMatchObject([{ code: "executor_cancelled" }]);
    await pool.close();
    expect((await closed).failures).toMatchObject([{ code: "executor_closed" }]);
    expect((await offender).failures).toMatchObject([{ code: "executor_closed" }]);
  });
});

describe("L4: runs of a process that dies for no known reason", () => {
  const LOOP = "async () => { for (;;); }";
  const long = { limits: limitsWith({ cpuMs: 20_000 }) };

  it("are begun elsewhere but for the one that it was at", async () => {
    const pool = await startPool(1);
    const [pid = 0] = pool.pids;
    // Its setup is known afterwards, so that nothing stands before the loop.
    await report(pool, "async () => 1", [], long);
    const loop = report(pool, LOOP, [], long);
    const later = report(pool, "async () => 'elsewhere'", [], long);
    process.kill(pid, "SIGKILL");
    expect((await loop).failures).toMatchObject(CRASHED);
    expect(await later).toMatchObject({ result: "elsewhere", failures: [] });
    expect(pool.pids).not.toContain(pid);
  });

  it("are given up when that happens again and again", async () => {
    const pool = await startPool(1);
    const state = { ended: false };
    const loop = report(pool, LOOP, [], long).finally(() => {
      state.ended = true;
    });
    let kills = 0;
    while (!state.ended) {
      await pool.ready();
      const [pid = 0] = pool.pids;
      process.kill(pid, "SIGKILL");
      kills++;
      await vi.waitFor(() => expect(pool.pids).not.toContain(pid), 10_000);
    }
    expect((await loop).failures).toMatchObject(CRASHED);
    expect(kills).toBeLessThanOrEqual(4);
    expect((await report(pool, "async () => 'next'")).result).toBe("next");
  });
});
