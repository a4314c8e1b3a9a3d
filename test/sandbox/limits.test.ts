import { describe, expect, it, vi } from "vitest";
import { gate, host, limitsWith, report, sharedPool, startPool } from "./support.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const pool = sharedPool();

const LOOP = "for (;;);";
const RECURSE = "(function deeper() { return deeper() + 1 })()";
const HOARD = "const kept = []; for (;;) kept.push(new Uint8Array(1 << 20).fill(1));";

describe("L1, L4: CPU", () => {
  it.each([
    ["in a loop", `async () => { ${LOOP} }`],
    ["before the function is there", `${LOOP} async () => 1`],
    ["after a wait", `async () => { await host.one(); ${LOOP} }`],
    ["that catches everything", `async () => { for (;;) try { ${LOOP} } catch {} finally {} }`],
    ["in a getter of the result", `async () => ({ get a() { ${LOOP} } })`],
    ["in toJSON", `async () => ({ toJSON() { ${LOOP} } })`],
    ["in a promise chain that never stalls", "async () => { for (;;) await null }"],
    [
      "in jobs that queue more jobs",
      `async () => {
       const more = () => Promise.resolve().then(more); more(); more(); await host.never() }`,
    ],
    ["in a thenable", `async () => ({ then() { ${LOOP} } })`],
    [
      "when a host call settles",
      `async () => {
       Object.defineProperty(Object.prototype, "then", { get() { ${LOOP} } });
       return host.object() }`,
    ],
    ["in a regular expression", "async () => /^(a+)+$/.test('a'.repeat(40) + 'b')"],
    [
      "in native calls that each end soon",
      `async () => {
       const text = "a".repeat(200_000);
       const none = "a".repeat(100) + "b";
       let found = 0;
       for (let i = 0; i < 100; i++) found += text.indexOf(none);
       return found }`,
    ],
    ["in a sort", "async () => [3, 1, 2].sort(() => { for (;;); })"],
  ])("spent %s ends the run by name", async (_, code) => {
    const fns = {
      one: async () => 1,
      object: async () => ({}),
      never: () => new Promise(() => {}),
    };
    const { error, failures } = await report(pool, code, host(fns as never));
    expect(failures).toEqual([
      {
        code: "executor_limit",
        message: "The program used more than its 250 ms of CPU time.",
        retryable: false,
        limit: "cpu",
      },
    ]);
    expect(error).toBe(failures[0]?.message);
  });

  it("is counted over all bursts of a run, not for each", async () => {
    const code = `async () => {
      for (let at = 0; at < 100; at++) {
        for (let i = 0; i < 200_000; i++);
        await host.one();
      }
    }`;
    const limits = limitsWith({ cpuMs: 100 });
    const { failures } = await report(pool, code, host({ one: async () => 1 }), { limits });
    expect(failures).toMatchObject([{ code: "executor_limit", limit: "cpu" }]);
  });

  it("of a native call that never asks is ended from outside, and the process replaced", async () => {
    const [before] = pool.pids;
    const code = "async () => Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)";
    const { failures } = await report(pool, code);
    expect(failures).toMatchObject([{ code: "executor_limit", limit: "cpu" }]);
    expect((await report(pool, "async () => 'next'")).result).toBe("next");
    expect(pool.pids).not.toContain(before);
  });

  it("is not spent by waiting, nor by moving a large host result in", async () => {
    const items = Array.from({ length: 20_000 }, (_, id) => ({ id, text: "x".repeat(200) }));
    const limits = limitsWith({ cpuMs: 40 });
    const providers = host({ items: async () => items });
    const code = "async () => (await host.items()).length";
    const { result, failures } = await report(pool, code, providers, { limits });
    expect([result, failures]).toEqual([20_000, []]);
  });

  it("of eight programs at once on two processes is each program's own", async () => {
    const two = await startPool(2);
    const code = "async () => { let n = 0; for (let i = 0; i < 2_000_000; i++) n += i; return n; }";
    const reports = await Promise.all(Array.from({ length: 8 }, () => report(two, code)));
    expect(reports.flatMap(({ failures }) => failures)).toEqual([]);
    expect(reports.map(({ result }) => result)).toEqual(Array(8).fill(1_999_999_000_000));
  });
});

describe("L1, L4: memory", () => {
  it.each([
    ["typed arrays", `async () => { ${HOARD} }`],
    ["one string", "async () => 'x'.repeat(100_000_000)"],
    ["doubling strings", "async () => { let s = 'ab'; for (;;) s = s.replace(/^/, s); }"],
    ["after a wait", `async () => { await host.one(); ${HOARD} }`],
  ])("for %s ends the run by name", async (_, code) => {
    const limits = limitsWith({ cpuMs: 5_000 });
    const outcome = await report(pool, code, host({ one: async () => 1 }), { limits });
    expect(outcome.failures).toMatchObject([{ code: "executor_limit", limit: "memory" }]);
    expect(outcome.error).toBe("The program used more than its 64 MiB of memory.");
  });

  it("that a host result does not fit into ends the run by name", async () => {
    const limits = limitsWith({ heapBytes: 4 * 1024 * 1024 });
    const providers = host({ text: async () => "x".repeat(6_000_000) });
    const outcome = await report(pool, "async () => host.text()", providers, { limits });
    expect(outcome.failures).toMatchObject([{ code: "executor_limit", limit: "memory" }]);
  });

  it.each([
    ["that would cross it", "'x'.repeat(100_000_000)"],
    ["beyond what any memory can be", "'€'.repeat(2 ** 30 - 1)"],
  ])("refused to one allocation %s ends the run, caught or not", async (_, expression) => {
    const caught = `async () => { try { return ${expression}.length } catch { return "went on" } }`;
    for (const code of [`async () => ${expression}`, caught]) {
      const { result, failures } = await report(pool, code);
      expect(failures).toMatchObject([{ code: "executor_limit", limit: "memory" }]);
      expect(result).toBeUndefined();
    }
  });

  it("may be used up to the limit, although growing asks for more than is needed", async () => {
    const code = `async () => {
      const kept = [];
      for (let i = 0; i < 58; i++) kept.push(new Uint8Array(1 << 20));
      return kept.length;
    }`;
    expect(await report(pool, code)).toMatchObject({ result: 58, failures: [] });
    const { failures } = await report(pool, code.replace("58", "64"));
    expect(failures).toMatchObject([{ code: "executor_limit", limit: "memory" }]);
  });

  it("used up bit by bit ends the run, whatever the program catches", async () => {
    const limits = limitsWith({ cpuMs: 5_000 });
    const code = `async () => { try { ${HOARD} } catch { return "went on" } }`;
    const { failures } = await report(pool, code, [], { limits });
    expect(failures).toMatchObject([{ code: "executor_limit", limit: "memory" }]);
  });

  // How much is left at the end decides what of the interpreter itself finds no memory.
  it.each([300_000, 400_000, 600_000, 700_000, 1_100_000])(
    "used up to the last bytes, in ever smaller pieces from %i bytes, ends the run by name",
    async (bytes) => {
      const code = `async () => {
        const kept = [];
        for (let size = ${bytes}; size > 100; size = Math.floor(size / 2)) {
          try { for (;;) kept.push(new Uint8Array(size)) } catch {}
        }
        return "went on";
      }`;
      const { failures } = await report(pool, code);
      expect(failures).toMatchObject([{ code: "executor_limit", limit: "memory" }]);
    },
  );

  it("of all runs of a process together is bounded", async () => {
    const held = gate();
    let holding = 0;
    const hold = async () => {
      holding++;
      await held.opened;
      return "held";
    };
    const code = "async () => { const kept = new Uint8Array(50 << 20); return host.hold(); }";
    const one = await startPool(1);
    const runs = Array.from({ length: 16 }, () => report(one, code, host({ hold })));
    const first = await Promise.race(runs);
    held.open();
    const reports = await Promise.all(runs);
    expect(first.failures).toMatchObject([{ code: "executor_limit", limit: "memory" }]);
    expect(first.error).toBe(
      "The program ran out of the memory that all programs of a sandbox process share.",
    );
    expect(holding).toBeGreaterThan(5);
    expect(holding).toBeLessThan(11);
    expect(reports.filter(({ result }) => result === "held")).toHaveLength(holding);
  });
});

describe("L4: processHeapBytes", () => {
  it("bounds the heaps of a process's runs as a deployment says", async () => {
    const one = await startPool(1);
    const limits = limitsWith({ processHeapBytes: 80 << 20 });
    const code = "async () => { const kept = new Uint8Array(50 << 20); return host.hold(); }";
    const held = gate();
    const holds = gate();
    const hold = async () => {
      holds.open();
      await held.opened;
      return "held";
    };
    const first = report(one, code, host({ hold }), { limits });
    await holds.opened;
    const second = await report(one, code, host({ hold }), { limits });
    held.open();
    expect(second.failures).toMatchObject([{ code: "executor_limit", limit: "memory" }]);
    expect(second.error).toContain("share");
    expect((await first).result).toBe("held");
    // The first one's memory is free again.
    expect((await report(one, code, host({ hold }), { limits })).result).toBe("held");
  });
});

describe("L1: stack", () => {
  it.each([
    ["plain recursion", `async () => ${RECURSE}`],
    [
      "recursion through a native function",
      `async () => {
       const deeper = () => [1].map(deeper); deeper() }`,
    ],
    ["a getter", "async () => { const o = { get a() { return this.a } }; return o.a }"],
    [
      "a proxy chain",
      `async () => {
       let p = {}; for (let i = 0; i < 100_000; i++) p = new Proxy(p, {}); return p.x }`,
    ],
    [
      "a bound chain",
      `async () => {
       let f = () => 1;
       for (let i = 0; i < 50_000; i++) {
         f = f.bind(null);
         Object.defineProperty(f, "name", { value: "" });
       }
       return f() }`,
    ],
    [
      "a deep result",
      `async () => {
       let o = {}; for (let i = 0; i < 100_000; i++) o = { o }; return o }`,
    ],
    ["a deep text", "async () => JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))"],
    ["a deep expression", "async () => new Function('return ' + '('.repeat(50_000))"],
  ])("used up by %s ends the run by name", async (_, code) => {
    const limits = limitsWith({ cpuMs: 5_000 });
    const { error, failures } = await report(pool, code, [], { limits });
    expect([error, failures]).toMatchObject([
      "The program recursed deeper than its 256 KiB of stack.",
      [{ code: "executor_limit", limit: "stack" }],
    ]);
  });

  it("is what the limit says: half of it, half the depth", async () => {
    const code = `async () => {
      let depth = 0; const deeper = () => { depth++; deeper() };
      try { deeper() } catch { return depth }
    }`;
    const whole = await report(pool, code);
    const half = await report(pool, code, [], { limits: limitsWith({ stackBytes: 131_072 }) });
    expect(Number(half.result) / Number(whole.result)).toBeCloseTo(0.5, 1);
  });
});

describe("L1: time", () => {
  it("ends a run that waits longer than it may", async () => {
    const limits = limitsWith({ timeoutMs: 60 });
    const providers = host({ never: () => new Promise(() => {}) });
    const outcome = await report(pool, "async () => host.never()", providers, { limits });
    expect(outcome).toMatchObject({
      error: "The program ran longer than 60 ms.",
      failures: [{ code: "executor_timeout", timeoutMs: 60, retryable: false }],
    });
  });

  it("is not waited for when nothing can settle any more", async () => {
    const outcome = await report(pool, "async () => { await new Promise(() => {}) }");
    expect(outcome.failures).toMatchObject([{ code: "program_error" }]);
    expect(outcome.error).toMatch(/can never settle/);
  });
});

describe("L1: sizes", () => {
  const providers = host({
    size: async (text) => String(text).length,
    text: async (length) => "é".repeat(Number(length)),
  });

  it("of an argument are bounded: the call rejects and the program goes on", async () => {
    const limits = limitsWith({ maxArgumentBytes: 1_000 });
    const code = `async () => [
      await host.size("x".repeat(1_000)),
      await host.size("x".repeat(1_001)).catch((error) => error.message),
      await host.size("é".repeat(501)).catch((error) => error.message),
      await host.size({ a: "x".repeat(1_000) }).catch((error) => error.message),
    ]`;
    const { result } = await report(pool, code, providers, { limits });
    expect(result).toEqual([
      1_000,
      "The arguments are 1001 bytes; at most 1000 bytes leave a program.",
      "The arguments are 1002 bytes; at most 1000 bytes leave a program.",
      "The arguments are 1010 bytes; at most 1000 bytes leave a program.",
    ]);
  });

  it("of a host result are bounded: the call rejects and the program goes on", async () => {
    const limits = limitsWith({ maxResultBytes: 1_000 });
    const code = `async () => [
      (await host.text(500)).length, await host.text(501).catch((error) => error.message),
    ]`;
    const { result } = await report(pool, code, providers, { limits });
    expect(result).toEqual([
      500,
      "The result of host.text is 1002 bytes; at most 1000 bytes enter a program.",
    ]);
  });

  it("of the program's result are bounded", async () => {
    const limits = limitsWith({ maxResultBytes: 1_000 });
    const fits = await report(pool, "async () => 'x'.repeat(1000)", [], { limits });
    expect(fits.result).toHaveLength(1_000);
    for (const code of ["async () => 'x'.repeat(1001)", "async () => ['x'.repeat(997)]"]) {
      const outcome = await report(pool, code, [], { limits });
      expect(outcome).toMatchObject({
        error: "The result is 1001 bytes; at most 1000 bytes leave a program.",
        failures: [{ code: "result_too_large", bytes: 1_001, maxBytes: 1_000 }],
      });
    }
  });

  it("of the source are bounded, in bytes", async () => {
    const limits = limitsWith({ maxSourceBytes: 100 });
    const source = (bytes: number) => `async () => 1 //${"é".repeat((bytes - 16) / 2)}`;
    expect((await report(pool, source(100), [], { limits })).result).toBe(1);
    const { failures } = await report(pool, source(102), [], { limits });
    expect(failures).toMatchObject([{ code: "invalid_program", bytes: 102, maxBytes: 100 }]);
  });

  it("may all be used: 4 MiB out, 8 MiB in, and a result as large", async () => {
    const code = `async () => {
      const sent = await host.size("x".repeat(4 * 1024 * 1024));
      const text = await host.text(4 * 1024 * 1024);
      return text;
    }`;
    const { result, failures } = await report(pool, code, providers);
    expect(failures).toEqual([]);
    expect(result === "é".repeat(4 * 1024 * 1024)).toBe(true);
  });
});
