import { describe, expect, test } from "vitest";
import { shapeProblem } from "../../server/shared/json-shape.ts";

const PADDING = `"${"x".repeat(64 * 1024)}"`;
const keys = (count: number) =>
  `{${Array.from({ length: count }, (_, at) => `"key${at}":${at}`).join()}}`;
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const large = (json: string) => `[${PADDING},${json}]`;

describe("the shape of a JSON text", () => {
  test.each<[string, string, string]>([
    ["many levels", large(nested(256)), "nests deeper than 256 levels"],
    ["many lists", large(`[${"[],".repeat(250_000)}1]`), "has more than 250000 objects and lists"],
    [
      "many objects",
      large(`[${"{},".repeat(250_000)}1]`),
      "has more than 250000 objects and lists",
    ],
    ["many members", large(keys(50_001)), "has an object of more than 50000 members"],
    [
      "members around a list",
      large(`{${'"a":[1,2,{"b":1}],'.repeat(50_000)}"c":1}`),
      "has an object of more than 50000 members",
    ],
    ["what is no JSON", "{".repeat(2_000_000), "nests deeper than 256 levels"],
  ])("%s would hold up everyone", (_, text, problem) => {
    expect(shapeProblem(text)).toBe(problem);
  });

  test.each<[string, string]>([
    ["as many levels as are allowed", large(nested(255))],
    ["as many members as are allowed", large(keys(50_000))],
    ["half a million numbers", `[${"1.25,".repeat(500_000)}1]`],
    ["a long text of brackets", `["${"[{".repeat(1_000_000)}"]`],
    ["quotes within a text", `["${'\\"[{,\\\\'.repeat(300_000)}"]`],
    ["a text that ends with a backslash", large(`["\\\\",${nested(200)},"\\\\\\\\"]`)],
    ["sixty thousand rows", `[${'{"id":7,"name":"a row","tags":["a","b"]},'.repeat(60_000)}1]`],
    ["a text that never ends", `["${"x".repeat(100_000)}`],
    ["closing brackets alone", "]}".repeat(100_000)],
  ])("%s is read", (_, text) => {
    expect(shapeProblem(text)).toBeUndefined();
  });

  test("what a protocol describes has few members, what it carries may have many", () => {
    const of = (outer: number, inner: number) =>
      `{"params":{"arguments":${keys(outer).slice(0, -1)},"args":${keys(inner)}},"p":${PADDING}}}`;
    expect(shapeProblem(of(500, 20_000), 3)).toBeUndefined();
    expect(shapeProblem(of(1_000, 10), 3)).toBe("has an object of more than 1000 members");
    expect(shapeProblem(of(1_000, 10))).toBeUndefined();
  });

  test("a short text may have any shape", () => {
    expect(shapeProblem(nested(10_000))).toBeUndefined();
  });
});
