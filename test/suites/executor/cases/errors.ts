import {
  expect,
  alike,
  answers,
  each,
  errorOf,
  fails,
  SOME_COLUMN,
  succeeds,
  type Case,
} from "../case.ts";

const own = (message: string, line?: number) =>
  fails({
    code: "program_error",
    message: expect.stringContaining(message),
    ...(line !== undefined && { line, column: SOME_COLUMN }),
  });

/** Failed calls. */
const CALLS: readonly Case[] = [
  {
    clauses: ["E1"],
    title: "a failed call throws an Error with code, message, retryable and details",
    inputs: alike(
      {
        "of connecta.call": `try { await connecta.call("crm.get_record", { id: "gone" }) } catch (e) {
          return [e instanceof Error, e.name, e.message, e.code, e.retryable, e.address, Object.keys(e).includes("code")];
        }`,
        "of a shortcut": `return crm.get_record({ id: "gone" }).catch((e) =>
          [e instanceof Error, e.name, e.message, e.code, e.retryable, e.address, Object.keys(e).includes("code")])`,
      },
      answers([true, "Error", "No such record.", "not_found", false, "crm.get_record", true]),
    ),
  },
  {
    clauses: ["E1"],
    title: "uncaught, a failed call keeps its type in the tool result",
    inputs: alike(
      {
        awaited: 'async () => {\n  await crm.get_record({ id: "gone" });\n}',
        returned: 'return connecta.call("crm.get_record", { id: "gone" })',
        "rethrown after being caught":
          'try { await crm.get_record({ id: "gone" }) } catch (e) { throw e }',
        "out of Promise.all": 'return Promise.all([crm.echo(), crm.get_record({ id: "gone" })])',
        "thrown out of a nested function":
          'const f = async () => { await crm.get_record({ id: "gone" }) };\nconst g = () => f();\nreturn await g();',
        "with its fields changed":
          'return crm.get_record({ id: "gone" }).catch((e) => { e.message = "mine"; throw e })',
      },
      fails({
        code: "not_found",
        message: "No such record.",
        retryable: false,
        address: "crm.get_record",
      }),
    ),
  },
  {
    clauses: ["E1", "E2"],
    title: "arguments that the tool's schema refuses are invalid_args with up to three findings",
    code: 'return connecta.call("crm.get_record", { id: 7, a: 1, b: 2, c: 3 })',
    check: (answer) => {
      const error = errorOf(answer);
      expect(error).toMatchObject({ code: "invalid_args", address: "crm.get_record" });
      const findings = error.findings as readonly Record<string, unknown>[];
      expect(findings.length).toBeGreaterThan(0);
      expect(findings.length).toBeLessThanOrEqual(3);
      for (const finding of findings) {
        expect(Object.keys(finding).sort()).toEqual(["code", "expected", "path"]);
      }
    },
  },
];

/** What the program itself throws. */
const OWN: readonly Case[] = [
  {
    clauses: ["E1"],
    title: "the program's own throw is program_error with its message, line and column",
    inputs: each({
      "in an async arrow": [
        "async () => {\n  const a = 1;\n  throw new RangeError('bad');\n}",
        (answer) => {
          expect(errorOf(answer).message).toMatch(/^RangeError: bad \(line 3, column \d+\)$/);
          own("RangeError: bad", 3)(answer);
        },
      ],
      "in a bare body": ["const a = null;\nreturn a.b;", own("TypeError", 2)],
      "in a fence": ["```js\nasync () => {\n  throw new Error('bad');\n}\n```", own("bad", 3)],
      "under a comment": [
        "// one\n// two\nasync () => {\n  throw new Error('bad') }",
        own("bad", 4),
      ],
      "an unknown name": ["return 1 +\n  missing;", own("missing", 2)],
      "in a nested function": [
        "const f = () => {\n  throw new Error('deep');\n};\nconst g = () => f();\nreturn g();",
        own("deep", 2),
      ],
      "after an await": [
        "await crm.echo();\nawait null;\nthrow new Error('late');",
        own("late", 3),
      ],
      "in an awaited function": [
        "const f = async () => {\n  await null;\n  throw new Error('later');\n};\nawait f();\nreturn 1;",
        own("later", 3),
      ],
      "in a callback": ["return [1].map(() => {\n  throw new Error('each');\n})", own("each", 2)],
      "a rejected promise": ["return Promise.reject(new Error('no'))", own("no", 1)],
      "in a program of one line": ["async () => { throw new Error('no') }", own("no", 1)],
      "of an error class of its own": [
        "class Missing extends Error { name = 'Missing' }\nthrow new Missing('paper');",
        own("Missing: paper", 2),
      ],
      "with a cause": ["throw new Error('outer', { cause: new Error('inner') })", own("outer", 1)],
      "around a failed call": [
        "await crm.get_record({ id: 'gone' }).catch((cause) => {\n  throw new Error('no data', { cause });\n});\nreturn 1;",
        own("no data", 2),
      ],
      "of many errors": ["return Promise.any([Promise.reject(1)])", own("AggregateError")],
    }),
  },
  {
    clauses: ["E1"],
    title: "whatever else a program throws is program_error and says what was thrown",
    inputs: each({
      "a text": ["throw 'text'", own("Threw text")],
      "a number": ["throw 42", own("42")],
      undefined: ["throw undefined", own("undefined")],
      null: ["throw null", own("null")],
      "a BigInt": ["throw 7n", own("7")],
      "a symbol": ["throw Symbol('sign')", own("sign")],
      "an object": ["throw { reason: 'paper' }", own("paper")],
      "an array": ["throw ['paper']", own("paper")],
      "a rejected promise of no error": ["return Promise.reject('paper')", own("paper")],
      "an error that cannot be read": [
        "const e = new Error('x'); Object.defineProperty(e, 'message', { get() { throw 1 } }); throw e",
        own("Threw"),
      ],
      "a proxy that refuses everything": [
        "const no = () => { throw 1 }; throw new Proxy({}, { get: no, getPrototypeOf: no, has: no, ownKeys: no })",
        own("Threw"),
      ],
      "a revoked proxy": [
        "const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy",
        own("Threw"),
      ],
    }),
  },
  {
    clauses: ["E1", "E3"],
    title: "a message of any length is cut, and the failure stays small",
    code: "throw new Error('m'.repeat(1000000))",
    check: (answer) => {
      own("Error: mmm")(answer);
      expect(JSON.stringify(answer).length).toBeLessThan(10_000);
    },
  },
  {
    clauses: ["E1"],
    title: "a program that waits for what can never settle fails as program_error",
    needs: "stall",
    inputs: alike(
      {
        "a promise of its own": "await new Promise(() => {});\nreturn 1",
        "after a host call": "await crm.echo();\nawait new Promise(() => {});\nreturn 1",
        "a thenable": "await { then() {} };\nreturn 1",
      },
      own("never settle"),
    ),
  },
];

const record = "await crm.get_record({ id: 'r' });\n";

/** Rejections that nobody handles. */
const UNHANDLED: readonly Case[] = [
  {
    clauses: ["E1", "R3"],
    title: "a rejection that nobody handled by the end of a run is a line in its logs",
    inputs: each({
      "of a run that succeeds": [
        "Promise.reject(new TypeError('lost'));\nreturn 1",
        succeeds({ result: 1, logs: "[unhandled] TypeError: lost" }),
      ],
      "of a function that was not awaited": [
        "const f = async () => { throw new RangeError('lost') };\nf();\nreturn 1",
        succeeds({ result: 1, logs: "[unhandled] RangeError: lost" }),
      ],
      "of a host call that was not awaited": [
        `crm.get_record({ id: 'gone' });\n${record.repeat(3)}return 1`,
        succeeds({ result: 1, logs: "[unhandled] Error: No such record." }),
      ],
      "of a run that fails": [
        "Promise.reject(new Error('first'));\nthrow new Error('second')",
        fails({ code: "program_error" }, { logs: "[unhandled] Error: first" }),
      ],
      "of a run that waits forever": [
        "Promise.reject(new TypeError('lost'));\nawait new Promise(() => {});\nreturn 1",
        fails(
          { code: "program_error", message: expect.stringContaining("never settle") },
          { logs: "[unhandled] TypeError: lost" },
        ),
        { needs: "stall" },
      ],
      "several, behind what was printed": [
        "console.log('a');\nPromise.reject(new Error('b'));\nPromise.reject(new Error('c'));\nreturn 1",
        succeeds({ result: 1, logs: "a\n[unhandled] Error: b\n[unhandled] Error: c" }),
      ],
    }),
  },
  {
    clauses: ["E1", "R3"],
    title: "host calls that the program did not wait for are dropped, and the logs say how many",
    code: "[1, 2, 3].forEach(async () => probe.wait({ key: 'dropped' }));\nreturn 1",
    check: succeeds({ result: 1, logs: "[unhandled] not awaited, and dropped: 3 host calls" }),
  },
  {
    clauses: ["E1", "R3"],
    title: "a rejection that is handled, however late, is no line in the logs",
    inputs: each({
      "at once": ["Promise.reject(new Error('a')).catch(() => {});\nreturn 1", answers(1)],
      "after a host call": [
        `const p = Promise.reject(new Error('a'));\n${record}try { await p } catch {}\nreturn 1`,
        answers(1),
      ],
      "by Promise.all and its siblings": [
        `await Promise.all([Promise.reject(1), Promise.reject(2)]).catch(() => {});
        await Promise.allSettled([Promise.reject(3)]);
        return 1`,
        answers(1),
      ],
      "as the failure of the run itself": ["return Promise.reject(new Error('a'))", own("a", 1)],
    }),
  },
];

/** How failures are told. */
export const errors: readonly Case[] = [...CALLS, ...OWN, ...UNHANDLED];
