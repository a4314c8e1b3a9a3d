import { describe, expect, test } from "vitest";
import { readProgram } from "../../server/programs/source.ts";

/** Evaluates what was accepted, as an executor would. */
async function evaluate(code: string): Promise<unknown> {
  const read = readProgram(code);
  if (!read.ok) throw new Error(`refused: ${read.failure.message}`);
  const program = new Function(
    `"use strict"; return (\n${read.value.expression}\n);`,
  )() as () => unknown;
  return program();
}

function refused(code: string) {
  const read = readProgram(code);
  if (read.ok) throw new Error("accepted");
  return read.failure;
}

describe("accepted forms", () => {
  test.each([
    ["an async arrow function", "async () => 7"],
    ["a block body", "async () => { const a = 3; return a + 4; }"],
    ["a non-async arrow", "() => 7"],
    ["a trailing semicolon", "async () => 7;\n"],
    ["a leading comment", "// sum\n/* of two */ async () => 7"],
    ["a trailing comment", "async () => 7 // seven"],
    ["a fenced block", "```js\nasync () => 7\n```"],
    ["a fence with text indented", "  ```javascript\n  async () => 7\n  ```  "],
    ["export default", "export default async () => 7;"],
    ["export default of a function", "export default async function main() { return 7; }"],
    ["a bare body with return and await", "const a = await Promise.resolve(3);\nreturn a + 4;"],
    ["a bare body that ends in a comment", "return 7 // seven"],

    ["an arrow in parentheses", "(async () => 7)"],
    ["a function expression", "(async function () { return 7 })"],
    ["semicolons too many", ";async () => 7;;"],
    ["a directive before it", "'use strict';\nasync () => 7"],
    ["a fence with an info string", "```js title=x.js\nasync () => 7\n```"],
    ["a fence on one line", "```async () => 7```"],
    ["a return inside a branch", "if (true) { return 7 }\nthrow new Error()"],
    ["CRLF line ends", "async () => {\r\n  return 7;\r\n}\r\n"],
  ])("P1: %s", async (_, code) => {
    expect(await evaluate(code)).toBe(7);
  });

  test("P1: a body that throws or loops needs no return", () => {
    expect(readProgram("throw new Error('no')").ok).toBe(true);
    expect(readProgram("while (true);").ok).toBe(true);
    expect(readProgram("for (const a of [1]) await connecta.emit(a)").ok).toBe(true);
  });

  test("P1: every kind of statement inside the function is read and kept", async () => {
    const code = `async () => {
      "use strict";
      let sum = 0;
      outer: for (let i = 0; i < 9; i++) {
        do { if (i > 6) break outer; else continue outer; } while (false);
      }
      class A { static n = 1; static { this.n += 1; } get m() { return 1; } }
      function inner() { "use strict"; return 1; }
      for (const a of [1]) for await (const b of [a]) sum += b;
      for (const a in { x: 1 }) switch (a) { case "x": { sum += 1; break; } default: throw a; }
      while (sum < 3) sum++;
      try { ; throw new Error(); } catch { sum += inner(); } finally { var late = A.n; }
      return sum + late + new A().m;
    }`;
    expect(await evaluate(code)).toBe(7);
    const body = code.slice(code.indexOf("{") + 1, code.lastIndexOf("}"));
    expect(await evaluate(body)).toBe(7);
  });

  test("P1: positions stay: the expression keeps the lines and columns of the text", () => {
    const read = readProgram("// one\n   async () => { boom }");
    expect(read).toMatchObject({ ok: true, value: { addedLines: 0 } });
    if (read.ok) expect(read.value.expression.split("\n")[1]?.indexOf("async")).toBe(3);
    expect(readProgram("return 1")).toMatchObject({ value: { addedLines: 1 } });
  });

  test("P1: a fence does not move the lines under it", () => {
    const failure = refused("```js\nasync () => {\n  let 1x;\n}\n```");
    expect(failure).toMatchObject({ line: 3 });
  });
});

describe("refused forms", () => {
  test("P1: a syntax error names line and column and shows a caret under the place", () => {
    const failure = refused("async () => {\n  const a = ;\n}");
    expect(failure).toMatchObject({ code: "invalid_program", line: 2, column: 13 });
    expect(failure.excerpt).toBe("  const a = ;\n            ^");
    expect(failure.message).toMatch(/^Line 2, column 13: /);
  });

  test.each([
    ["a type annotation", "async () => { const a: string = 'x'; return a }", '": string"'],
    ["an annotated parameter", "async (a: number) => a", '": number"'],
    ["an object type", "async (a: { b: string }) => a", "annotation"],
    ["a union of texts", "async (a: 'x' | 'y') => a", "annotation"],
    ["a result type", "async (): Promise<string> => 'x'", "annotation"],
    ["an interface", "interface A { b: string }\nreturn 1", "interface declaration"],
    ["a type alias", "type F = (a: string) => void;\nreturn 1", "type declaration"],
    ["an exported type", "export type A = string;\nreturn 1", "type declaration"],
    ["an enum", "enum A { B }\nreturn 1", "enum declaration"],
    ["a cast", "async () => (x as string)", '"as string"'],
    ["a cast before", "async () => <any>5", "between < and >"],
    ["an assertion", "async () => a!.b", '"!"'],
    ["an assertion before an operator", "async () => a! + 1", '"!"'],
    ["an optional parameter", "async (a?: string) => a", "not TypeScript"],
    ["a generic class", "class A<T> {}\nreturn 1", "between < and >"],
    ["a generic arrow", "async <T,>(a) => a", "between < and >"],
    ["implements", "class A implements B {}\nreturn 1", '"implements"'],
    ["a private field", "class A { private b = 1 }\nreturn 1", '"private"'],
    ["a readonly field", "class A { readonly b = 1 }\nreturn 1", '"readonly"'],
  ])("P1: TypeScript: %s is answered by what to remove", (_, code, hint) => {
    const { message } = refused(code);
    expect(message).toContain("not TypeScript");
    expect(message).toContain(hint);
  });

  test.each([
    "1 + 1",
    '"text"',
    "({ a: 1 })",
    "{ a: 1 }",
    "await connecta.search({})",
    "const main = async () => 1",
    "const main = async () => 1;\nmain()",
    "(async () => 7)()",
    "// only a comment",
    ";",
    "import.meta",
    "#! async () => 1",
    "async () => 1; async () => 2",
  ])("P1: %s is no program", (code) => {
    expect(refused(code).code).toBe("invalid_program");
  });

  test.each(["let a = 1;\n0 <!--a, 1\nreturn a", "let a = 1;\na\n--> 1\nreturn a"])(
    "E5: %j, which scripts and modules read differently, is refused",
    (code) => {
      expect(refused(code).code).toBe("invalid_program");
    },
  );

  test("E5: control: the same signs in strings and comments are fine", () => {
    expect(readProgram('return "<!--" + `-->` // <!-- -->').ok).toBe(true);
  });

  test("E3: what could not be read is not echoed at length", () => {
    expect(refused(`/(${"x".repeat(5_000)}`).message.length).toBeLessThan(600);
    expect(refused("(".repeat(100_000)).code).toBe("invalid_program");
  });

  test("P2: import and export are refused in words", () => {
    expect(refused('import x from "y";\nreturn x')).toMatchObject({
      code: "invalid_program",
      line: 1,
    });
    expect(refused("export const a = 1")).toMatchObject({ code: "invalid_program" });
  });

  test("P1: a function that is only declared is refused rather than never called", () => {
    expect(refused("async function main() { return 7 }").message).toContain("never calls it");
  });

  test("P1: an error deep inside the function is found there", () => {
    const failure = refused("async () => {\n  if (1) {\n    for (;;) { const a = ; }\n  }\n}");
    expect(failure).toMatchObject({ code: "invalid_program", line: 3, column: 26 });
    expect(refused("() => { break; }").message).toContain("break");
    expect(refused("() => { const a; }").code).toBe("invalid_program");
    expect(refused("() => { for (const a = 1 of []) ; }").code).toBe("invalid_program");
  });

  test("P1: an empty program is refused", () => {
    expect(refused("  \n")).toMatchObject({ code: "invalid_program" });
    expect(refused("```js\n```").code).toBe("invalid_program");
  });

  test("P1: text that would close the wrapper is a syntax error, not an escape", () => {
    expect(refused("async () => 1)); evil((").code).toBe("invalid_program");
    expect(refused("return 1 } ; evil(); {").code).toBe("invalid_program");
  });
});
