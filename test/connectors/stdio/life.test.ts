import { existsSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { LifeTimes } from "../../../server/connectors/stdio/supervisor.ts";
import { Notice } from "../../../server/shared/notice.ts";
import { testScope } from "../../support/scope.ts";
import { call, children, isAlive, started, stopAll } from "./started.ts";

afterEach(async () => {
  vi.useRealTimers();
  await stopAll();
});

const scope = testScope();
const LONG_MS = 2 ** 31 - 1;
/** Long enough that no test sees its end. */
const NO_RESTART: Partial<LifeTimes> = { backoffMs: LONG_MS, maxBackoffMs: LONG_MS };

/** A scope that remembers what the operator was told. */
function listening(): { scope: ReturnType<typeof testScope>; told: string[] } {
  const told: string[] = [];
  const report = (error: unknown) => {
    told.push(error instanceof Notice ? error.message : `no notice: ${String(error)}`);
  };
  return { scope: testScope({ report }), told };
}

describe("one process per connector", () => {
  test("starts with the first call and is shared by all", async () => {
    const crm = started();
    expect(crm.errorOutput?.()).toBe("");
    const pids = await Promise.all([call(crm, "pid"), call(crm, "pid"), call(crm, "pid")]);
    expect(new Set(pids).size).toBe(1);
  });

  test("is ended when it is idle, and another one starts when it is needed", async () => {
    const crm = started({ times: { idleMs: 1 } });
    const first = await call(crm, "pid");
    await expect.poll(() => isAlive(first)).toBe(false);
    const second = await call(crm, "pid");
    expect(second).not.toBe(first);
  });

  test("is not idle while a call is under way", async () => {
    const crm = started({ times: { idleMs: 1 } });
    const caller = new AbortController();
    const hanging = crm.callTool("hang", {}, testScope({ signal: caller.signal }));
    const first = await call(crm, "pid");
    expect(await call(crm, "pid")).toBe(first);
    caller.abort();
    await hanging;
    await expect.poll(() => isAlive(first)).toBe(false);
  });

  test("a caller that leaves while it starts fails alone", async () => {
    const crm = started();
    const caller = new AbortController();
    const left = crm.callTool("pid", {}, testScope({ signal: caller.signal }));
    const stayed = call(crm, "pid");
    caller.abort();
    expect(await left).toMatchObject({ failure: { code: "cancelled" } });
    expect(await stayed).toBeTypeOf("number");
  });
});

describe("a process that ends by itself", () => {
  test("fails the call that it worked on, and the next call finds another one", async () => {
    const crm = started();
    const first = await call(crm, "pid");
    expect(await call(crm, "crash")).toBe("unavailable");
    const second = await call(crm, "pid");
    expect(second).toBeTypeOf("number");
    expect(second).not.toBe(first);
  });

  test("is not started again and again: after a second crash calls are refused for a while", async () => {
    const crm = started({ times: NO_RESTART });
    expect(await call(crm, "crash")).toBe("unavailable");
    expect(await call(crm, "crash")).toBe("unavailable");
    const refused = await crm.callTool("pid", {}, scope);
    expect(refused).toMatchObject({
      failure: {
        code: "unavailable",
        message: "crm ended with exit code 3; it is not started again yet.",
      },
    });
    expect(!refused.ok && refused.failure.retryAfterMs).toBeGreaterThan(1_000_000);
  });

  test("is started again after the wait, which doubles up to its bound", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const crm = started({ times: { backoffMs: 1_000, maxBackoffMs: 3_000 } });
    const waits: number[] = [];
    for (let crashes = 0; crashes < 5; crashes++) {
      expect(await call(crm, "crash")).toBe("unavailable");
      const next = await crm.callTool("echo", {}, scope);
      const wait = next.ok ? 0 : (next.failure.retryAfterMs ?? -1);
      waits.push(wait);
      vi.advanceTimersByTime(wait);
    }
    expect(waits).toEqual([0, 1_000, 2_000, 3_000, 3_000]);
    expect(await call(crm, "echo")).toEqual({});
  });

  test("counts as well again when it lived long enough", async () => {
    const crm = started({ times: { ...NO_RESTART, healthyMs: 0 } });
    for (let crashes = 0; crashes < 3; crashes++) {
      expect(await call(crm, "crash")).toBe("unavailable");
      expect(await call(crm, "echo")).toEqual({});
    }
  });

  test("its last words are for the operator alone", async () => {
    const { scope, told } = listening();
    const crm = started();
    const failed = await crm.callTool("crash", {}, scope);
    expect(JSON.stringify(failed)).not.toContain("about to fall over");
    await expect
      .poll(() => told)
      .toEqual(["crm ended with exit code 3. Its last words: about to fall over"]);
  });
});

describe("a start that fails", () => {
  test("says how, tells the operator why, and is not repeated at once", async () => {
    const { scope, told } = listening();
    const crm = started({
      how: { exit: 1, stderr: "loading\nMISSING API_KEY\n" },
      times: NO_RESTART,
    });
    expect(await crm.listTools(scope)).toMatchObject({
      failure: {
        code: "unavailable",
        message: "crm ended with exit code 1 before it answered.",
      },
    });
    expect(told).toEqual([
      "crm ended with exit code 1 before it answered. Its last words: MISSING API_KEY",
    ]);
    const again = await crm.listTools(scope);
    expect(again).toMatchObject({ failure: { code: "unavailable" } });
    expect(JSON.stringify(again)).toContain("not started again yet");
    expect(told).toHaveLength(1);
  });

  test("a command that does not exist is named as such", async () => {
    const crm = started({ options: { command: "connecta-no-such-command" } });
    expect(await crm.listTools(scope)).toMatchObject({
      failure: { code: "unavailable", message: "crm could not be started (ENOENT)." },
    });
  });

  test("a directory that does not exist is no other failure", async () => {
    const crm = started({ options: { cwd: "/connecta-no-such-directory" } });
    expect(await crm.listTools(scope)).toMatchObject({ failure: { code: "unavailable" } });
  });

  test("a process that never answers is ended at its own deadline", async () => {
    const { scope, told } = listening();
    const args = ["-e", "console.error(process.pid); setInterval(() => {}, 1000)"];
    const crm = started({ options: { args, startTimeoutMs: 1_500 } });
    expect(await crm.listTools(scope)).toMatchObject({
      failure: {
        code: "unavailable",
        message: "crm did not answer the handshake within 1500 ms.",
      },
    });
    const [pid] = /\d+/.exec(crm.errorOutput?.() ?? "") ?? [];
    expect(told[0]).toContain(`Its last words: ${pid}`);
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  test("a process that answers with something else is named as such", async () => {
    const crm = started({ how: { era: "empty" } });
    expect(await crm.listTools(scope)).toMatchObject({
      failure: {
        code: "unavailable",
        message: "crm answered the handshake with something that is no MCP.",
      },
    });
  });
});

describe("ending", () => {
  test.skipIf(!existsSync("/proc/self/stat"))(
    "leaves no process of this one, neither the server nor its watch",
    async () => {
      const before = new Set(children());
      const ours = () => children().filter((pid) => !before.has(pid));
      const crm = started();
      await call(crm, "pid");
      expect(ours()).toHaveLength(2);
      await call(crm, "crash");
      await expect.poll(ours).toEqual([]);
      await call(crm, "pid");
      await crm.close?.();
      await expect.poll(ours).toEqual([]);
    },
  );

  test("a server that ends when its input is closed is asked for nothing more", async () => {
    const crm = started({ times: { closeMs: LONG_MS, termMs: LONG_MS } });
    const pid = await call(crm, "pid");
    await crm.close?.();
    expect(isAlive(pid)).toBe(false);
  });

  test("a server that ignores its closed input and SIGTERM is ended by force", async () => {
    const crm = started({ how: { ignoresEnd: true }, times: { closeMs: 20, termMs: 20 } });
    const pid = await call(crm, "pid");
    await crm.close?.();
    expect(isAlive(pid)).toBe(false);
  });

  test("a close that only waits for the closed input would not end it (control)", async () => {
    const crm = started({ how: { ignoresEnd: true }, times: { closeMs: LONG_MS, termMs: 20 } });
    const pid = await call(crm, "pid");
    const closing = crm.close?.();
    expect(await Promise.race([closing, stillOpen(100)])).toBe("still open");
    expect(isAlive(pid)).toBe(true);
    process.kill(Number(pid), "SIGKILL");
    await closing;
  });

  test("what the server started ends with it", async () => {
    const crm = started({ times: { closeMs: 20 } });
    const family = (await call(crm, "family")) as number[];
    expect(family.map(isAlive)).toEqual([true, true]);
    await crm.close?.();
    await expect.poll(() => family.map(isAlive)).toEqual([false, false]);
  });

  test("what a crashed server started ends with it", async () => {
    const crm = started();
    const family = (await call(crm, "family")) as number[];
    await call(crm, "crash");
    await expect.poll(() => family.map(isAlive)).toEqual([false, false]);
  });

  test("a connector that was closed while its process started leaves none, and starts no other", async () => {
    const crm = started();
    const starting = crm.listTools(scope);
    await crm.close?.();
    expect(await starting).toMatchObject({ failure: { code: "unavailable" } });
    expect(await call(crm, "pid")).toBe("unavailable");
  });
});

/** What a race ends with when the other side has not ended by then. */
function stillOpen(ms: number): Promise<string> {
  return new Promise((resolve) => {
    setTimeout(() => resolve("still open"), ms);
  });
}
