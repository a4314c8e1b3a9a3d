import { expect, alike, answers, each, errorOf, fails, mapped, type Case } from "../case.ts";

const over = (budget: string, more: Record<string, unknown> = {}) =>
  fails({
    code: "budget_exceeded",
    retryable: false,
    budget,
    message: expect.stringContaining(budget),
    ...more,
  });

const calls = (count: number) =>
  `Array.from({ length: ${count} }, () => ({ address: "crm.echo" }))`;

/** Where nobody set a limit. */
const UNSET = { deployment: "default" } as const;

/** Host calls. */
const CALLS: readonly Case[] = [
  {
    clauses: ["L1"],
    title: "twenty host calls are free and the next names maxHostCalls and the room left",
    inputs: each({
      "twenty in sequence": [
        "for (let i = 0; i < 20; i++) await crm.echo();\nreturn 1",
        answers(1),
      ],
      "the twenty-first": [
        "for (let i = 0; i < 21; i++) await crm.echo();",
        over("maxHostCalls", { remaining: 0 }),
      ],
      "fifty at once": [
        `const outcomes = await Promise.all(Array.from({ length: 50 }, (_, i) =>
          (i % 2 ? crm.echo() : connecta.call("crm.echo")).then(() => "ran", (e) => e.code + " " + e.remaining)));
        return ["ran", "budget_exceeded 0"].map((one) => outcomes.filter((each) => each === one).length)`,
        answers([20, 30]),
      ],
      "of every kind": [
        `await connecta.search({}); await connecta.describe({ address: "crm.echo" });
        await connecta.call("crm.echo"); await crm.echo();
        await connecta.batch(Array.from({ length: 10 }, () => ({ address: "crm.echo" })));
        for (let i = 0; i < 6; i++) await crm.echo();
        return crm.echo().catch((e) => [e.budget, e.remaining])`,
        answers(["maxHostCalls", 0]),
      ],
      "of any success": [
        "for (let i = 0; i < 20; i++) await crm.get_record({ id: 'gone' }).catch(() => {});\nreturn crm.echo()",
        over("maxHostCalls"),
      ],
    }),
  },
  {
    clauses: ["L1"],
    title: "a deployment may set maxHostCalls, and a batch that does not fit is refused whole",
    deployment: "tight",
    inputs: each({
      "four calls": ["for (let i = 0; i < 4; i++) await crm.echo();\nreturn 1", answers(1)],
      five: [
        "for (let i = 0; i < 5; i++) await crm.echo();",
        over("maxHostCalls", { remaining: 0 }),
      ],
      "a batch of two into a room of one": [
        `for (let i = 0; i < 3; i++) await crm.echo();
        const two = [{ address: "crm.echo" }, { address: "crm.echo" }];
        const refused = await connecta.batch(two).catch((e) => [e.code, e.budget, e.remaining]);
        await crm.echo();
        return refused`,
        answers(["budget_exceeded", "maxHostCalls", 1]),
      ],
    }),
  },
  {
    clauses: ["L1"],
    title: "a batch over maxBatchCalls is refused whole and spends nothing",
    inputs: each({
      ten: [`return (await connecta.batch(${calls(10)})).length`, answers(10)],
      eleven: [`return connecta.batch(${calls(11)})`, over("maxBatchCalls", { remaining: 10 })],
      "eleven, then twenty calls": [
        `await connecta.batch(${calls(11)}).catch(() => {});
        for (let i = 0; i < 20; i++) await crm.echo();
        return 1`,
        answers(1),
      ],
      none: ["return connecta.batch([])", answers([])],
      "three where two are allowed": [
        `return connecta.batch(${calls(3)})`,
        over("maxBatchCalls", { remaining: 2 }),
        { deployment: "tight" },
      ],
    }),
  },
];

/** Sizes. */
const SIZES: readonly Case[] = [
  {
    clauses: ["L1"],
    title: "a result over maxResultBytes fails that call, naming address, size and bound",
    deployment: "tight",
    inputs: each({
      "of its very size it comes in": [
        'return (await crm.text({ chars: 999, of: "é" })).length',
        answers(999),
      ],
      "one byte over": [
        "return crm.text({ chars: 1999 })",
        fails({ code: "result_too_large", address: "crm.text", bytes: 2_001, maxBytes: 2_000 }),
      ],
      "caught, the program goes on": [
        "return crm.text({ chars: 100000 }).catch((e) => [e.code, e.address, e.bytes, e.maxBytes])",
        answers(["result_too_large", "crm.text", 100_002, 2_000]),
      ],
      "in a batch, where all share it": [
        `const entries = await connecta.batch([1, 2].map(() => ({ address: "crm.text", args: { chars: 1500 } })));
        return entries.map(({ ok, error }) => ok || [error.code, error.address])`,
        answers([true, ["result_too_large", "crm.text"]]),
      ],
      "over eight mebibytes, where nobody set it": [
        "return crm.text({ chars: 8 * 1024 * 1024 - 1 })",
        fails({
          code: "result_too_large",
          address: "crm.text",
          bytes: 8_388_609,
          maxBytes: 8_388_608,
        }),
        UNSET,
      ],
    }),
  },
  {
    clauses: ["L1"],
    title: "arguments over maxArgumentBytes are refused, naming address, size and bound",
    deployment: "tight",
    inputs: each({
      "by address": [
        'return connecta.call("crm.echo", { a: "x".repeat(1000) })',
        over("maxArgumentBytes", {
          address: "crm.echo",
          bytes: expect.any(Number),
          maxBytes: 1_000,
        }),
      ],
      "by shortcut": [
        'return crm.echo({ a: "x".repeat(1000) })',
        over("maxArgumentBytes", {
          address: expect.stringMatching(/^crm/),
          bytes: expect.any(Number),
          maxBytes: 1_000,
        }),
      ],
      "bytes, not characters": [
        'return connecta.call("crm.echo", { a: "é".repeat(500) })',
        over("maxArgumentBytes", { maxBytes: 1_000 }),
      ],
      "below it they arrive": [
        'return (await crm.echo({ a: "x".repeat(900) })).a.length',
        answers(900),
      ],
      "of search": [
        'return connecta.search({ query: "x".repeat(1000) })',
        over("maxArgumentBytes", { maxBytes: 1_000 }),
      ],
      "four million bytes, where nobody set it": [
        'return (await crm.echo({ a: "x".repeat(4000000) })).a.length',
        answers(4_000_000),
        UNSET,
      ],
      "five million bytes, where nobody set it": [
        'return connecta.call("crm.echo", { a: "x".repeat(5000000) })',
        over("maxArgumentBytes", { address: "crm.echo", maxBytes: 4_194_304 }),
        UNSET,
      ],
    }),
  },
  {
    clauses: ["L1"],
    title: "source over maxSourceBytes is refused, naming size and bound",
    deployment: "tight",
    inputs: each({
      "of its very size it runs": [`return 1 //${"x".repeat(1_989)}`, answers(1)],
      "one byte over": [
        `return 1 //${"x".repeat(1_990)}`,
        over("maxSourceBytes", { bytes: 2_001, maxBytes: 2_000 }),
      ],
      "bytes, not characters": [
        `return 1 //${"é".repeat(1_000)}`,
        over("maxSourceBytes", { bytes: 2_011, maxBytes: 2_000 }),
      ],
      "a mebibyte, where nobody set it": [`return 1 //${"x".repeat(1_048_565)}`, answers(1), UNSET],
      "one byte more, where nobody set it": [
        `return 1 //${"x".repeat(1_048_566)}`,
        over("maxSourceBytes", { maxBytes: 1_048_576 }),
        UNSET,
      ],
    }),
  },
];

const DEEP = "const f = (n) => n === 0 ? 0 : f(n - 1) + 1; return f(800)";

/** What a guest may use. */
const GUEST: readonly Case[] = [
  {
    clauses: ["L1", "E2"],
    title: "a program that computes for longer than cpuMs ends as executor_limit, cpu",
    needs: "cpu",
    deployment: "frugal",
    inputs: alike(
      {
        "a loop": "while (true);",
        "a loop that catches everything":
          "for (;;) try { while (true); } catch {} finally { continue }",
        "a chain of promises": "const f = () => Promise.resolve().then(f); return f()",
        "a getter": "return { get a() { while (true); } }",
        "a toJSON": "return { toJSON() { while (true); } }",
        "a regular expression": "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
        "a comparison": "return [2, 1].sort(() => { while (true); })",
        "after a host call": "await crm.echo(); while (true);",
        "in an argument": "return crm.echo({ toJSON() { while (true); } })",
      },
      fails({ code: "executor_limit", limit: "cpu", retryable: false }),
    ),
  },
  {
    clauses: ["L1"],
    title: "waiting for the host costs no CPU time",
    needs: "cpu",
    deployment: "frugal",
    code: "for (let i = 0; i < 3; i++) await probe.pause({ ms: 60 });\nreturn 1",
    check: answers(1),
  },
  {
    clauses: ["L4"],
    title: "moving a large result into the program is not charged to its CPU time",
    needs: "cpu",
    deployment: "frugal",
    inputs: alike(
      mapped(
        { "as a value": "crm", "as JSON in a text": "mail" },
        (connector) =>
          // The budget is looked at again at the latest when the program goes on after a call.
          `const rows = await ${connector}.rows({ count: 100000 });
          await crm.echo();
          return rows.length`,
      ),
      answers(100_000),
    ),
  },
  {
    clauses: ["L1", "E2"],
    title: "a program that holds more than heapBytes ends as executor_limit, memory",
    needs: "heap",
    deployment: "tight",
    inputs: alike(
      {
        "typed arrays": "const a = []; for (;;) a.push(new Uint8Array(100000))",
        strings: "const a = []; for (;;) a.push(String(a.length % 10).repeat(100000))",
        "a catch for everything":
          "const a = []; for (;;) try { a.push('x'.repeat(100000) + a.length) } catch {}",
      },
      fails({ code: "executor_limit", limit: "memory", retryable: false }),
    ),
  },
  {
    clauses: ["L1", "E2"],
    title: "a program that recurses deeper than stackBytes ends as executor_limit, stack",
    needs: "stack",
    inputs: {
      ...alike(
        {
          "a function": "const f = () => f() + 1; return f()",
          "through a callback": "const f = () => [1].map(f); return f()",
          "a getter": "const a = { get b() { return this.b + 1 } }; return a.b",
        },
        fails({ code: "executor_limit", limit: "stack", retryable: false }),
      ),
      ...each({
        "eight hundred deep, where nobody set it": [DEEP, answers(800)],
        "eight hundred deep, where it is smaller": [
          DEEP,
          fails({ code: "executor_limit", limit: "stack" }),
          { deployment: "tight" },
        ],
      }),
    },
  },
];

/** Time. */
const TIMES: readonly Case[] = [
  {
    clauses: ["L1", "E2"],
    title: "a host call over hostCallTimeoutMs fails as timeout, and the program goes on",
    deployment: "brief",
    inputs: each({
      caught: [
        "try { await probe.wait({ key: 'slow' }) } catch (e) { return [e.code, e.retryable, e.timeoutMs, e.address] }",
        answers(["timeout", true, 100, "probe.wait"]),
      ],
      uncaught: [
        "return probe.wait({ key: 'slow' })",
        fails({ code: "timeout", retryable: true, timeoutMs: 100, address: "probe.wait" }),
      ],
    }),
  },
  {
    clauses: ["L1", "E2"],
    title: "a run over timeoutMs ends as executor_timeout",
    deployment: "brief",
    code: "console.log('began');\nfor (;;) await probe.wait({ key: 'long' }).catch(() => {});",
    check: fails({ code: "executor_timeout", retryable: false }, { logs: "began" }),
  },
  {
    clauses: ["L1", "E2"],
    title: "a program cannot raise a limit",
    deployment: "tight",
    inputs: alike(
      {
        "by an option of a call":
          "await connecta.call('crm.echo', {}, { maxHostCalls: 99 }).catch(() => {});\nfor (let i = 0; i < 5; i++) await crm.echo();",
        "by a global":
          "globalThis.limits = { maxHostCalls: 99 }; globalThis.maxHostCalls = 99;\nfor (let i = 0; i < 5; i++) await crm.echo();",
        "by another's prototype":
          "Object.prototype.maxHostCalls = 99; Object.prototype.limits = { maxHostCalls: 99 };\nfor (let i = 0; i < 5; i++) await crm.echo();",
      },
      (answer) =>
        expect(errorOf(answer)).toMatchObject({ code: "budget_exceeded", budget: "maxHostCalls" }),
    ),
  },
];

/** What a run may use. */
export const limits: readonly Case[] = [...CALLS, ...SIZES, ...GUEST, ...TIMES];
