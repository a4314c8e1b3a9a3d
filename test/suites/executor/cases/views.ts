import {
  expect,
  alike,
  answers,
  delivers,
  each,
  fails,
  mapped,
  resultThat,
  type Case,
} from "../case.ts";

const attempt = (args: string) =>
  `return connecta.ui(${args}).then(() => "accepted", (e) => [e instanceof Error, e.code])`;
const reads = (manifest: string) => attempt(`"<p>", { reads: ${manifest} }`);

/** One view, as it was given. */
const PAYLOADS: readonly Case[] = [
  {
    clauses: ["U3", "U1"],
    title: "a view rides in _meta exactly as given, and the model reads ui: true alone",
    inputs: each({
      "a page": [
        'await connecta.ui("<p>hi</p>"); return "shown"',
        delivers({ envelope: { result: "shown", ui: true }, view: { html: "<p>hi</p>" } }),
      ],
      "any text": [
        'await connecta.ui("é\\u2028</script><!--\\u0000😀"); return 1',
        delivers({
          envelope: { result: 1, ui: true },
          view: { html: "é\u2028</script><!--\u0000😀" },
        }),
      ],
      "not awaited": [
        'connecta.ui("<p>", { reads: { one: { address: "crm.get_record" } } }); return 1',
        delivers({
          envelope: { result: 1, ui: true },
          view: { html: "<p>", reads: { one: { address: "crm.get_record" } } },
        }),
      ],
      "with blocks, which it leaves alone": [
        'await connecta.ui("<p>"); await connecta.emit({ type: "text", text: "a" }); return 1',
        delivers({
          envelope: { result: 1, emitted: 1, ui: true },
          blocks: [{ type: "text", text: "a" }],
          view: { html: "<p>" },
        }),
      ],
    }),
  },
  {
    clauses: ["U1"],
    title: "ui resolves to undefined",
    code: 'return [await connecta.ui("<p>") === undefined]',
    check: delivers({ envelope: { result: [true], ui: true }, view: { html: "<p>" } }),
  },
  {
    clauses: ["U1"],
    title: "anything but a non-empty text of HTML throws invalid_args, and nothing is accepted",
    inputs: alike(
      Object.fromEntries(
        [
          "",
          '""',
          "5",
          "null",
          "undefined",
          "['<p>']",
          "{ html: '<p>' }",
          "{ type: 'text', text: '<p>' }",
          "'<p>', {}",
          "'<p>', undefined, 1",
          "'<p>', 1",
          "'<p>', { title: 'x' }",
        ].map((args) => [`ui(${args})`, attempt(args)]),
      ),
      answers([true, "invalid_args"]),
    ),
  },
  {
    clauses: ["U2"],
    title: "a second view is refused in words, can be caught, and the first stands",
    inputs: each({
      "one after the other": [
        `await connecta.ui("<p>1</p>");
        return connecta.ui("<p>2</p>").catch((e) => [e.code, /one/.test(e.message)])`,
        delivers({
          envelope: { result: ["invalid_args", true], ui: true },
          view: { html: "<p>1</p>" },
        }),
      ],
      "at once, with and without reads": [
        `const both = await Promise.allSettled([
          connecta.ui("1", { reads: { a: { address: "crm.echo" } } }), connecta.ui("2")]);
        return both.map(({ status }) => status)`,
        delivers({
          envelope: { result: ["fulfilled", "rejected"], ui: true },
          view: { html: "1", reads: { a: { address: "crm.echo" } } },
        }),
      ],
      "after a refused one, which was none": [
        `await connecta.ui("").catch(() => {}); await connecta.ui("<p>"); return 1`,
        delivers({ envelope: { result: 1, ui: true }, view: { html: "<p>" } }),
      ],
      uncaught: [
        'await connecta.ui("1"); return connecta.ui("2")',
        fails({ code: "invalid_args" }, { uiDiscarded: true }),
      ],
    }),
  },
];

/** Where nobody set a limit. */
const UNSET = { deployment: "default" } as const;

/** The budget that blocks and the view share. */
const BUDGET: readonly Case[] = [
  {
    clauses: ["U4", "L1"],
    title: "blocks and the view spend one budget of bytes, which names the room left",
    deployment: "tight",
    inputs: each({
      "together exactly": [
        `await connecta.emit({ type: "text", text: "x".repeat(75) });
        await connecta.ui("y".repeat(189));
        return 1`,
        delivers({
          envelope: { result: 1, emitted: 1, ui: true },
          blocks: [{ type: "text", text: "x".repeat(75) }],
          view: { html: "y".repeat(189) },
        }),
      ],
      "a view one byte too large": [
        `await connecta.emit({ type: "text", text: "x".repeat(75) });
        return connecta.ui("y".repeat(190)).catch((e) => [e.code, e.budget, e.remaining, e.message.includes("200")])`,
        delivers({
          envelope: { result: ["budget_exceeded", "maxEmittedBytes", 200, true], emitted: 1 },
          blocks: [{ type: "text", text: "x".repeat(75) }],
        }),
      ],
      "a block one byte too large": [
        `await connecta.ui("y".repeat(189));
        return connecta.emit({ type: "text", text: "x".repeat(76) }).catch((e) => [e.code, e.budget, e.remaining])`,
        delivers({
          envelope: { result: ["budget_exceeded", "maxEmittedBytes", 100], ui: true },
          view: { html: "y".repeat(189) },
        }),
      ],
      "the reads of a view count": [
        `const reads = { a: { address: "crm.echo", fixedArgs: { a: "z".repeat(250) } } };
        return connecta.ui("y", { reads }).catch((e) => [e.code, e.remaining])`,
        answers(["budget_exceeded", 300]),
      ],
      "after a refused view a smaller one still fits": [
        `const refused = await connecta.ui("y".repeat(290)).catch((e) => e.remaining);
        await connecta.ui("y".repeat(289));
        return refused`,
        delivers({ envelope: { result: 300, ui: true }, view: { html: "y".repeat(289) } }),
      ],
      "one view of all four million, where nobody set it": [
        'await connecta.ui("y".repeat(3999989)); return 1',
        delivers({ envelope: { result: 1, ui: true }, view: { html: "y".repeat(3_999_989) } }),
        UNSET,
      ],
      ...mapped(
        { "one over, where nobody set it": 3_999_990, "far over, where nobody set it": 9_000_000 },
        (chars) =>
          [
            `return connecta.ui("y".repeat(${chars}))`,
            fails({ code: "budget_exceeded", budget: "maxEmittedBytes", remaining: 4_000_000 }),
            UNSET,
          ] as const,
      ),
    }),
  },
  {
    clauses: ["U4"],
    title: "a view spends none of the blocks",
    deployment: "tight",
    code: `await connecta.ui("<p>");
      for (const text of ["a", "b", "c"]) await connecta.emit({ type: "text", text });
      return 1`,
    check: delivers({
      envelope: { result: 1, emitted: 3, ui: true },
      blocks: ["a", "b", "c"].map((text) => ({ type: "text", text })),
      view: { html: "<p>" },
    }),
  },
  {
    clauses: ["U9", "R4"],
    title: "diagnostics tell a view's bytes apart from those of blocks, and only when there is one",
    script: async (gateway) => {
      const asked = { diagnostics: true } as const;
      const shown = await gateway.run(
        'await connecta.ui("<p>"); await connecta.emit({ type: "text", text: "ab" }); return 1',
        asked,
      );
      expect(shown.structuredContent.diagnostics).toMatchObject({
        ui: 14,
        emitted: { count: 1, bytes: 27 },
      });
      const plain = (await gateway.run("return 1", asked)).structuredContent.diagnostics;
      expect(plain).not.toHaveProperty("ui");
      expect(plain).not.toHaveProperty("emitted");
    },
  },
];

/** Reads as a program declares them. */
const READS: readonly Case[] = [
  {
    clauses: ["V3", "V1"],
    title: "declared reads ride beside the page exactly as declared",
    code: `await connecta.ui("<p>", { reads: {
        refresh: { address: "crm.get_record", fixedArgs: { id: "r1" }, viewArgs: ["page", "cursor"] },
        all: { address: "tickets-eu.list-open" },
      } });
      return 1`,
    check: delivers({
      envelope: { result: 1, ui: true },
      view: {
        html: "<p>",
        reads: {
          refresh: {
            address: "crm.get_record",
            fixedArgs: { id: "r1" },
            viewArgs: ["page", "cursor"],
          },
          all: { address: "tickets-eu.list-open" },
        },
      },
    }),
  },
  {
    clauses: ["V1"],
    title: "a manifest that breaks a rule throws invalid_args, and no view is accepted",
    inputs: alike(
      {
        "no reads": reads("{}"),
        "a list": reads("[]"),
        undefined: reads("undefined"),
        "a name with a space": reads("{ 'a b': { address: 'crm.echo' } }"),
        "a name that starts with a digit": reads("{ '1a': { address: 'crm.echo' } }"),
        "a name of 65 characters": reads("{ ['a'.repeat(65)]: { address: 'crm.echo' } }"),
        "an unsafe name": reads("{ constructor: { address: 'crm.echo' } }"),
        "an inherited name": reads('JSON.parse(\'{"__proto__":{"address":"crm.echo"}}\')'),
        "33 names": reads(
          "Object.fromEntries(Array.from({ length: 33 }, (_, i) => ['a' + i, { address: 'crm.echo' }]))",
        ),
        "no address": reads("{ a: {} }"),
        "an empty address": reads("{ a: { address: '' } }"),
        "a field too many": reads("{ a: { address: 'crm.echo', method: 'post' } }"),
        "fixed arguments that are none": reads("{ a: { address: 'crm.echo', fixedArgs: [1] } }"),
        "an unsafe fixed name": reads(
          '{ a: { address: "crm.echo", fixedArgs: JSON.parse(\'{"__proto__":1}\') } }',
        ),
        "33 view names": reads(
          "{ a: { address: 'crm.echo', viewArgs: Array.from({ length: 33 }, (_, i) => 'a' + i) } }",
        ),
        "a view name twice": reads("{ a: { address: 'crm.echo', viewArgs: ['b', 'b'] } }"),
        "an unsafe view name": reads("{ a: { address: 'crm.echo', viewArgs: ['prototype'] } }"),
        "a name both fixed and the view's": reads(
          "{ a: { address: 'crm.echo', fixedArgs: { b: 1 }, viewArgs: ['b'] } }",
        ),
      },
      answers([true, "invalid_args"]),
    ),
  },
  {
    clauses: ["V1"],
    title: "thirty-two reads with thirty-two names each are accepted",
    code: `const viewArgs = Array.from({ length: 32 }, (_, i) => "b" + i);
      const reads = Object.fromEntries(Array.from({ length: 32 }, (_, i) => ["a" + i, { address: "crm.echo", viewArgs }]));
      await connecta.ui("<p>", { reads });
      return 1`,
    check: (answer) => {
      resultThat((result) => expect(result).toBe(1))(answer);
      const view = answer._meta?.["connecta/ui"] as { reads: Record<string, unknown> };
      expect(Object.keys(view.reads)).toHaveLength(32);
    },
  },
  {
    clauses: ["V2", "E2"],
    title: "a read of what is not an explicitly read-only tool is refused with the tool's own code",
    inputs: each(
      Object.fromEntries(
        Object.entries({
          "crm.update_record": "destructive_tool_requires_approval",
          "mail.unannotated": "destructive_tool_requires_approval",
          "mail.contradictory": "destructive_tool_requires_approval",
          "crm.nothing": "unknown_tool",
          "nobody.home": "unknown_address",
        }).map(([address, code]) => [
          address,
          [reads(`{ a: { address: "${address}" } }`), answers([true, code])] as const,
        ]),
      ),
    ),
  },
  {
    clauses: ["V2"],
    title: "declaring reads spends no host call",
    code: `await connecta.ui("<p>", { reads: { a: { address: "crm.update_record" } } }).catch(() => {});
      await connecta.ui("<p>", { reads: { a: { address: "crm.echo" } } });
      for (let i = 0; i < 20; i++) await crm.echo();
      return 1`,
    check: resultThat((result) => expect(result).toBe(1)),
  },
];

/** The view beside the result. */
export const views: readonly Case[] = [...PAYLOADS, ...BUDGET, ...READS];
