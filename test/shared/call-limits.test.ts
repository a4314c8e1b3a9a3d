import { expect, test } from "vitest";
import { stdioMcp } from "../../server/connectors/stdio/stdio.ts";
import { api, fromMcpServers, remoteMcp, type CallLimits } from "../../server/index.ts";
import { callLimitsProblem } from "../../server/shared/call-limits.ts";

const LIMITS: CallLimits = { concurrency: 2, budget: { calls: 10, windowMs: 60_000 } };

test.each<[unknown, string]>([
  [4, "limits is no object: give { concurrency?, budget?, partition? }"],
  [{ rate: 1 }, "limits.rate is no option; limits can be: concurrency, budget, partition"],
  [{ concurrency: 1.5 }, "limits.concurrency must be a whole number from 1 to 10000"],
  [{ budget: 10 }, "limits.budget is no object: give { calls, windowMs }"],
  [
    { budget: { calls: 10 } },
    "limits.budget.windowMs must be whole milliseconds from 1 to 86400000",
  ],
  [
    { budget: { calls: 0, windowMs: 1 } },
    "limits.budget.calls must be a whole number from 1 to 10000",
  ],
  [
    { budget: { calls: 1, windowMs: 1, per: "minute" } },
    "limits.budget.per is no option; it can be: calls, windowMs",
  ],
  [
    { partition: "principal" },
    "limits.partition is no function: give ({ principal }) => principal",
  ],
])("G7: %j is refused, naming the option and the fix", (limits, problem) => {
  expect(callLimitsProblem(limits)).toBe(problem);
  const given = limits as CallLimits;
  expect(() => api({ id: "crm", tools: {}, limits: given })).toThrow(`api(crm).${problem}.`);
  const url = "http://127.0.0.1:1/mcp";
  expect(() => remoteMcp({ id: "crm", url, limits: given })).toThrow(problem);
  expect(() => stdioMcp({ id: "crm", command: "node", limits: given })).toThrow(problem);
});

test("sound limits are a connector's, however it is made", () => {
  expect(callLimitsProblem(undefined)).toBeUndefined();
  expect(callLimitsProblem({ ...LIMITS, partition: () => "one" })).toBeUndefined();
  expect(api({ id: "crm", tools: {}, limits: LIMITS }).limits).toBe(LIMITS);
  const remote = remoteMcp({ id: "crm", url: "http://127.0.0.1:1/mcp", limits: LIMITS });
  expect(remote.limits).toBe(LIMITS);
  expect(stdioMcp({ id: "crm", command: "node", limits: LIMITS }).limits).toBe(LIMITS);
});

test("the file of another client may bound a server, and a wrong bound leaves it out", () => {
  const url = "http://127.0.0.1:1/mcp";
  const { connectors, warnings } = fromMcpServers({
    mcpServers: { good: { url, limits: LIMITS }, bad: { url, limits: { budget: 3 } } },
  });
  expect(connectors.map(({ id, limits }) => [id, limits])).toEqual([["good", LIMITS]]);
  expect(JSON.stringify(warnings)).toContain(
    "cannot be bounded: limits.budget is no object: give { calls, windowMs }",
  );
});
