import {
  expect,
  alike,
  answers,
  delivers,
  each,
  fails,
  mapped,
  resultThat,
  succeeds,
  type Case,
} from "../case.ts";

const TEXT = { type: "text", text: "one" };
const IMAGE = { type: "image", data: "aGk=", mimeType: "image/png" };
const AUDIO = { type: "audio", data: "AAAA", mimeType: "audio/mpeg" };
const emit = (block: unknown) => `await connecta.emit(${JSON.stringify(block)});\n`;

/** Emits one block and answers the code of the refusal, if there was one. */
const attempt = (args: string) =>
  `return connecta.emit(${args}).then(() => "accepted", (e) => [e instanceof Error, e.code])`;

/** Blocks. */
const BLOCKS: readonly Case[] = [
  {
    clauses: ["M1", "M2"],
    title: "texts, images and audio are delivered behind the envelope, in order and unchanged",
    inputs: each({
      "one of each": [
        `${emit(TEXT)}${emit(IMAGE)}${emit(AUDIO)}return 1`,
        delivers({ envelope: { result: 1, emitted: 3 }, blocks: [TEXT, IMAGE, AUDIO] }),
      ],
      "one after the other, not awaited each": [
        `await Promise.all([1, 2, 3, 4].map((n) => connecta.emit({ type: "text", text: "n" + n })));\nreturn 1`,
        delivers({
          envelope: { result: 1, emitted: 4 },
          blocks: [1, 2, 3, 4].map((n) => ({ type: "text", text: `n${n}` })),
        }),
      ],
      "the same block twice": [
        `${emit(TEXT)}${emit(TEXT)}return 1`,
        delivers({ envelope: { result: 1, emitted: 2 }, blocks: [TEXT, TEXT] }),
      ],
      "an empty text": [
        `${emit({ type: "text", text: "" })}return 1`,
        delivers({ envelope: { result: 1, emitted: 1 }, blocks: [{ type: "text", text: "" }] }),
      ],
    }),
  },
  {
    clauses: ["M1", "M2"],
    title:
      "a block that the program did not wait for is delivered, or its refusal told in the logs",
    inputs: each({
      delivered: [
        `connecta.emit(${JSON.stringify(TEXT)});\nreturn 1`,
        delivers({ envelope: { result: 1, emitted: 1 }, blocks: [TEXT] }),
      ],
      refused: [
        "connecta.emit({});\nreturn 1",
        succeeds({ result: 1, logs: expect.stringMatching(/^\[unhandled\] Error: .*block/) }),
      ],
    }),
  },
  {
    clauses: ["M1"],
    title: "emit resolves to undefined",
    code: `return [await connecta.emit(${JSON.stringify(TEXT)}) === undefined]`,
    check: delivers({ envelope: { result: [true], emitted: 1 }, blocks: [TEXT] }),
  },
  {
    clauses: ["M1"],
    title: "anything else throws invalid_args, can be caught, and nothing is accepted",
    inputs: alike(
      {
        nothing: attempt(""),
        "two blocks": attempt(`${JSON.stringify(TEXT)}, ${JSON.stringify(TEXT)}`),
        "a list of blocks": attempt(JSON.stringify([TEXT])),
        "a plain text": attempt('"text"'),
        null: attempt("null"),
        "no type": attempt('{ text: "a" }'),
        "an unknown type": attempt('{ type: "video", data: "AAAA", mimeType: "video/mp4" }'),
        "a field too many": attempt('{ type: "text", text: "a", annotations: {} }'),
        "a _meta": attempt('{ type: "text", text: "a", _meta: {} }'),
        "a text that is none": attempt('{ type: "text", text: 1 }'),
        "an image without a type": attempt('{ type: "image", data: "AAAA" }'),
        "an image of another type": attempt(
          '{ type: "image", data: "AAAA", mimeType: "text/html" }',
        ),
        "audio as an image": attempt('{ type: "audio", data: "AAAA", mimeType: "image/png" }'),
        "data that is no base64": attempt('{ type: "image", data: "<>", mimeType: "image/png" }'),
        "base64 of no whole group": attempt('{ type: "image", data: "a", mimeType: "image/png" }'),
        "base64 with a wrong end": attempt(
          '{ type: "image", data: "aGk==", mimeType: "image/png" }',
        ),
        "empty data": attempt('{ type: "image", data: "", mimeType: "image/png" }'),
      },
      answers([true, "invalid_args"]),
    ),
  },
  {
    clauses: ["M1"],
    title: "a block that carries a URI is refused",
    inputs: alike(
      {
        "a link": attempt('{ type: "resource_link", uri: "https://x.example", name: "x" }'),
        "a resource": attempt(
          '{ type: "resource", resource: { uri: "file:///etc/passwd", text: "" } }',
        ),
        "a view as a resource": attempt(
          '{ type: "resource", resource: { uri: "ui://x", mimeType: "text/html;profile=mcp-app", text: "<p>" } }',
        ),
        "a text with one": attempt('{ type: "text", text: "a", uri: "x" }'),
        "an image by address": attempt('{ type: "image", url: "https://x.example/a.png" }'),
      },
      answers([true, "invalid_args"]),
    ),
  },
];

/** Where nobody set a limit. */
const UNSET = { deployment: "default" } as const;

/** Budgets. */
const BUDGETS: readonly Case[] = [
  {
    clauses: ["M3", "L1"],
    title: "blocks over maxEmittedBlocks fail at the call, naming the budget and no room",
    inputs: each({
      "thirty-two": [
        `for (let i = 0; i < 32; i++) ${emit(TEXT)}return 1`,
        delivers({
          envelope: { result: 1, emitted: 32 },
          blocks: Array.from({ length: 32 }, () => TEXT),
        }),
      ],
      "the thirty-third": [
        `for (let i = 0; i < 33; i++) ${emit(TEXT)}return 1`,
        fails(
          { code: "budget_exceeded", budget: "maxEmittedBlocks", remaining: 0 },
          { emittedDiscarded: 32 },
        ),
      ],
      "five where three are allowed, caught": [
        `const refused = [];
        for (let i = 0; i < 5; i++) {
          await connecta.emit({ type: "text", text: "" + i }).catch((e) => refused.push([e.budget, e.remaining]));
        }
        return refused`,
        delivers({
          envelope: {
            result: Array.from({ length: 2 }, () => ["maxEmittedBlocks", 0]),
            emitted: 3,
          },
          blocks: ["0", "1", "2"].map((text) => ({ type: "text", text })),
        }),
        { deployment: "tight" },
      ],
    }),
  },
  {
    clauses: ["M3", "L1"],
    title: "bytes over maxEmittedBytes fail at the call, naming the budget and the room left",
    deployment: "tight",
    inputs: each({
      "a block of all bytes": [
        `await connecta.emit({ type: "text", text: "x".repeat(275) }); return 1`,
        delivers({
          envelope: { result: 1, emitted: 1 },
          blocks: [{ type: "text", text: "x".repeat(275) }],
        }),
      ],
      "one byte over": [
        `return connecta.emit({ type: "text", text: "x".repeat(276) })`,
        fails({
          code: "budget_exceeded",
          retryable: false,
          budget: "maxEmittedBytes",
          remaining: 300,
          message: expect.stringContaining("maxEmittedBytes"),
        }),
      ],
      "bytes, not characters": [
        `return connecta.emit({ type: "text", text: "é".repeat(138) }).catch((e) => [e.budget, e.remaining])`,
        answers(["maxEmittedBytes", 300]),
      ],
      "after a first block, a smaller one still fits": [
        `await connecta.emit({ type: "text", text: "x".repeat(175) });
        const room = await connecta.emit({ type: "text", text: "y".repeat(76) }).catch((e) => e.remaining);
        await connecta.emit({ type: "text", text: "z".repeat(75) });
        return room`,
        delivers({
          envelope: { result: 100, emitted: 2 },
          blocks: [
            { type: "text", text: "x".repeat(175) },
            { type: "text", text: "z".repeat(75) },
          ],
        }),
      ],
      "one block of all four million, where nobody set it": [
        `await connecta.emit({ type: "text", text: "x".repeat(3999975) }); return 1`,
        delivers({
          envelope: { result: 1, emitted: 1 },
          blocks: [{ type: "text", text: "x".repeat(3_999_975) }],
        }),
        UNSET,
      ],
      ...mapped(
        { "one over, where nobody set it": 3_999_976, "far over, where nobody set it": 9_000_000 },
        (chars) =>
          [
            `return connecta.emit({ type: "text", text: "x".repeat(${chars}) })`,
            fails({ code: "budget_exceeded", budget: "maxEmittedBytes", remaining: 4_000_000 }),
            UNSET,
          ] as const,
      ),
    }),
  },
  {
    clauses: ["M3"],
    title: "emitting and rendering spend no host call",
    code: `for (let i = 0; i < 20; i++) ${emit(TEXT)}await connecta.ui("<p>");
      for (let i = 0; i < 20; i++) await crm.echo();
      return 1`,
    check: resultThat((result) => expect(result).toBe(1)),
  },
  {
    clauses: ["M3"],
    title: "refused blocks and views are bounded like accepted ones",
    inputs: alike(
      Object.fromEntries(
        ["connecta.emit({})", 'connecta.ui("")'].map((call) => [
          call,
          `let refused = 0;
          for (;;) try { await ${call} } catch (e) {
            if (e.code === "budget_exceeded") return refused;
            refused++;
          }`,
        ]),
      ),
      succeeds({ result: 64 }),
    ),
  },
];

const BOTH = `console.log("before");\n${emit(TEXT)}${emit(IMAGE)}await connecta.ui("<p>");\n`;
const DISCARDED = { logs: "before", emittedDiscarded: 2, uiDiscarded: true };

/** What a failure leaves. */
const DISCARDS: readonly Case[] = [
  {
    clauses: ["M2", "U3", "R2", "R3"],
    title:
      "however a run fails, it delivers neither blocks nor view and says what it dropped and logged",
    inputs: each({
      "a throw": [`${BOTH}throw new Error("no")`, fails({ code: "program_error" }, DISCARDED)],
      "a failed call": [
        `${BOTH}return crm.get_record({ id: "gone" })`,
        fails({ code: "not_found" }, DISCARDED),
      ],
      "a value outside JSON": [`${BOTH}return 1n`, fails({ code: "not_serializable" }, DISCARDED)],
      "a budget": [
        `${BOTH}for (;;) await crm.echo()`,
        fails({ code: "budget_exceeded" }, DISCARDED),
      ],
      "a refused write": [
        `${BOTH}return crm.update_record({ id: "a" })`,
        fails({ code: "destructive_tool_requires_approval" }, DISCARDED),
      ],
      "a getter that throws": [
        `${BOTH}return { get a() { throw 1 } }`,
        fails({ code: "program_error" }, DISCARDED),
      ],
      "too much computing": [
        `${BOTH}while (true);`,
        fails({ code: "executor_limit", limit: "cpu" }, DISCARDED),
        { needs: "cpu" },
      ],
      "too much memory": [
        `${BOTH}const a = []; for (;;) a.push(new Uint8Array(1000000))`,
        fails({ code: "executor_limit", limit: "memory" }, DISCARDED),
        { needs: "heap" },
      ],
      "too deep a recursion": [
        `${BOTH}const f = () => f() + 1; return f()`,
        fails({ code: "executor_limit", limit: "stack" }, DISCARDED),
        { needs: "stack" },
      ],
      "waiting forever": [
        `${BOTH}await new Promise(() => {});\nreturn 1`,
        fails({ code: "program_error" }, DISCARDED),
        { needs: "stall" },
      ],
      "too much time": [
        `${BOTH}for (;;) await probe.wait({ key: "accounts" }).catch(() => {});`,
        fails({ code: "executor_timeout" }, DISCARDED),
        { deployment: "brief" },
      ],
    }),
  },
  {
    clauses: ["M2", "U3", "R2"],
    title: "a failure that dropped nothing says nothing of it",
    inputs: each({
      "nothing was tried": ["throw new Error('no')", fails({ code: "program_error" })],
      "what was tried was refused": [
        "await connecta.emit({}).catch(() => {}); await connecta.ui('').catch(() => {}); throw new Error('no')",
        fails({ code: "program_error" }),
      ],
      "blocks alone": [
        `${emit(TEXT)}throw new Error('no')`,
        fails({ code: "program_error" }, { emittedDiscarded: 1 }),
      ],
      "a view alone": [
        `await connecta.ui("<p>"); throw new Error('no')`,
        fails({ code: "program_error" }, { uiDiscarded: true }),
      ],
    }),
  },
];

/** Blocks beside the result. */
export const emitted: readonly Case[] = [...BLOCKS, ...BUDGETS, ...DISCARDS];
