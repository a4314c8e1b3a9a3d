import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { travel } from "../../shell/build.ts";
import { staysBehind, travelling } from "./travelling.ts";
import { CODE, ROOT, sources } from "./tree.ts";

const modules = travelling(sources(CODE));
const reasons = (text: string) => staysBehind({ path: "server/programs/guest.ts", text });
const FUNCTION = "export default function guest(a: string): string { return a; }";

describe("code that travels", () => {
  test("each such module is one function without value imports", () => {
    expect(modules.length).toBeGreaterThan(0);
    expect(
      modules.flatMap((file) => staysBehind(file).map((why) => `${file.path} ${why}`)),
    ).toEqual([]);
  });

  test("types beside the function do no harm", () => {
    expect(
      reasons(
        `import type { A } from "./a.ts";\nexport interface B { c: A }\ntype C = B;\n${FUNCTION}`,
      ),
    ).toEqual([]);
  });

  test.each([
    ["a value import", `import { a } from "./a.ts";\n${FUNCTION}`],
    ["an import for its effect", `import "./a.ts";\n${FUNCTION}`],
    ["a value beside the function", `const a = 1;\n${FUNCTION}`],
    ["a second function", `function b() {}\n${FUNCTION}`],
    ["a second export", `export function b() {}\n${FUNCTION}`],
    ["a re-export", `export * from "./a.ts";\n${FUNCTION}`],
    ["a run-time import", `export default async function a() { return import("./b.ts"); }`],
    ["an arrow instead of a function", "export default () => 1;"],
    ["import.meta", "export default function a() { return import.meta.url; }"],
  ])("%s is caught", (_, text) => {
    expect(reasons(text).length).toBeGreaterThan(0);
  });

  test.each(modules.map(({ path }) => path))("%s arrives as one expression", async (path) => {
    const { load } = travel();
    if (typeof load !== "function") throw new Error("the plugin has no load function");
    const context = { addWatchFile: () => undefined };
    const loaded: unknown = await Reflect.apply(load, context, [`${join(ROOT, path)}?travel`]);
    const source: unknown = JSON.parse(
      String(loaded)
        .replace(/^export default /, "")
        .slice(0, -1),
    );
    expect(() => new Function(`return (${String(source)});`)).not.toThrow();
    expect(typeof new Function(`return (${String(source)});`)()).toBe("function");
  });
});
