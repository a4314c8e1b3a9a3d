import {
  expect,
  answers,
  delivers,
  each,
  errorOf,
  eventually,
  fails,
  seen,
  type Case,
} from "../case.ts";

/** Programs whose answers say how all parts of a run came through. */
const SAMPLES = [
  "async () => ({ a: [1, null, 'é'] })",
  "console.log('a'); console.warn('b'); return (await crm.get_record({ id: 'a' })).name",
  "return connecta.batch([{ address: 'crm.echo', args: { a: 1 } }, { address: 'crm.nothing' }])",
  "await connecta.emit({ type: 'text', text: 'a' }); await connecta.ui('<p>'); return 'z'.repeat(30000)",
  "console.log('a'); await connecta.emit({ type: 'text', text: 'a' }); throw new Error('mine')",
  "return crm.get_record({ id: 'gone' })",
  "return { a: { b: 1n } }",
  "return (",
];

/** An executor that is lent code and providers and nothing else. */
const REDUCED: readonly Case[] = [
  {
    clauses: ["X1", "E1"],
    title: "an executor that takes code and providers alone runs programs with the whole contract",
    deployment: "reduced",
    inputs: each({
      "a value": ["async () => ({ a: 1 })", answers({ a: 1 })],
      "a call": ["return (await crm.get_record({ id: 'a' })).name", answers("Record a")],
      "a failed call": [
        "return crm.get_record({ id: 'gone' })",
        fails({ code: "not_found", address: "crm.get_record" }),
      ],
      "a throw, with what came before": [
        "console.log('a');\nawait connecta.emit({ type: 'text', text: 'a' });\nthrow new Error('mine')",
        fails(
          { code: "program_error", line: 3, message: expect.stringContaining("mine") },
          { logs: "a", emittedDiscarded: 1 },
        ),
      ],
      "a value outside JSON": [
        "return { a: [1n] }",
        fails({ code: "not_serializable", path: "result.a[0]" }),
      ],
      "a budget": [
        "for (;;) await crm.echo()",
        fails({ code: "budget_exceeded", budget: "maxHostCalls" }),
      ],
      "a view": [
        "await connecta.ui('<p>'); return 1",
        delivers({ envelope: { result: 1, ui: true }, view: { html: "<p>" } }),
      ],
    }),
  },
  {
    clauses: ["X1"],
    title: "typed failures travel in the result of an executor, never in its error",
    deployment: "reduced",
    script: async (gateway) => {
      const before = (await seen(gateway, "none")).executorErrors;
      for (const code of [
        "throw new Error('mine')",
        "throw undefined",
        "return 1n",
        "return crm.get_record({ id: 'gone' })",
        "return { get a() { throw 1 } }",
        "for (;;) await crm.echo()",
      ]) {
        errorOf(await gateway.run(code));
      }
      expect((await seen(gateway, "none")).executorErrors).toBe(before);
    },
  },
  {
    clauses: ["X1", "L3"],
    title: "an executor that takes no signal is abandoned at its deadline, and its host calls end",
    deployment: "reduced",
    script: async (gateway) => {
      fails({ code: "executor_timeout" })(
        await gateway.run("return probe.wait({ key: 'abandoned' })"),
      );
      await eventually(
        () => seen(gateway, "abandoned"),
        ({ started, aborted }) => started === 1 && aborted === 1,
      );
      answers(1)(await gateway.run("return 1"));
    },
  },
];

/** What does not depend on where a program runs. */
const SAME: readonly Case[] = [
  {
    clauses: ["X2"],
    title: "the same program answers the same, run after run",
    script: async (gateway) => {
      for (const code of SAMPLES) {
        const [first, ...others] = await Promise.all([1, 2, 3].map(() => gateway.run(code)));
        for (const other of others) expect(other).toEqual(first);
      }
    },
  },
];

/** What executors are to the gateway. */
export const executors: readonly Case[] = [...REDUCED, ...SAME];
