import {
  expect,
  alike,
  answers,
  each,
  errorOf,
  fails,
  SOME_COLUMN,
  type Case,
  type Check,
} from "../case.ts";

const FENCE = "```";

/** What a model sends instead of exactly one async arrow function, and is understood. */
const FORMS: readonly Case[] = [
  {
    clauses: ["P1"],
    title: "each accepted form of a program means the same",
    inputs: alike(
      {
        "one async arrow function": "async () => 7",
        "a block body": "async () => { const a = 3; return a + 4; }",
        "a fenced code block": `${FENCE}js\nasync () => 7\n${FENCE}`,
        "a fence without a language": `${FENCE}\nasync () => 7\n${FENCE}\n`,
        "a fence of another language tag": `${FENCE}typescript\nasync () => 7\n${FENCE}`,
        "a bare body": "return 7",
        "a bare body with top-level await": "const a = await Promise.resolve(3);\nreturn a + 4;",
        "a non-async arrow": "() => 7",
        "a non-async arrow that returns a promise": "() => Promise.resolve(7)",
        "a trailing semicolon": "async () => 7;\n",
        "a leading comment": "// the sum\n/* of two */ async () => 7",
        "export default": "export default async () => 7",
        "parentheses around it": "(async () => 7)",
        "space around it": "\n\n  async () => 7  \n\n",
        "line ends of another system": "async () => {\r\n  return 7;\r\n}\r\n",
        "a byte order mark": "\ufeffasync () => 7",
      },
      answers(7),
    ),
  },
  {
    clauses: ["P1"],
    title: "accepted forms combine",
    inputs: alike(
      {
        "fence, comment, export default, non-async arrow, semicolon": `${FENCE}js\n// sum\nexport default () => 7;\n${FENCE}`,
        "fence and bare body with await": `${FENCE}javascript\nconst a = await Promise.resolve(7);\nreturn a;\n${FENCE}`,
        "fence, comment and bare body": `${FENCE}js\n/* sum */\nreturn 7;\n${FENCE}`,
        "comment and bare body that ends in a comment": "// first\nreturn 7 // last",
        "comment, parentheses and semicolon": "/* sum */ (async () => 7);",
        "comment, export default and semicolon":
          "// sum\nexport default async () => {\n  return 7;\n};",
        "space, fence and trailing semicolon": `\n  ${FENCE}js\n  async () => 7;\n  ${FENCE}\n`,
      },
      answers(7),
    ),
  },
  {
    clauses: ["P1"],
    title: "a bare body may declare functions, branch, throw and loop as a function's body may",
    inputs: each({
      "a function used before it": ["return one();\nfunction one() { return 1 }", answers(1)],
      "a return inside a branch": ["if (1 < 2) { return 1 }\nthrow new Error('no')", answers(1)],
      "await inside a loop": [
        "let n = 0;\nfor await (const a of [1, 2]) n += a;\nreturn n;",
        answers(3),
      ],
    }),
  },
];

/** What is no JavaScript, or no program, is answered by where and why. */
const REFUSED: readonly Case[] = [
  {
    clauses: ["P1", "E1"],
    title: "a syntax error names line and column and shows the place with a caret",
    inputs: each({
      "in a function": [
        "async () => {\n  const a = ;\n}",
        fails({
          code: "invalid_program",
          line: 2,
          column: 13,
          excerpt: "  const a = ;\n            ^",
          message: expect.stringMatching(/^Line 2, column 13: /),
        }),
      ],
      "in a bare body": [
        "const a = 1;\nreturn a +;",
        fails({
          code: "invalid_program",
          line: 2,
          column: 11,
          excerpt: "return a +;\n          ^",
        }),
      ],
      "in a fence, whose own line counts": [
        `${FENCE}js\nasync () => {\n  let 1a;\n}\n${FENCE}`,
        fails({ code: "invalid_program", line: 3, column: 8, excerpt: "  let 1a;\n       ^" }),
      ],
      "at the end": ["async () => {", fails({ code: "invalid_program", line: 1, column: 14 })],
    }),
  },
  {
    clauses: ["P1", "E1"],
    title: "a syntax error that only the engine finds is placed in the text that was sent",
    inputs: each({
      "a name declared twice in a function": [
        "async () => {\n  let a = 1;\n  let a = 2;\n}",
        fails({
          code: "invalid_program",
          line: 3,
          column: SOME_COLUMN,
          message: expect.stringMatching(/^Line 3, column \d+: /),
          excerpt: expect.stringMatching(/^ {2}let a = 2;\n *\^$/),
        }),
      ],
      "a name declared twice in a bare body": [
        "let a = 1;\nlet a = 2;\nreturn a;",
        fails({ code: "invalid_program", line: 2, column: SOME_COLUMN }),
      ],
      "a broken regular expression": [
        "async () => {\n  const a = 1;\n  return /(/.test(a);\n}",
        fails({
          code: "invalid_program",
          line: 3,
          column: SOME_COLUMN,
          excerpt: expect.stringMatching(/^ {2}return \/\(\/\.test\(a\);\n *\^$/),
        }),
      ],
    }),
  },
  {
    clauses: ["P1"],
    title: "a text that is no program or returns nothing is refused instead of answering null",
    inputs: alike(
      {
        nothing: "",
        "space alone": "  \n",
        "a comment alone": "// todo",
        "an empty fence": `${FENCE}js\n${FENCE}`,
        "an expression": "1 + 1",
        "an object": "({ a: 1 })",
        "calls without a return": "await connecta.search({})",
        "a function that nobody calls": "async function main() { return 7 }",
        "a constant that nobody calls": "const main = async () => 7",
        "two programs": "async () => 1; async () => 2",
        prose: "Please list the records.",
      },
      fails({ code: "invalid_program" }),
    ),
  },
  {
    clauses: ["P1", "P2"],
    title: "imports and exports are refused in words, with their place",
    inputs: each({
      import: [
        'const a = 1;\nimport fs from "node:fs";\nreturn a',
        fails({ code: "invalid_program", line: 2, message: expect.stringContaining("import") }),
      ],
      export: [
        "export const a = 1;",
        fails({ code: "invalid_program", line: 1, message: expect.stringContaining("export") }),
      ],
    }),
  },
  {
    clauses: ["P1", "E5"],
    title: "text that would close what is around the program is a syntax error",
    inputs: alike(
      {
        parentheses: "async () => 1)); throw 1; ((",
        "a body": "return 1 } ; throw 1; {",
        "an arrow": "async () => 1 }, async () => { throw 1",
        "a comment that stays open": "async () => 1 /*",
      },
      fails({ code: "invalid_program" }),
    ),
  },
];

/** A fault that lies in TypeScript: what to remove, where. */
const typescript =
  (line: number, remove: string): Check =>
  (answer) => {
    const error = errorOf(answer);
    expect(error).toMatchObject({ code: "invalid_program", line, column: SOME_COLUMN });
    expect(error.message).toMatch(new RegExp(`^Line ${line}, column \\d+: .*TypeScript`));
    expect(error.message).toContain("remove");
    expect(error.message).toContain(remove);
    expect(error.excerpt).toMatch(/\n *\^$/);
  };

const TYPESCRIPT: readonly Case[] = [
  {
    clauses: ["P1"],
    title: "TypeScript syntax is answered by what to remove and where",
    inputs: each({
      "a type annotation": [
        "async () => {\n  const a: string = 'x';\n}",
        typescript(2, ": string"),
      ],
      "an annotated parameter": ["async (a: number) => a", typescript(1, ": number")],
      "an annotated destructuring": [
        "async () => {\n  const { a }: { a: number } = { a: 1 };\n  return a;\n}",
        typescript(2, "annotation"),
      ],
      "a result type": ["async (): Promise<string> => 'x'", typescript(1, ": Promise<string>")],
      "an optional parameter": ["const f = (a?: string) => a;\nreturn f();", typescript(1, "?")],
      as: ["async () => {\n  return 1 as number;\n}", typescript(2, "as number")],
      "as const": ["async () => {\n  const a = [1] as const;\n}", typescript(2, "as const")],
      satisfies: [
        "const a = { b: 1 } satisfies Record<string, number>;\nreturn a",
        typescript(1, "satisfies Record"),
      ],
      "an interface": ["interface A { b: string }\nreturn 1", typescript(1, "interface")],
      "an interface in a function": [
        "async () => {\n  interface A { b: string }\n  return 1;\n}",
        typescript(2, "interface"),
      ],
      "a type alias": ["async () => {\n  type A = 'x' | 'y';\n}", typescript(2, "type")],
      "an enum": ["enum A { B, C }\nreturn A.B", typescript(1, "enum")],
      "a const enum": ["const enum A { B }\nreturn A.B", typescript(1, "enum")],
      "a namespace": ["namespace A { }\nreturn 1", typescript(1, "namespace")],
      "an import of types": ['import type { A } from "a";\nreturn 1', typescript(1, "type")],
      "generics of an arrow": ["const f = async <T>(a) => a;\nreturn f(1)", typescript(1, "<")],
      "generics of a function": ["function f<T>(a) { return a }\nreturn f(1)", typescript(1, "<")],
      "generics of a call": [
        "async () => {\n  const a = new Map<string, number>();\n  return a.size;\n}",
        typescript(2, "<"),
      ],
      "a cast before the value": ["async () => <number>5", typescript(1, "<")],
      "a non-null assertion": ["async () => crm!.get_record({ id: 'a' })", typescript(1, "!")],
      "a non-null assertion at the end": [
        "async () => {\n  const a = crm!;\n  return 1;\n}",
        typescript(2, "!"),
      ],
      "a definite assignment": ["let a!: string;\nreturn a", typescript(1, "!")],
      "a private field": ["class A { private b = 1 }\nreturn 1", typescript(1, "private")],
      "a declaration": ["declare const a: string;\nreturn 1", typescript(1, "declare")],
      "a typed catch": ["try { } catch (e: unknown) { }\nreturn 1", typescript(1, ": unknown")],
    }),
  },
  {
    clauses: ["P1"],
    title: "JavaScript that only looks like TypeScript is accepted",
    inputs: each({
      "names that TypeScript reserves": [
        "const type = 1, as = 2, satisfies = 3, declare = 4, namespace = 5;\nreturn type + as + satisfies + declare + namespace",
        answers(15),
      ],
      "comparisons that look like generics": [
        "const [a, b, c] = [1, 2, 3];\nreturn [a < b, c > (a)]",
        answers([true, true]),
      ],
      "labels and conditions": ["const a = 1 ? 2 : 3;\nb: for (;;) break b;\nreturn a", answers(2)],
    }),
  },
];

/** How a program may be written. */
export const forms: readonly Case[] = [...FORMS, ...REFUSED, ...TYPESCRIPT];
