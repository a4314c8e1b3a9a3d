import { describe, expect, test } from "vitest";
import { functionsOf, type Measured } from "./functions.ts";
import { travelling } from "./travelling.ts";
import { CODE, sources, type Source } from "./tree.ts";

const MAX_FILE_LINES = 400;
const MAX_FUNCTION_LINES = 60;

/** Files that may be longer, each with the reason that a reader would accept. */
const LONG_FILES: Readonly<Record<string, string>> = {};

/** A program is one expression that a person reads from top to bottom, its page included. */
const PROGRAM = /^examples\/\w+\/programs\//;

/** Functions that may be longer, as `path name`, each with its reason. */
const LONG_FUNCTIONS: Readonly<Record<string, string>> = {};

const files = sources(/\.(ts|mts|mjs|js|css|html)$/);
const code = files.filter(({ path }) => CODE.test(path));
const ours = code.filter(({ path }) => !PROGRAM.test(path));
const travels = new Set(travelling(code).map(({ path }) => path));

const lineCount = (text: string) => text.replace(/\n$/, "").split("\n").length;
const longFiles = (all: readonly Source[]) =>
  all.filter(({ text }) => lineCount(text) >= MAX_FILE_LINES).map(({ path }) => path);
const longFunctions = (all: readonly Source[], travelsToo: ReadonlySet<string>) =>
  all
    .flatMap((file) => functionsOf(file, travelsToo.has(file.path)))
    .filter(({ lines }) => lines >= MAX_FUNCTION_LINES);
const keyOf = ({ path, name }: Measured) => `${path} ${name}`;
const body = (lines: number) => "work();\n".repeat(lines);

describe("files", () => {
  test("every file stays under 400 lines or is listed with a reason", () => {
    expect(files.length).toBeGreaterThan(10);
    expect(longFiles(files).filter((path) => !Object.hasOwn(LONG_FILES, path))).toEqual([]);
  });

  test("a file of 400 lines is caught, one of 399 is not", () => {
    const of = (lines: number) => [{ path: "server/shared/a.ts", text: body(lines) }];
    expect(longFiles(of(400))).toEqual(["server/shared/a.ts"]);
    expect(longFiles(of(399))).toEqual([]);
  });

  test("no exception outlives the length that it excuses", () => {
    expect(Object.keys(LONG_FILES).filter((path) => !longFiles(files).includes(path))).toEqual([]);
  });
});

describe("functions", () => {
  test("every function stays under 60 lines or is listed with a reason", () => {
    const found = longFunctions(ours, travels).filter(
      (one) => !Object.hasOwn(LONG_FUNCTIONS, keyOf(one)),
    );
    expect(found.map((one) => `${one.path}:${one.line} ${one.name}: ${one.lines} lines`)).toEqual(
      [],
    );
  });

  test.each([
    ["a function", `function a() {\n${body(58)}}`],
    ["an arrow", `const a = () => {\n${body(58)}};`],
    ["a method", `class A {\na() {\n${body(58)}}\n}`],
    [
      "a function within a typed one",
      `function a(): void {\nconst b = (c: string): void => {\n${body(58)}};\n}`,
    ],
  ])("%s of 60 lines is caught", (_, text) => {
    expect(longFunctions([{ path: "server/shared/a.ts", text }], new Set()).length).toBeGreaterThan(
      0,
    );
  });

  test("a function of 59 lines is not caught", () => {
    const text = `function a() {\n${body(57)}}`;
    expect(longFunctions([{ path: "server/shared/a.ts", text }], new Set())).toEqual([]);
  });

  test("a group of tests may be long, a test in it may not", () => {
    const group = `describe("a", () => {\n${body(60)}});`;
    const one = `describe("a", () => {\ntest("b", () => {\n${body(60)}});\n});`;
    expect(longFunctions([{ path: "test/a.test.ts", text: group }], new Set())).toEqual([]);
    expect(longFunctions([{ path: "test/a.test.ts", text: one }], new Set())).toHaveLength(1);
  });

  test("the one function of a module that travels may be long, a function in it may not", () => {
    const path = "server/programs/guest.ts";
    const text = `export default function a() {\nfunction b() {\n${body(60)}}\n}`;
    expect(longFunctions([{ path, text }], new Set([path])).map(({ name }) => name)).toEqual(["b"]);
  });

  test("no exception outlives the length that it excuses", () => {
    const long = longFunctions(ours, travels).map(keyOf);
    expect(Object.keys(LONG_FUNCTIONS).filter((key) => !long.includes(key))).toEqual([]);
  });
});
