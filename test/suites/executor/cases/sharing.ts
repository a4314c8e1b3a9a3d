import {
  expect,
  answers,
  errorOf,
  eventually,
  fails,
  mapped,
  seen,
  type Case,
  type Setting,
} from "../case.ts";
import type { Gateway, ToolAnswer } from "../client.ts";

const started = (gateway: Gateway, key: string, count = 1) =>
  eventually(
    () => seen(gateway, key),
    (calls) => calls.started >= count,
  );

const aborted = (gateway: Gateway, key: string, count = 1) =>
  eventually(
    () => seen(gateway, key),
    (calls) => calls.aborted >= count,
  );

/** The code of a run's failure; a client that went away may get no answer at all. */
const ending = (run: Promise<ToolAnswer>) =>
  run.then(
    (answer) => errorOf(answer).code,
    () => "executor_cancelled",
  );

/** Lets runs go on that wait in `probe.meet` for one call more. */
const meet = (gateway: Gateway, key: string, count: number) =>
  gateway.tool("call_tool", { address: "probe.meet", args: { key, count } });

/** Admission. */
const ADMISSION: readonly Case[] = [
  {
    clauses: ["L2"],
    title: "sixty-four programs run at once",
    script: async (gateway) => {
      const code = "return probe.meet({ key: 'crowd', count: 64 })";
      const runs = await Promise.all(Array.from({ length: 64 }, () => gateway.run(code)));
      for (const run of runs) answers("met")(run);
    },
  },
  {
    clauses: ["L2", "E2"],
    title: "beyond maxRuns a run waits its turn, beyond maxQueuedRuns it is refused at once",
    deployment: "tight",
    script: async (gateway) => {
      const first = gateway.run("return probe.meet({ key: 'queue', count: 2 })");
      await started(gateway, "queue");
      const others = [gateway.run("return 'ran'"), gateway.run("return 'ran'")];
      const refused = await Promise.race(others);
      fails({
        code: "executor_overloaded",
        retryable: true,
        retryAfterMs: expect.toSatisfy((ms) => Number(ms) > 0),
      })(refused);
      await meet(gateway, "queue", 2);
      answers("met")(await first);
      const ran = (await Promise.all(others)).find((answer) => answer !== refused);
      expect(ran?.structuredContent).toEqual({ result: "ran" });
    },
  },
  {
    clauses: ["L2", "E2"],
    title: "a run that waits longer than queueTimeoutMs is refused",
    deployment: "brief",
    script: async (gateway) => {
      const controller = new AbortController();
      const { signal } = controller;
      const code = "for (;;) await probe.wait({ key: 'holds' }).catch(() => {});";
      const first = gateway.run(code, { signal }).catch(() => "gone");
      await started(gateway, "holds");
      fails({ code: "executor_overloaded", retryable: true, retryAfterMs: expect.any(Number) })(
        await gateway.run("return 1"),
      );
      controller.abort();
      await first;
    },
  },
  {
    clauses: ["L2"],
    title: "a waiting program delays neither other programs nor other tools",
    script: async (gateway) => {
      const waiting = gateway.run("return probe.meet({ key: 'patient', count: 2 })");
      await started(gateway, "patient");
      answers(2)(await gateway.run("return (await crm.echo({ a: 2 })).a"));
      await meet(gateway, "patient", 2);
      answers("met")(await waiting);
    },
  },
];

/** Programs that begin a host call and end at once, each in its way. */
const ends = (endings: Readonly<Record<string, string>>, setting: Setting = {}) =>
  mapped(endings, (ending, key) => ({
    ...setting,
    script: async (gateway: Gateway) => {
      await gateway.run(`probe.wait({ key: "${key}" });\nawait crm.echo();\n${ending}`);
      await aborted(gateway, key);
    },
  }));

/** What ends with whom. */
const ENDINGS: readonly Case[] = [
  {
    clauses: ["L3"],
    title:
      "a client of either generation that goes away stops program and host call, and frees the place",
    deployment: "tight",
    script: async (gateway) => {
      for (const turn of [1, 2]) {
        const controller = new AbortController();
        const options = { signal: controller.signal, modern: turn === 2 };
        const left = ending(gateway.run("return probe.wait({ key: 'left' })", options));
        await started(gateway, "left", turn);
        controller.abort();
        await aborted(gateway, "left", turn);
        expect(await left).toBe("executor_cancelled");
      }
      answers(1)(await gateway.run("return 1"));
    },
  },
  {
    clauses: ["L3"],
    title: "a cancelled program makes no further call",
    script: async (gateway) => {
      const controller = new AbortController();
      const { signal } = controller;
      const code = `await probe.wait({ key: "once" }).catch(() => {});
        return probe.wait({ key: "again" })`;
      const left = gateway.run(code, { signal }).catch(() => undefined);
      await started(gateway, "once");
      controller.abort();
      await aborted(gateway, "once");
      await left;
      answers(1)(await gateway.run("return 1"));
      expect(await seen(gateway, "again")).toMatchObject({ started: 0 });
    },
  },
  {
    clauses: ["L3"],
    title: "a run that waits for its turn can be cancelled",
    deployment: "tight",
    script: async (gateway) => {
      const first = gateway.run("return probe.meet({ key: 'turn', count: 2 })");
      await started(gateway, "turn");
      const waiting = [1, 2].map(() => {
        const controller = new AbortController();
        const code = "return probe.wait({ key: 'never-began' })";
        return { controller, ended: ending(gateway.run(code, { signal: controller.signal })) };
      });
      // One of the two waits for its turn as soon as there is no room for the other.
      expect(await Promise.race(waiting.map(({ ended }) => ended))).toBe("executor_overloaded");
      for (const { controller } of waiting) controller.abort();
      const endings = await Promise.all(waiting.map(({ ended }) => ended));
      expect(endings.sort()).toEqual(["executor_cancelled", "executor_overloaded"]);
      await meet(gateway, "turn", 2);
      answers("met")(await first);
      answers(1)(await gateway.run("return 1"));
      expect(await seen(gateway, "never-began")).toMatchObject({ started: 0 });
    },
  },
  {
    clauses: ["L3"],
    title: "a client that is gone before its program begins begins nothing",
    deployment: "brief",
    script: async (gateway) => {
      const signal = AbortSignal.abort();
      const run = gateway.run("return probe.wait({ key: 'early' })", { signal });
      expect(await ending(run)).toBe("executor_cancelled");
      answers(1)(await gateway.run("return 1"));
      expect(await seen(gateway, "early")).toMatchObject({ started: 0 });
    },
  },
  {
    clauses: ["L3"],
    title: "host calls that a program did not wait for end with it, however it ends",
    inputs: {
      ...ends({ returned: "return 1", threw: "throw new Error('no')", foreign: "return 1n" }),
      ...ends({ stopped: "while (true);" }, { needs: "cpu" }),
    },
  },
  {
    clauses: ["L3"],
    title: "host calls end with a run whose time is up",
    deployment: "brief",
    script: async (gateway) => {
      const code = "for (;;) await probe.wait({ key: 'timed' }).catch(() => {});";
      fails({ code: "executor_timeout" })(await gateway.run(code));
      const calls = await seen(gateway, "timed");
      expect(calls.started).toBeGreaterThan(1);
      await aborted(gateway, "timed", calls.started);
    },
  },
];

/** What programs do that must hurt nobody else. */
const OFFENDERS: Readonly<Record<string, string>> = {
  loops: "while (true);",
  recurses: "const f = () => f() + 1; return f()",
  "calls the host without end":
    "return Promise.all(Array.from({ length: 100000 }, () => crm.echo()))",
  "makes a million promises":
    "for (let i = 0; i < 1000000; i++) new Promise(() => {});\nwhile (true);",
  "nests a value too deep": "let a = []; for (let i = 0; i < 200000; i++) a = [a];\nreturn a",
};

const ENDS = ["executor_limit", "budget_exceeded", "not_serializable", "program_error"];

/** Runs a program beside another that waits, and says how both ended. */
async function beside(gateway: Gateway, key: string, code: string) {
  const neighbour = gateway.run(`return probe.meet({ key: "${key}", count: 2 })`);
  await started(gateway, key);
  const offender = await ending(gateway.run(code));
  await meet(gateway, key, 2);
  return { offender: String(offender), neighbour: await neighbour };
}

/** Neighbours. */
const NEIGHBOURS: readonly Case[] = [
  {
    clauses: ["L4"],
    title: "a program that misbehaves ends its own run typed, and its neighbour goes on",
    needs: "cpu",
    inputs: mapped(OFFENDERS, (code, what) => ({
      script: async (gateway: Gateway) => {
        const { offender, neighbour } = await beside(gateway, what, code);
        expect(ENDS).toContain(offender);
        answers("met")(neighbour);
        answers(2)(await gateway.run("return 2"));
      },
    })),
  },
  {
    clauses: ["L4", "L1"],
    title: "a flood of host calls ends the run by the budget's name",
    code: `const calls = Array.from({ length: 300 }, () => connecta.search({}).catch(() => "refused"));
      return (await Promise.all(calls)).length`,
    check: fails({
      code: "budget_exceeded",
      message: "maxHostCalls: at most 256 can be under way at once.",
      budget: "maxHostCalls",
      remaining: 0,
    }),
  },
  {
    clauses: ["L4"],
    title: "a native call without end is ended from outside, and who shared its process is told",
    needs: "cpu",
    script: async (gateway) => {
      const code = "return Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)";
      const { offender, neighbour } = await beside(gateway, "native", code);
      expect(offender).toBe("executor_limit");
      if (neighbour.isError) fails({ code: "executor_crashed", retryable: true })(neighbour);
      else answers("met")(neighbour);
      answers(2)(await gateway.run("return 2"));
    },
  },
  {
    clauses: ["L4", "L1"],
    title: "the run whose growth crosses processHeapBytes ends, and whoever holds memory goes on",
    needs: "shared heap",
    deployment: "crowded",
    script: async (gateway) => {
      const code = `const kept = new Uint8Array(50 * 1024 * 1024);
        await probe.meet({ key: "crowded", count: 2 });
        return kept.length`;
      const first = gateway.run(code);
      await started(gateway, "crowded");
      fails({ code: "executor_limit", limit: "memory" })(await gateway.run(code));
      await meet(gateway, "crowded", 2);
      answers(52_428_800)(await first);
      answers(52_428_800)(await gateway.run(code));
    },
  },
  {
    clauses: ["L4"],
    title: "the memory of one run is not the next one's",
    needs: "heap",
    deployment: "tight",
    script: async (gateway) => {
      for (let i = 0; i < 5; i++) {
        answers(20)(
          await gateway.run(
            "const a = []; while (a.length < 20) a.push(new Uint8Array(100000)); return a.length",
          ),
        );
      }
    },
  },
];

/** How runs share a deployment, and how they end. */
export const sharing: readonly Case[] = [...ADMISSION, ...ENDINGS, ...NEIGHBOURS];
