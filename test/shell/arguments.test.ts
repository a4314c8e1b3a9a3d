import { describe, expect, test } from "vitest";
import { mergeArguments } from "../../shell/src/arguments.ts";

const binding = {
  address: "git.log",
  fixedArgs: { repository: "main", deep: { a: [1] } },
  viewArgs: ["cursor", "limit"],
};
const problem = (supplied: unknown) => {
  const merged = mergeArguments(binding, supplied);
  return merged.ok ? "it was accepted" : merged.message;
};

describe("V4: merging the view's arguments", () => {
  test("adds the declared ones to the fixed ones, on no prototype", () => {
    const merged = mergeArguments(binding, { cursor: "abc", limit: 5 });
    expect(merged.ok && { ...merged.value }).toEqual({
      repository: "main",
      deep: { a: [1] },
      cursor: "abc",
      limit: 5,
    });
    expect(merged.ok && Object.getPrototypeOf(merged.value)).toBeNull();
  });

  test("leaves the binding as it was", () => {
    const before = structuredClone(binding);
    mergeArguments(binding, { cursor: "abc" });
    expect(binding).toEqual(before);
  });

  test.each([[undefined], [{}], [{ cursor: undefined }]])(
    "takes %j for no arguments",
    (supplied) => {
      const merged = mergeArguments(binding, supplied);
      expect(merged.ok && Object.keys(merged.value)).toEqual(["repository", "deep"]);
    },
  );

  test("a read that declares no arguments takes none", () => {
    expect(mergeArguments({ address: "a.b" }, {}).ok).toBe(true);
    expect(mergeArguments({ address: "a.b" }, { cursor: 1 }).ok).toBe(false);
  });

  test.each<[string, unknown, string]>([
    ["null", null, "an object"],
    ["a list", [], "an object"],
    ["a text", "cursor", "an object"],
    ["a Map", new Map(), "an object"],
    ["a Date", new Date(), "an object"],
    ["a name that was not declared", { page: 2 }, "no argument of that name"],
    ["a fixed name", { repository: "other" }, "no argument of that name"],
    ["__proto__", JSON.parse('{"__proto__": 1}'), "no argument of that name"],
    ["constructor", { constructor: 1 }, "no argument of that name"],
    ["an unsafe name inside", { cursor: { prototype: 1 } }, "an unsafe name"],
    ["a Map inside", { cursor: new Map() }, "not JSON"],
    ["a NaN inside", { cursor: [Number.NaN] }, "not JSON"],
    ["a BigInt inside", { cursor: 1n }, "not JSON"],
    ["bytes inside", { cursor: new Uint8Array(1) }, "not JSON"],
    ["more than 64 KiB", { cursor: "x".repeat(65_536) }, "over 65536 bytes"],
    ["64 KiB in the end, in bytes", { cursor: "\u00fc".repeat(32_768) }, "over 65536 bytes"],
  ])("refuses %s", (_, supplied, words) => {
    expect(problem(supplied)).toContain(words);
  });

  test("accepts exactly 64 KiB", () => {
    const cursor = "x".repeat(65_536 - '{"cursor":""}'.length);
    expect(problem({ cursor })).toBe("it was accepted");
    expect(problem({ cursor: `${cursor}x` })).toContain("over 65536 bytes");
  });

  test("refuses a value nested without end before it costs anything", () => {
    const cycle: Record<string, unknown> = {};
    cycle.left = cycle;
    cycle.right = cycle;
    expect(problem({ cursor: cycle })).toMatch(/too deep|over/);
  });
});
