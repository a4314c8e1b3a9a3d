import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { quickjsExecutor, type QuickJsExecutor } from "../../server/sandbox/pool.ts";
import { exists, gate, host, limitsWith, report, startPool, waitingRun } from "./support.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let one: QuickJsExecutor;
let two: QuickJsExecutor;
beforeAll(() => {
  one = quickjsExecutor({ processes: 1 });
  two = quickjsExecutor({ processes: 2 });
});
beforeEach(() => Promise.all([one.warm(), two.warm()]));
afterAll(() => Promise.all([one.close(), two.close()]));

const STUCK = "async () => Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)";

/** Starts a run in each of two processes and waits until both wait for the host. */
async function neighbours(pool: QuickJsExecutor) {
  const runs = [waitingRun(pool), waitingRun(pool)];
  await Promise.all(runs.map(({ waits }) => waits));
  return {
    goOn: () => runs.forEach((run) => run.goOn()),
    reports: Promise.all(runs.map((run) => run.report)),
  };
}

describe("L4: a program that goes wrong", () => {
  it.each([
    ["loops", "async () => { for (;;); }", "executor_limit"],
    [
      "fills its memory",
      "async () => { const a = []; for (;;) a.push(new Uint8Array(1 << 20)) }",
      "executor_limit",
    ],
    [
      "starts one endless async function after the other",
      "async () => { const f = async () => { for (;;); }; for (;;) f(); }",
      "executor_limit",
    ],
    [
      "floods the host with calls",
      "async () => Promise.all(Array.from({ length: 1_000_000 }, async () => host.echo('a')))",
      "budget_exceeded",
    ],
    ["recurses", "async () => { (function f() { f() })() }", "executor_limit"],
    ["waits for nothing", "async () => new Promise(() => {})", "program_error"],
  ])(
    "because it %s takes no run of its process or of another with it",
    async (_, code, failure) => {
      const pool = two;
      const pids = pool.pids;
      const others = await neighbours(pool);
      const limits = limitsWith({ cpuMs: 1_000 });
      const echo = (text: unknown) => Promise.resolve(text);
      const bad = await Promise.all(
        [1, 2].map(() => report(pool, code, host({ echo }), { limits })),
      );
      others.goOn();
      expect(bad.map(({ failures }) => failures[0]?.code)).toEqual([failure, failure]);
      expect((await others.reports).map(({ result }) => result)).toEqual(["went on", "went on"]);
      expect(pool.pids).toEqual(pids);
    },
  );

  it("in a native call that never asks takes the runs of its process alone", async () => {
    const pool = two;
    const pids = pool.pids;
    const others = await neighbours(pool);
    const offender = await report(pool, STUCK);
    others.goOn();
    const reports = await others.reports;
    expect(offender.failures).toMatchObject([{ code: "executor_limit", limit: "cpu" }]);
    expect(reports.map(({ result }) => result).sort()).toEqual(["went on", undefined]);
    expect(reports.flatMap(({ failures }) => failures)).toMatchObject([
      { code: "executor_crashed", retryable: true },
    ]);
    expect(pool.pids.filter((pid) => pids.includes(pid))).toHaveLength(1);
    await pool.warm();
    expect(pool.pids).toHaveLength(2);
  });
});

describe("L4: a process that dies", () => {
  it("fails its runs as crashed and the next run works", async () => {
    const pool = one;
    const [pid = 0] = pool.pids;
    const run = waitingRun(pool);
    await run.waits;
    process.kill(pid, "SIGKILL");
    const died = await run.report;
    expect(died.failures).toEqual([
      {
        code: "executor_crashed",
        message: "The sandbox process of this program ended.",
        retryable: true,
      },
    ]);
    expect(died.error).toBe(died.failures[0]?.message);
    expect((await report(pool, "async () => 'next'")).result).toBe("next");
    expect(pool.pids).not.toContain(pid);
  });

  it("is replaced although nobody asks for a run", async () => {
    const pool = one;
    const [pid = 0] = pool.pids;
    process.kill(pid, "SIGKILL");
    await vi.waitFor(() => expect(pool.pids).not.toContain(pid), 10_000);
    await pool.ready();
    expect(pool.pids).toHaveLength(1);
  });

  it("is not asked for by a terminal: SIGINT and SIGTERM are the server's to judge", async () => {
    const pool = one;
    const [pid = 0] = pool.pids;
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.kill(pid, signal);
    expect((await report(pool, "async () => 'still there'")).result).toBe("still there");
    expect(pool.pids).toEqual([pid]);
  });
});

describe("L3: cancelling", () => {
  it("ends a waiting run at once and leaves its neighbour alone", async () => {
    const pool = one;
    const neighbour = waitingRun(pool);
    const started = gate();
    const controller = new AbortController();
    const wait = async () => {
      started.open();
      return new Promise(() => {});
    };
    const run = report(pool, "async () => host.wait()", host({ wait }), {
      signal: controller.signal,
    });
    await Promise.all([neighbour.waits, started.opened]);
    controller.abort();
    expect(await run).toMatchObject({
      error: "The run was cancelled.",
      failures: [{ code: "executor_cancelled", retryable: false }],
    });
    neighbour.goOn();
    expect((await neighbour.report).result).toBe("went on");
  });

  it("ends a computing run for its caller and the next one runs", async () => {
    const pool = one;
    const started = gate();
    const controller = new AbortController();
    const code = "async () => { host.started(); await null; for (;;); }";
    const fns = {
      started: async () => {
        started.open();
      },
    };
    const run = report(pool, code, host(fns), { signal: controller.signal });
    await started.opened;
    controller.abort();
    expect((await run).failures).toMatchObject([{ code: "executor_cancelled" }]);
    expect((await report(pool, "async () => 'next'")).result).toBe("next");
  });

  it("stops a computing run long before its CPU budget would, and keeps its process", async () => {
    const pool = one;
    const before = pool.pids;
    const neighbour = waitingRun(pool);
    await neighbour.waits;
    const limits = limitsWith({ cpuMs: 3_600_000, timeoutMs: 3_600_000 });
    const started = gate();
    const controller = new AbortController();
    const fns = { started: async () => started.open() };
    const code = "async () => { host.started(); await null; for (;;); }";
    const run = report(pool, code, host(fns), { signal: controller.signal, limits });
    await started.opened;
    controller.abort();
    expect((await run).failures).toMatchObject([{ code: "executor_cancelled" }]);
    neighbour.goOn();
    expect((await neighbour.report).result).toBe("went on");
    expect(pool.pids).toEqual(before);
  });

  it("ends runs that wait behind a computing one, and none of them computes first", async () => {
    const pool = one;
    const before = pool.pids;
    const limits = limitsWith({ cpuMs: 3_600_000, timeoutMs: 3_600_000 });
    const started = gate();
    const providers = host({ started: async () => started.open() });
    const run = (code: string, signal?: AbortSignal) =>
      report(pool, code, providers, { limits, ...(signal && { signal }) });
    // Four at once leave as many interpreters, with which later runs begin in their frames' turn.
    await Promise.all(Array.from({ length: 4 }, () => run("async () => 1")));
    const computing = new AbortController();
    const behind = new AbortController();
    const first = run("async () => { host.started(); await null; for (;;); }", computing.signal);
    const others = [1, 2, 3].map(() => run("async () => { for (;;); }", behind.signal));
    await started.opened;
    behind.abort();
    computing.abort();
    for (const ended of [first, ...others]) {
      expect((await ended).failures).toMatchObject([{ code: "executor_cancelled" }]);
    }
    expect((await report(pool, "async () => 'next'")).result).toBe("next");
    expect(pool.pids).toEqual(before);
  });

  it("before the start calls nothing", async () => {
    const pool = one;
    const aborted = await report(pool, "async () => 1", [], { signal: AbortSignal.abort() });
    expect(aborted.failures).toMatchObject([{ code: "executor_cancelled" }]);
  });

  it("in the moment of the start is answered once, and no interpreter is lost", async () => {
    const pool = one;
    for (let at = 0; at < 50; at++) {
      const controller = new AbortController();
      const run = report(pool, "async () => 1", [], { signal: controller.signal });
      controller.abort();
      expect((await run).failures).toMatchObject([{ code: "executor_cancelled" }]);
    }
    expect((await report(pool, "async () => 2")).result).toBe(2);
  });

  it("leaves no listener on the signal", async () => {
    const pool = one;
    const controller = new AbortController();
    const added = vi.spyOn(controller.signal, "addEventListener");
    const removed = vi.spyOn(controller.signal, "removeEventListener");
    await report(pool, "async () => 1", [], { signal: controller.signal });
    expect(added).toHaveBeenCalledOnce();
    expect(removed.mock.calls[0]?.slice(0, 2)).toEqual(added.mock.calls[0]?.slice(0, 2));
  });
});

describe("a host function", () => {
  it("that answers after its run has ended disturbs nobody", async () => {
    const pool = one;
    const late = gate();
    const answered = gate();
    const slow = async () => {
      await late.opened;
      answered.open();
      return "late";
    };
    const code = "async () => { host.slow(); return 'early' }";
    expect((await report(pool, code, host({ slow }))).result).toBe("early");
    late.open();
    await answered.opened;
    expect((await report(pool, "async () => 'next'")).result).toBe("next");
  });
});

describe("P4: what a program changes", () => {
  const POLLUTE = `async () => {
    const evil = () => { throw "polluted" };
    const { ownKeys } = Reflect;
    const targets = [JSON, Object, Array, Promise, Error, String, Function, Map, RegExp, Symbol,
      Object.prototype, Array.prototype, Promise.prototype, Error.prototype, String.prototype,
      Function.prototype, Map.prototype, RegExp.prototype, Reflect];
    for (let at = 0; at < targets.length; at++) {
      const keys = ownKeys(targets[at]);
      for (let i = 0; i < keys.length; i++) {
        try { targets[at][keys[i]] = evil } catch {}
      }
    }
    globalThis.Promise = globalThis.String = globalThis.Error = globalThis.Object = evil;
    globalThis.left = "behind";`;

  it("before it uses the bridge does not break the bridge", async () => {
    const pool = one;
    const providers = host({ echo: async (value) => value });
    const code = `${POLLUTE} console.log("log", 1);
      let thrown; try { [].map() } catch (error) { thrown = error }
      return { thrown, text: await host.echo("text"), json: await host.echo({ a: [1] }) }; }`;
    const { result, logs, error } = await report(pool, code, providers);
    expect([error, logs]).toEqual([undefined, ["log 1"]]);
    expect(result).toEqual({ thrown: "polluted", text: "text", json: { a: [1] } });
  });

  it("is gone for the next program, which runs in the same instance", async () => {
    const pool = one;
    expect((await report(pool, `${POLLUTE} return 1; }`)).result).toBe(1);
    const code = `async () => [typeof left, [1].map((n) => n), JSON.stringify({ a: 1 }),
      String(1), await Promise.all([1])]`;
    for (let at = 0; at < 10; at++) {
      expect((await report(pool, code)).result).toEqual(["undefined", [1], '{"a":1}', "1", [1]]);
    }
  });

  it("of Math.random and Date is nothing that another run sees", async () => {
    const pool = one;
    const code =
      "async () => { const n = Math.random(); Math.random = () => 7; Date.now = 0; return n }";
    const numbers = new Set();
    for (let at = 0; at < 20; at++) numbers.add((await report(pool, code)).result);
    expect(numbers.size).toBe(20);
    expect([...numbers].every((n) => typeof n === "number" && n >= 0 && n < 1)).toBe(true);
  });
});

describe("P2: a program", () => {
  it("finds the language and its providers, and nothing else", async () => {
    const pool = one;
    const code = `async () => Reflect.ownKeys(globalThis)
      .filter((key) => !/^[A-Z]/.test(String(key))).map(String)`;
    const { result } = await report(pool, code, host({}));
    expect(result).toEqual([
      "parseInt",
      "parseFloat",
      "isNaN",
      "isFinite",
      "decodeURI",
      "decodeURIComponent",
      "encodeURI",
      "encodeURIComponent",
      "escape",
      "unescape",
      "undefined",
      "eval",
      "globalThis",
      "console",
      "host",
    ]);
    for (const name of ["SharedArrayBuffer", "Atomics", "WebAssembly", "InternalError"]) {
      expect((await report(pool, `async () => typeof ${name}`)).result).toBe("undefined");
    }
  });

  it.each(["import('node:fs')", "import('./program.js')", "import('')"])(
    "cannot load a module: %s rejects",
    async (expression) => {
      const pool = one;
      const code = `async () => ${expression}.catch((error) => "refused " + error.name)`;
      expect((await report(pool, code)).result).toBe("refused ReferenceError");
    },
  );

  it("finds no way to the functions of the bridge", async () => {
    const pool = one;
    const code = `async () => {
      const found = [];
      const look = (value) => { if (typeof value === "function") found.push(value.name) };
      Error.prepareStackTrace = (error, frames) => {
        for (const frame of frames ?? []) { look(frame.getFunction?.()); look(frame.getThis?.()) }
        return "";
      };
      Object.defineProperty(Promise.prototype, "then", { value: function (...args) {
        args.forEach(look); try { look(this.then.caller) } catch {} } });
      try { (function f() { look(f.caller); look(arguments.callee) }).call() } catch {}
      await host.one(new Error().stack);
      return found;
    }`;
    expect((await report(pool, code, host({ one: async () => 1 }))).result).toEqual([]);
  });

  it("cannot keep a process busy after its end", async () => {
    const pool = one;
    const code = "() => { (async () => { for (;;) await null })(); return 'done' }";
    expect((await report(pool, code)).result).toBe("done");
    expect((await report(pool, "async () => 'next'")).result).toBe("next");
  });
});

describe("L2: placing", () => {
  it("gives a run to the process that does not compute", async () => {
    const pool = await startPool(2);
    const started = gate();
    const fns = {
      started: async () => {
        started.open();
      },
    };
    const code = "async () => { await host.started(); for (;;); }";
    const stop = new AbortController();
    const limits = limitsWith({ cpuMs: 50_000 });
    const busy = report(pool, code, host(fns), { limits, signal: stop.signal });
    await started.opened;
    const soon = { limits: limitsWith({ timeoutMs: 10_000 }) };
    for (let at = 0; at < 20; at++) {
      expect((await report(pool, `async () => ${at}`, [], soon)).result).toBe(at);
    }
    stop.abort();
    await busy;
  });

  it("carries 64 waiting runs in two processes", async () => {
    const pool = two;
    const runs = Array.from({ length: 64 }, () => waitingRun(pool));
    await Promise.all(runs.map(({ waits }) => waits));
    expect((await report(pool, "async () => 'meanwhile'")).result).toBe("meanwhile");
    for (const run of runs) run.goOn();
    const reports = await Promise.all(runs.map((run) => run.report));
    expect(reports.filter(({ result }) => result === "went on")).toHaveLength(64);
    expect(pool.pids.every(exists)).toBe(true);
  });
});
