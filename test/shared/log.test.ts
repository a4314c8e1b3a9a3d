import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createLog, Log, logged, type LogEntry, type LogOption } from "../../server/shared/log.ts";
import { Notice } from "../../server/shared/notice.ts";
import type { Observation } from "../../server/shared/observation.ts";

let lines: string[];
beforeEach(() => {
  lines = [];
  vi.spyOn(console, "error").mockImplementation((line: string) => void lines.push(line));
});
afterEach(() => vi.restoreAllMocks());

const call: Observation = {
  kind: "call",
  source: "call_tool",
  connector: "crm",
  tool: "get",
  attempts: 1,
  ms: 1.23456,
  requestId: "r1",
};

/** One entry of each level. */
function sayAll(option: LogOption): void {
  const log = createLog(option);
  log.fault(new RangeError("sk-1"), "crm.get", "r1");
  log.fault(new Notice("Look at crm."), "crm", "r1");
  logged(log)(call);
  logged(log)({ kind: "admission", queue: "runs", ms: 2, requestId: "r1" });
}

describe("the log", () => {
  test.each([
    [{}, 2],
    [{ level: "error" }, 1],
    [{ level: "warn" }, 2],
    [{ level: "info" }, 3],
    [{ level: "debug" }, 4],
  ] as const)("%j writes its level and those before it", (option, count) => {
    sayAll(option);
    expect(lines).toHaveLength(count);
  });

  test("a fault is a line with its kind, its subject and its request, and its place below", () => {
    createLog().fault(new RangeError("sk-1"), "crm.get", "r1");
    const [head, ...frames] = lines.join("\n").split("\n");
    expect(head).toBe("connecta: RangeError in crm.get, request r1");
    expect(frames.join("\n")).toContain("log.test.ts:");
    expect(lines.join("\n")).not.toContain("sk-1");
  });

  test("a text that looks like a place in the code is left out", () => {
    const fault = new Error("a\n    at sk-1 (file:///sk-1.js:1:1)\n    at sk-1:1:1");
    createLog().fault(fault, "crm.get");
    createLog({ format: "json" }).fault(fault, "crm.get");
    expect(lines.join("\n")).not.toContain("sk-1");
    expect(lines.join("\n")).toContain("log.test.ts:");
  });

  test("control: with faultTexts it is written", () => {
    createLog({ faultTexts: true }).fault(new Error("sk-1"), "crm.get");
    createLog({ faultTexts: true, format: "json" }).fault(new Error("sk-1"), "crm.get");
    expect(lines.filter((line) => line.includes("sk-1"))).toHaveLength(2);
  });

  test("what ended is a line of ids, numbers and codes", () => {
    const log = createLog({ level: "info" });
    logged(log)(call);
    logged(log)({ kind: "run", ms: 7, code: "executor_limit", requestId: "r2" });
    expect(lines).toEqual([
      "connecta: call source=call_tool connector=crm tool=get attempts=1 requestId=r1 outcome=ok ms=1.235",
      "connecta: run code=executor_limit requestId=r2 outcome=failed ms=7",
    ]);
  });

  test("a tool's name cannot pass for another line or field, and is clamped", () => {
    const log = createLog({ level: "info" });
    logged(log)({ ...call, tool: "a outcome=ok\nconnecta: call" });
    logged(log)({ ...call, tool: "é".repeat(200) });
    expect(lines[0]).toContain('tool="a outcome=ok\\nconnecta: call"');
    expect(lines[1]).toContain(`tool="${"é".repeat(64)}" `);
  });

  test("as JSON every entry is one object on one line", () => {
    sayAll({ level: "debug", format: "json" });
    const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(entries.map(({ level, message }) => [level, message])).toEqual([
      ["error", "RangeError in crm.get"],
      ["warn", "Look at crm."],
      ["info", "call"],
      ["debug", "admission"],
    ]);
    expect(entries[0]?.stack).toContainEqual(expect.stringContaining("log.test.ts:"));
    expect(entries[2]).toMatchObject({ connector: "crm", attempts: 1, ms: 1.235, requestId: "r1" });
    expect(lines.filter((line) => line.includes("\n"))).toEqual([]);
  });

  test("a function is given every entry, the fault itself included, and nothing is written", () => {
    const entries: LogEntry[] = [];
    sayAll((entry) => entries.push(entry));
    expect(entries.map(({ level }) => level)).toEqual(["error", "warn", "info", "debug"]);
    expect(entries[0]?.error?.message).toBe("sk-1");
    expect(lines).toEqual([]);
  });

  test("a function that fails harms nobody", () => {
    const broken = new Log(() => {
      throw new Error("full");
    }, "info");
    expect(() => broken.write("info", "call")).not.toThrow();
  });

  test("something thrown that is no error is told by its kind", () => {
    createLog().fault("sk-1", "crm.get");
    expect(lines[0]).toMatch(/^connecta: string in crm\.get/);
    expect(lines.join("\n")).not.toContain("sk-1");
  });
});
