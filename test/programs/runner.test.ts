import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { Invoker } from "../../server/invoke/invoke.ts";
import { api, tool } from "../../server/connectors/api.ts";
import { Runner } from "../../server/programs/runner.ts";
import { readProgram, type SourceReader } from "../../server/programs/source.ts";
import type { Connector, Executor, Provider } from "../../server/shared/contracts.ts";
import { fail } from "../../server/shared/failure.ts";
import { defaultExecuteLimits, type ExecuteLimits } from "../../server/shared/limits.ts";
import { testScope } from "../support/scope.ts";

function runner(
  execute: Executor["execute"],
  limits: Partial<ExecuteLimits> = {},
  sources?: SourceReader,
): Runner {
  const catalogs = new Catalogs([]);
  return new Runner({
    connectors: [],
    catalogs,
    invoker: new Invoker(catalogs),
    executor: { execute },
    limits: { ...defaultExecuteLimits(), ...limits },
    sources,
  });
}

const never = () => new Promise<never>(() => {});

describe("executors of any kind", () => {
  test("X1: one that ignores its deadline is abandoned, and gives its permit back", async () => {
    vi.useFakeTimers();
    try {
      const one = runner(never, { maxRuns: 1, timeoutMs: 1_000 });
      const first = one.run("return 1", false, testScope());
      await vi.advanceTimersByTimeAsync(1_500);
      expect(await first).toMatchObject({ envelope: { error: { code: "executor_timeout" } } });
      const second = one.run("return 1", false, testScope());
      await vi.advanceTimersByTimeAsync(1_500);
      expect(await second).toMatchObject({ envelope: { error: { code: "executor_timeout" } } });
    } finally {
      vi.useRealTimers();
    }
  });

  test("L3: one that takes no signal is abandoned when the caller goes away", async () => {
    const controller = new AbortController();
    const run = runner(never).run("return 1", false, testScope({ signal: controller.signal }));
    controller.abort();
    expect(await run).toMatchObject({ envelope: { error: { code: "executor_cancelled" } } });
  });

  test("E5: a run that ended itself is out of time only when the host's clock says so", async () => {
    vi.useFakeTimers();
    try {
      const ended = { result: '{"ok":false,"ended":true}' };
      const at = (ms: number) => () =>
        new Promise<typeof ended>((resolve) => setTimeout(() => resolve(ended), ms));
      const codeAt = async (ms: number) => {
        const run = runner(at(ms), { timeoutMs: 1_000 }).run("return 1", false, testScope());
        await vi.advanceTimersByTimeAsync(ms);
        return run;
      };
      expect(await codeAt(999)).toMatchObject({ envelope: { error: { code: "program_error" } } });
      expect(await codeAt(1_000)).toMatchObject({
        envelope: { error: { code: "executor_timeout" } },
      });
    } finally {
      vi.useRealTimers();
    }
  });

  test.each([
    ["no answer", undefined],
    ["null", null],
    ["a function", () => 1],
    ["logs that are a function", { result: '{"ok":true,"value":1}', logs: () => 1 }],
    ["logs that are no texts", { result: '{"ok":true,"value":1}', logs: [1, null] }],
    ["an error that is no text", { result: undefined, error: { code: "internal" } }],
    ["a result that is no text", { result: { ok: true, value: 1 } }],
  ])("E5: %s from a sandbox is the program's doing, and no fault of ours", async (_, answer) => {
    const execute = (() => Promise.resolve(answer)) as unknown as Executor["execute"];
    const { envelope } = await runner(execute).run("return 1", false, testScope());
    expect(envelope).toEqual({
      error: {
        code: "program_error",
        message: "The program tampered with its runner: it returned nothing readable.",
        retryable: false,
      },
    });
  });

  test("L4: a run that says what it had under way at once ends by that budget's name", async () => {
    const said =
      (notice: string) =>
      async (_code: string, [provider]: readonly Provider[]) => {
        expect(JSON.parse(String(await provider?.fns.arrive?.(notice)))).toMatchObject({ id: 0 });
        return { result: '{"ok":true,"value":1}' };
      };
    const errorOf = async (notice: string) => {
      const { envelope } = await runner(said(notice)).run("return 1", false, testScope());
      return "error" in envelope ? envelope.error : envelope;
    };
    expect(await errorOf("[0]")).toEqual({
      code: "budget_exceeded",
      message: "maxHostCalls: at most 256 can be under way at once.",
      retryable: false,
      budget: "maxHostCalls",
      remaining: 0,
    });
    expect(await errorOf("[40000000]")).toEqual({
      code: "budget_exceeded",
      message: "maxArgumentBytes: at most 33554432 can be under way at once.",
      retryable: false,
      budget: "maxArgumentBytes",
      bytes: 40_000_000,
      maxBytes: 33_554_432,
    });
  });

  test("L3: what a program did not wait for is kept alive until it has given back its room", async () => {
    const deferred: Promise<unknown>[] = [];
    let started = () => {};
    const begun = new Promise<void>((resolve) => (started = resolve));
    const slow: Connector = {
      id: "slow",
      kind: "api",
      listTools: () =>
        Promise.resolve({
          ok: true,
          value: [
            {
              name: "wait",
              description: "Waits.",
              inputSchema: { type: "object" },
              annotations: { readOnlyHint: true },
            },
          ],
        }),
      callTool: () => (started(), never()),
    };
    const connectors = [slow];
    const catalogs = new Catalogs(connectors);
    const execute: Executor["execute"] = async (_code, [provider]) => {
      void provider?.fns.call?.('["slow.wait"]');
      await begun;
      return { result: '{"ok":true,"value":1}' };
    };
    const runs = new Runner({
      connectors,
      catalogs,
      invoker: new Invoker(catalogs),
      executor: { execute },
      limits: defaultExecuteLimits(),
    });
    await runs.run("return 1", false, testScope({ defer: (task) => void deferred.push(task) }));
    expect(deferred.length).toBeGreaterThan(0);
    await Promise.all(deferred);
    expect(runs.load).toMatchObject({ bytesInFlight: 0, waitingCalls: 0 });
  });

  test("L3: every call of a run that is over is told that it is, and makes no host call", async () => {
    const controller = new AbortController();
    let call: ((json: string) => Promise<unknown>) | undefined;
    const lent: Executor["execute"] = (_code, [provider]) => {
      call = provider?.fns.search;
      controller.abort();
      return never();
    };
    const run = runner(lent).run("return 1", false, testScope({ signal: controller.signal }));
    expect(await run).toMatchObject({ envelope: { error: { code: "executor_cancelled" } } });
    expect(JSON.parse(String(await call?.("[{}]")))).toMatchObject({ ok: false, id: 0 });
  });

  test("an answer that leaves gives back its own room, whichever function it was of", async () => {
    const one = tool({
      description: "One.",
      inputSchema: z.object({}),
      annotations: { readOnlyHint: true },
      handler: () => 1,
    });
    const connectors = [api({ id: "crm", tools: { one } })];
    const catalogs = new Catalogs(connectors);
    const held: number[] = [];
    const execute: Executor["execute"] = async (_code, [provider], options) => {
      const look = () => held.push(runs.load.bytesInFlight);
      await provider?.fns.arrive?.("[]");
      expect(JSON.parse(String(await provider?.fns.call?.('["crm.one"]')))).toMatchObject({
        ok: true,
      });
      look();
      options?.onAnswerSent?.();
      look();
      options?.onAnswerSent?.();
      look();
      return { result: '{"ok":true,"value":1}' };
    };
    const invoker = new Invoker(catalogs);
    const limits = defaultExecuteLimits();
    const executor = { execute, tellsAnswersSent: true };
    const runs = new Runner({ connectors, catalogs, invoker, executor, limits });
    await runs.run("return 1", false, testScope());
    const [first = 0] = held;
    expect(first).toBeGreaterThan(0);
    expect(held).toEqual([first, first, 0]);
  });

  test("P1: one that fails on what its engine cannot read is not to blame, and is for anything else", async () => {
    const failing = () => Promise.reject(new Error("SyntaxError: secret"));
    const told: unknown[] = [];
    const scope = testScope({ report: (error) => void told.push(error) });
    const twice = await runner(failing).run("let a = 1;\nlet a = 2;\nreturn a", false, scope);
    expect(twice).toMatchObject({ envelope: { error: { code: "invalid_program", line: 2 } } });
    expect(told).toEqual([]);
    const fine = await runner(failing).run("return 1", false, scope);
    expect(fine).toMatchObject({ envelope: { error: { code: "executor_crashed" } } });
    expect(told).toHaveLength(1);
  });

  test("L3: the executor is told when the caller goes away, and when its time is up", async () => {
    const controller = new AbortController();
    let told: AbortSignal | undefined;
    let begin = () => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const listening: Executor["execute"] = (_code, _providers, options) => {
      told = options?.signal;
      begin();
      return never();
    };
    const left = runner(listening).run("return 1", false, testScope({ signal: controller.signal }));
    await begun;
    expect(told?.aborted).toBe(false);
    controller.abort();
    await left;
    expect(told?.aborted).toBe(true);

    told = undefined;
    await runner(listening, { timeoutMs: 1 }).run("return 1", false, testScope());
    expect((told as AbortSignal | undefined)?.aborted).toBe(true);
  });

  test("E4: what a broken executor throws stays here, and the operator hears of it", async () => {
    const report = vi.fn<(error: unknown, what: string) => void>();
    const broken = runner(() => Promise.reject(new Error("secret path")));
    const ended = await broken.run("return 1", false, testScope({ report }));
    expect(ended).toMatchObject({ envelope: { error: { code: "executor_crashed" } } });
    expect(JSON.stringify(ended)).not.toContain("secret");
    expect(report).toHaveBeenCalledOnce();
  });

  test("L2: runs beyond the queue are refused at once, saying when to come back", async () => {
    const one = runner(never, { maxRuns: 1, maxQueuedRuns: 1 });
    const controller = new AbortController();
    const scope = testScope({ signal: controller.signal });
    const [first, second] = [one.run("return 1", false, scope), one.run("return 1", false, scope)];
    expect(await one.run("return 1", false, scope)).toMatchObject({
      envelope: { error: { code: "executor_overloaded", retryable: true, retryAfterMs: 1_000 } },
    });
    controller.abort();
    await Promise.all([first, second]);
  });

  test("L1: source over its bound is refused before anything reads it", async () => {
    const execute = vi.fn<Executor["execute"]>();
    const ended = await runner(execute, { maxSourceBytes: 50 }).run(
      `return "${"x".repeat(50)}"`,
      false,
      testScope(),
    );
    expect(ended).toMatchObject({
      envelope: { error: { code: "budget_exceeded", budget: "maxSourceBytes", bytes: 59 } },
    });
    expect(execute).not.toHaveBeenCalled();
  });
});

describe("large programs", () => {
  const small = "return 1";
  const large = `return 1 // ${"x".repeat(100_000)}`;
  const answers: Executor["execute"] = async () => ({ result: '{"ok":true,"value":1}' });
  const reader = (read: SourceReader["read"]) => ({
    read: vi.fn<SourceReader["read"]>(read),
    close: async () => {},
  });

  test("L1: a large one is read by whoever was lent for it, a small one in place", async () => {
    const sources = reader(async (code) => readProgram(code));
    const execute = vi.fn<Executor["execute"]>(answers);
    const one = runner(execute, {}, sources);
    expect(await one.run(small, false, testScope())).toMatchObject({ envelope: { result: 1 } });
    expect(sources.read).not.toHaveBeenCalled();
    expect(await one.run(large, false, testScope())).toMatchObject({ envelope: { result: 1 } });
    expect(sources.read).toHaveBeenCalledWith(large, expect.any(AbortSignal));
    const [first, second] = execute.mock.calls.map(([code]) => code);
    expect(second?.replace(/ \/\/ x+/, "")).toBe(first);
  });

  test("L1: where nobody is lent, a large one is read in place", async () => {
    expect(await runner(answers).run(large, false, testScope())).toMatchObject({
      envelope: { result: 1 },
    });
  });

  test("E1: one that could not be read never reaches the executor, and says why", async () => {
    const execute = vi.fn<Executor["execute"]>(answers);
    const broken = reader(async () => fail("executor_crashed", "Too much."));
    expect(await runner(execute, {}, broken).run(large, true, testScope())).toMatchObject({
      envelope: {
        error: { code: "executor_crashed" },
        diagnostics: { executorMs: 0, operations: {}, sourceBytes: 100_012 },
      },
    });
    expect(execute).not.toHaveBeenCalled();
  });

  test("L3: its reading is told when the caller goes away", async () => {
    const controller = new AbortController();
    let told: AbortSignal | undefined;
    const waiting = reader((_, signal) => {
      told = signal;
      return new Promise((resolve) =>
        signal.addEventListener("abort", () => resolve(fail("executor_cancelled", "Gone."))),
      );
    });
    const scope = testScope({ signal: controller.signal });
    const run = runner(answers, {}, waiting).run(large, false, scope);
    expect(told?.aborted).toBe(false);
    controller.abort();
    expect(await run).toMatchObject({ envelope: { error: { code: "executor_cancelled" } } });
  });
});
