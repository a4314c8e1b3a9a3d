import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Emitted } from "../../server/programs/emitted.ts";
import { Meter } from "../../server/programs/meter.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTime(ms);
const nothing = () => new Emitted(1_000, 2);

test("R4: operations side by side add up to more time than has passed", () => {
  const meter = new Meter();
  const [first, second] = [meter.begin("call", 10), meter.begin("call", 5)];
  pass(20);
  first(100);
  pass(10);
  second(0);
  const report = meter.report(7, nothing());
  expect(report.totalMs).toBe(30);
  expect(report.operations).toEqual({
    call: { count: 2, ms: 50, argumentBytes: 15, resultBytes: 100 },
  });
});

test("R4: an operation that nobody used, and what nothing was measured of, is left out", () => {
  expect(new Meter().report(7, nothing())).toEqual({
    totalMs: 0,
    admissionMs: 0,
    executorMs: 0,
    catalogMs: 0,
    connectorMs: 0,
    sourceBytes: 7,
    resultChars: 0,
    operations: {},
  });
});

test("R4: an operation that has not ended yet is counted, its time is not", () => {
  const meter = new Meter();
  meter.begin("ui", 3);
  pass(5);
  expect(meter.report(7, nothing()).operations).toEqual({
    ui: { count: 1, ms: 0, argumentBytes: 3, resultBytes: 0 },
  });
});

test("R4: what the executor tells and what was emitted stand beside it", () => {
  const meter = new Meter();
  meter.timings = { setupMs: 0.123456, cpuMs: 2 };
  const emitted = nothing();
  emitted.emit([{ type: "text", text: "ab" }]);
  emitted.acceptUi({ html: "<p>" });
  expect(meter.report(7, emitted)).toMatchObject({
    setupMs: 0.123,
    cpuMs: 2,
    emitted: { count: 1, bytes: 27 },
    ui: 14,
  });
});
