import { describe, expect, test } from "vitest";
import { defaultExecuteLimits, EXECUTE_LIMITS, LIMITS } from "../../server/shared/limits.ts";
import { utf8Length } from "../../server/shared/text.ts";

const program = defaultExecuteLimits();
const gateway = Object.fromEntries(
  Object.entries(LIMITS).map(([name, { value }]) => [name, value]),
) as Record<keyof typeof LIMITS, number>;

describe("limits", () => {
  test("L1: the defaults are those that programs were promised", () => {
    expect(program).toEqual({
      maxHostCalls: 20,
      maxBatchCalls: 10,
      hostCallTimeoutMs: 15_000,
      timeoutMs: 30_000,
      cpuMs: 250,
      heapBytes: 67_108_864,
      stackBytes: 262_144,
      processHeapBytes: 536_870_912,
      maxResultBytes: 8_388_608,
      maxArgumentBytes: 4_194_304,
      maxSourceBytes: 1_048_576,
      maxEmittedBytes: 4_000_000,
      maxEmittedBlocks: 32,
      maxRuns: 64,
      maxQueuedRuns: 64,
      queueTimeoutMs: 5_000,
    });
  });

  test.each<[string, number, number]>([
    ["a host call ends before the run", program.hostCallTimeoutMs, program.timeoutMs],
    ["computing ends before the run", program.cpuMs, program.timeoutMs],
    ["a batch is part of the calls", program.maxBatchCalls, program.maxHostCalls],
    ["all emitted bytes fit one argument", program.maxEmittedBytes, program.maxArgumentBytes],
    ["a result fits the heap, parsed", program.maxResultBytes * 6, program.heapBytes],
    ["a heap fits its process", program.heapBytes, program.processHeapBytes],
    ["source fits a request", program.maxSourceBytes * 3, gateway.requestBodyBytes],
    ["an argument fits a request", program.maxArgumentBytes, gateway.requestBodyBytes],
    ["a call's default is allowed", gateway.callTimeoutMs, gateway.maxCallTimeoutMs],
    ["logs are less than a result", gateway.logChars, gateway.returnChars],
    ["a fresh catalog is not stale", gateway.catalogFreshMs, gateway.catalogStaleMs],
    ["a largest answer fits those in flight", program.maxResultBytes, gateway.answersInFlightBytes],
    ["so do arguments", program.maxArgumentBytes, gateway.argumentsInFlightBytes],
    ["a page of discovery fits a program", gateway.searchBytes, program.maxResultBytes],
    ["an inline result fits the stash", gateway.inlineResultBytes, gateway.stashBytes],
  ])("%s", (_, smaller, larger) => {
    expect(smaller).toBeLessThan(larger);
  });

  test.each(Object.entries({ ...EXECUTE_LIMITS, ...LIMITS }))(
    "%s gives its reason in a line",
    (_, { reason }) => {
      expect(reason.length).toBeGreaterThan(10);
      expect(utf8Length(reason)).toBeLessThan(100);
    },
  );
});
