import {
  expect,
  alike,
  answers,
  each,
  errorOf,
  fails,
  resultThat,
  succeeds,
  type Case,
  type Check,
} from "../case.ts";

/** A success whose return value was replaced, because its JSON has so many characters. */
const truncated =
  (totalChars: number, start: string): Check =>
  (answer) => {
    resultThat((result: Record<string, unknown>) => {
      expect(Object.keys(result).sort()).toEqual(["hint", "preview", "totalChars", "truncated"]);
      expect(result).toMatchObject({ truncated: true, totalChars, hint: expect.any(String) });
      expect(String(result.preview).startsWith(start)).toBe(true);
      const size = JSON.stringify(result).length;
      expect(size).toBeLessThanOrEqual(24_000);
      expect(size).toBeGreaterThan(20_000);
    })(answer);
    expect(Object.keys(answer.structuredContent)).toEqual(["result"]);
  };

/** The return value. */
const RETURNED: readonly Case[] = [
  {
    clauses: ["R1"],
    title: "a return value of 24,000 serialized characters arrives unchanged",
    inputs: each({
      "a text": ["return 'y'.repeat(23998)", answers("y".repeat(23_998))],
      "characters, not bytes": ["return '日'.repeat(23998)", answers("日".repeat(23_998))],
      "escapes count": ["return '\"'.repeat(11999)", answers('"'.repeat(11_999))],
      "a list": [
        "return Array.from({ length: 11998 }, () => 1).concat(22)",
        answers([...Array.from({ length: 11_998 }, () => 1), 22]),
      ],
    }),
  },
  {
    clauses: ["R1"],
    title: "one character over, it is replaced by one envelope within the bound, as a success",
    inputs: each({
      "a text": ["return 'y'.repeat(23999)", truncated(24_001, '"yyy')],
      "characters, not bytes": ["return '日'.repeat(23999)", truncated(24_001, '"日')],
      "escapes count": ["return '\"'.repeat(12000)", truncated(24_002, '"\\"')],
      "a list": ["return Array.from({ length: 12000 }, () => 11)", truncated(36_001, "[11,11")],
      "by far": ["return { a: 'y'.repeat(3000000) }", truncated(3_000_008, '{"a":"yyy')],
    }),
  },
  {
    clauses: ["R1", "R2"],
    title:
      "a truncated return, emitted blocks and a view come in one response, none at another's cost",
    code: `await connecta.emit({ type: "text", text: "a".repeat(1500000) });
      await connecta.ui("<p>" + "b".repeat(1500000));
      await connecta.emit({ type: "image", data: "AAAA", mimeType: "image/png" });
      console.log("said");
      return "z".repeat(100000)`,
    check: (answer) => {
      expect(answer.isError).toBeUndefined();
      expect(answer.structuredContent).toEqual({
        result: {
          truncated: true,
          totalChars: 100_002,
          hint: expect.any(String),
          preview: expect.any(String),
        },
        emitted: 2,
        ui: true,
        logs: "said",
      });
      expect(answer.content[0]?.text).toBe(JSON.stringify(answer.structuredContent));
      expect(answer.content.slice(1)).toEqual([
        { type: "text", text: "a".repeat(1_500_000) },
        { type: "image", data: "AAAA", mimeType: "image/png" },
      ]);
      expect(answer._meta).toEqual({ "connecta/ui": { html: `<p>${"b".repeat(1_500_000)}` } });
    },
  },
];

/** What a program may try instead of returning. */
const CHEATED: Case = {
  clauses: ["R1", "E5"],
  title: "a program that replaces what joins its answer still gets a bounded one",
  inputs: alike(
    {
      "the joining of texts": `const long = '{"ok":true,"value":"' + "x".repeat(3e6) + '"}';
        String.prototype.concat = () => long; return 1`,
      serializing: `const long = '"' + "x".repeat(3e6) + '"'; JSON.stringify = () => long; return 1`,
      cutting: `String.prototype.slice = String.prototype.substring = function () { return "" + this };
        return "x".repeat(3e6)`,
    },
    (answer) => expect(JSON.stringify(answer).length).toBeLessThan(60_000),
  ),
};

/** The envelope. */
const ENVELOPES: readonly Case[] = [
  {
    clauses: ["R2"],
    title: "a program that emits, renders, logs and asks for nothing gets exactly { result }",
    inputs: each({
      "a value": ["async () => ({ n: 1 })", answers({ n: 1 })],
      "after host calls": ["await crm.echo(); await connecta.search({}); return 1", answers(1)],
      "after refused blocks and views": [
        "await connecta.emit({}).catch(() => {}); await connecta.ui('').catch(() => {}); return 1",
        answers(1),
      ],
    }),
  },
  {
    clauses: ["R2"],
    title: "every failure is { error } as structure and as JSON text, marked isError",
    inputs: alike(
      {
        "a syntax error": "return (",
        "a throw": "throw new Error('no')",
        "a failed call": "return crm.get_record({ id: 'gone' })",
        "a value outside JSON": "return 1n",
        "a budget": "for (;;) await crm.echo()",
      },
      fails({}),
    ),
  },
  {
    clauses: ["R2", "R4"],
    title: "a success holds result, emitted, ui, logs and diagnostics, and no other member",
    diagnostics: true,
    code: `console.log("said"); await connecta.emit({ type: "text", text: "a" }); await connecta.ui("<p>"); return 1`,
    check: ({ structuredContent }) => {
      expect(Object.keys(structuredContent).sort()).toEqual(
        ["diagnostics", "emitted", "logs", "result", "ui"].sort(),
      );
    },
  },
  {
    clauses: ["R2", "R4"],
    title: "a failure holds error, logs, what it discarded and diagnostics, and no other member",
    diagnostics: true,
    code: `console.log("said"); await connecta.emit({ type: "text", text: "a" }); await connecta.ui("<p>"); throw 1`,
    check: (answer) => {
      expect(errorOf(answer)).toMatchObject({ code: "program_error" });
      expect(Object.keys(answer.structuredContent).sort()).toEqual([
        "diagnostics",
        "emittedDiscarded",
        "error",
        "logs",
        "uiDiscarded",
      ]);
    },
  },
];

const LINES = `console.log("a", { n: 1 }, [undefined], 2, null, true);
  console.info("b");
  console.warn("c");
  console.error(new TypeError("d"));
  console.debug(undefined, "e");
  console.log();`;
const PRINTED =
  'a {"n":1} [null] 2 null true\nb\n[warn] c\n[error] TypeError: d\n[debug] undefined e\n';

/** Logs. */
const LOGS: readonly Case[] = [
  {
    clauses: ["R3"],
    title: "what is logged at any level is one text in call order, kept on failure",
    inputs: each({
      "of a success": [`${LINES}\nreturn 1`, succeeds({ result: 1, logs: PRINTED })],
      "of a failure": [
        `${LINES}\nthrow new Error("no")`,
        fails({ code: "program_error" }, { logs: PRINTED }),
      ],
    }),
  },
  {
    clauses: ["R3"],
    title: "logs keep their order across host calls and functions that run side by side",
    code: `const tell = async (name) => { console.log(name, 1); await crm.echo(); console.log(name, 2) };
      await tell("a");
      const both = Promise.all([tell("b"), tell("c")]);
      console.log("d");
      await both;
      return 1`,
    check: (answer) => {
      resultThat((result) => expect(result).toBe(1))(answer);
      const lines = String(answer.structuredContent.logs).split("\n");
      expect(lines.slice(0, 5)).toEqual(["a 1", "a 2", "b 1", "c 1", "d"]);
      expect(lines.slice(5).sort()).toEqual(["b 2", "c 2"]);
    },
  },
  {
    clauses: ["R3"],
    title: "logs are whole up to 4,000 characters and cut there",
    inputs: each({
      "at the bound": [
        "console.log('l'.repeat(4000)); return 1",
        succeeds({ result: 1, logs: "l".repeat(4_000) }),
      ],
      "at the bound in lines": [
        "for (let i = 0; i < 2000; i++) console.log('l'); console.log(''); return 1",
        (answer) => {
          expect(answer.structuredContent.logs).toBe(`${"l\n".repeat(2_000)}`);
        },
      ],
      "one over": [
        "console.log('l'.repeat(4001)); return 1",
        succeeds({ result: 1, logs: `${"l".repeat(3_999)}…` }),
      ],
      "a flood": [
        "for (let i = 0; i < 20000; i++) console.log('line', i); return 1",
        (answer) => {
          const logs = String(answer.structuredContent.logs);
          expect(logs.length).toBeLessThanOrEqual(4_000);
          expect(logs.length).toBeGreaterThan(3_900);
          expect(logs.startsWith("line 0\nline 1\n")).toBe(true);
        },
      ],
    }),
  },
];

const OPERATIONS = `const { tools } = await connecta.search({ query: "record", limit: 2 });
  await connecta.describe({ address: "crm.echo" });
  await connecta.call("crm.text", { chars: 1000, of: "é" });
  await connecta.call("crm.get_record", { id: "private-id" });
  await crm.get_record({ id: "private-id" });
  await connecta.batch([{ address: "crm.echo" }, { address: "crm.echo", args: { a: "private" } }]);
  await connecta.emit({ type: "text", text: "ab" });
  await connecta.ui("<p>");
  return tools.length`;

interface Operation {
  readonly count: number;
  readonly ms: number;
  readonly argumentBytes: number;
  readonly resultBytes: number;
}

function diagnosticsOf({ structuredContent }: { structuredContent: Record<string, unknown> }) {
  return structuredContent.diagnostics as Record<string, unknown> & {
    readonly operations: Readonly<Record<string, Operation>>;
  };
}

const NAMES = ["batch", "call", "describe", "emit", "search", "shortcut", "ui"];
const TIMES = ["admissionMs", "catalogMs", "connectorMs", "executorMs", "totalMs"];

/** Diagnostics. */
const DIAGNOSTICS: readonly Case[] = [
  {
    clauses: ["R4"],
    title: "diagnostics are times, counts and sizes: no text, address, argument or value",
    diagnostics: true,
    code: OPERATIONS,
    check: (answer) => {
      const diagnostics = diagnosticsOf(answer);
      const leaves: unknown[] = [];
      JSON.stringify(diagnostics, (_, value: unknown) => {
        if (typeof value !== "object") leaves.push(value);
        return value;
      });
      expect(leaves.length).toBeGreaterThan(20);
      for (const leaf of leaves) expect(leaf).toEqual(expect.any(Number));
      for (const leaf of leaves) expect(leaf).toBeGreaterThanOrEqual(0);
      const { operations, emitted, ui, setupMs: _, cpuMs: __, ...others } = diagnostics;
      expect(Object.keys(others).sort()).toEqual([...TIMES, "resultChars", "sourceBytes"].sort());
      expect(Object.keys(operations).sort()).toEqual(NAMES);
      expect([emitted, ui]).toEqual([{ count: 1, bytes: 27 }, 14]);
    },
  },
  {
    clauses: ["R4"],
    title: "diagnostics count each operation, and its bytes in both directions",
    diagnostics: true,
    code: OPERATIONS,
    check: (answer) => {
      const { operations } = diagnosticsOf(answer);
      const counts = Object.entries(operations).map(([name, { count }]) => [name, count]);
      expect(Object.fromEntries(counts)).toEqual({
        batch: 1,
        call: 2,
        describe: 1,
        emit: 1,
        search: 1,
        shortcut: 1,
        ui: 1,
      });
      for (const operation of Object.values(operations)) {
        expect(Object.keys(operation).sort()).toEqual([
          "argumentBytes",
          "count",
          "ms",
          "resultBytes",
        ]);
        expect(operation.argumentBytes).toBeGreaterThan(2);
      }
      // A text of a thousand two-byte characters and its quotes, and a record.
      expect(operations.call?.resultBytes).toBeGreaterThanOrEqual(2_002 + 50);
      expect(operations.call?.resultBytes).toBeLessThan(2_002 + 200);
      expect(operations.shortcut?.resultBytes).toBeGreaterThanOrEqual(50);
    },
  },
  {
    clauses: ["R4"],
    title:
      "the times of a run hold each other: the total is the longest, a wait is the connector's",
    diagnostics: true,
    code: "await probe.pause({ ms: 60 }); return 1",
    check: (answer) => {
      const { totalMs, executorMs, admissionMs, connectorMs } = diagnosticsOf(
        answer,
      ) as unknown as Record<string, number>;
      expect(connectorMs).toBeGreaterThan(50);
      expect(executorMs).toBeGreaterThan(50);
      expect(totalMs).toBeGreaterThanOrEqual(Number(executorMs));
      expect(totalMs).toBeGreaterThanOrEqual(Number(admissionMs));
    },
  },
  {
    clauses: ["R4"],
    title: "source and result are measured",
    diagnostics: true,
    code: "return 'é' + 1",
    check: (answer) => {
      expect(diagnosticsOf(answer)).toMatchObject({ sourceBytes: 15, resultChars: 4 });
    },
  },
  {
    clauses: ["R4"],
    title: "nobody gets diagnostics unasked, and who asks gets them of failures too",
    script: async (gateway) => {
      expect((await gateway.run("return 1")).structuredContent).toEqual({ result: 1 });
      for (const code of ["throw 1", "return (", "return 1n"]) {
        const answer = await gateway.run(code, { diagnostics: true });
        errorOf(answer);
        expect(diagnosticsOf(answer)).toMatchObject({ sourceBytes: code.length });
        expect(diagnosticsOf(answer).totalMs).toEqual(expect.any(Number));
      }
    },
  },
];

/** What a response holds. */
export const results: readonly Case[] = [
  ...RETURNED,
  CHEATED,
  ...ENVELOPES,
  ...LOGS,
  ...DIAGNOSTICS,
];
