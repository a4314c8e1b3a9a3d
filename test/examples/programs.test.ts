import { inflateSync } from "node:zlib";
import { parse } from "acorn";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { gitTools } from "../../examples/node/git.mjs";
import { systemTools } from "../../examples/node/system.mjs";
import { checkPayload } from "../../server/view/protocol.ts";
import { temporaryFolder, TestRepository } from "./repository.ts";
import { fields, PROGRAMS, run, source, type DemoTools, type Run } from "./run.ts";

vi.mock("connecta", () => import("../../server/connectors/api.ts"));

const folder = temporaryFolder();
const VIEWS = ["01-system-dashboard.js", "02-commits.js", "03-commit-detail.js"];
const FAILS = "06-refused-write.js";
const runs = new Map<string, Run>();
const empty = new Map<string, Run>();

const of = (name: string, all = runs): Run => {
  const found = all.get(name);
  if (!found) throw new Error(`${name} did not run`);
  return found;
};

beforeAll(async () => {
  const repository = new TestRepository(folder.path);
  const toolsNow = (): DemoTools => ({
    system: systemTools(),
    git: gitTools({ cwd: repository.path }),
  });
  const answering = PROGRAMS.filter((name) => name !== FAILS);
  for (const name of answering) empty.set(name, await run(source(name), toolsNow()));
  for (let count = 0; count < 16; count++) {
    repository.commit(`Commit ${count} </script><script>`, { "a.txt": `${count}\n` });
  }
  for (const name of answering) runs.set(name, await run(source(name), toolsNow()));
});

describe("every example program", () => {
  test("there are six, numbered in the order in which they are read", () => {
    expect(PROGRAMS).toEqual([
      "01-system-dashboard.js",
      "02-commits.js",
      "03-commit-detail.js",
      "04-activity-image.js",
      "05-weekdays.js",
      "06-refused-write.js",
    ]);
  });

  test.each(PROGRAMS)("%s begins with its title and what it does", (name) => {
    expect(source(name).split("\n", 1)[0]).toMatch(/^\/\/ [A-Z][\w ]{2,30} — [a-z].{10,90}[^.]$/);
  });

  test.each(PROGRAMS)("%s is one async arrow function without parameters", (name) => {
    const { body } = parse(source(name), { ecmaVersion: 2024, sourceType: "module" });
    expect(body).toHaveLength(1);
    const [statement] = body;
    if (statement?.type !== "ExpressionStatement") throw new Error("not an expression");
    const { expression } = statement;
    expect(expression).toMatchObject({ type: "ArrowFunctionExpression", async: true, params: [] });
  });
});

describe("every program that answers", () => {
  const names = PROGRAMS.filter((name) => name !== FAILS);

  test.each(names)("%s stays far within the budget of calls", (name) => {
    expect(of(name).calls.length).toBeGreaterThan(0);
    expect(of(name).calls.length).toBeLessThanOrEqual(10);
  });

  test.each(names)("%s returns a summary of at most 1 KB for the model (U12)", (name) => {
    const { result } = of(name);
    expect(Object.keys(fields(result)).length).toBeGreaterThan(1);
    expect(JSON.stringify(result).length).toBeLessThanOrEqual(1_024);
  });

  test.each(names)("%s answers for a repository without commits too", (name) => {
    expect(fields(of(name, empty).result)).toBeDefined();
  });
});

describe("the programs with a view", () => {
  test.each(VIEWS)("%s hands over one well-formed payload (V1)", (name) => {
    const { payload } = of(name);
    expect(checkPayload(payload)).toEqual({ ok: true, value: payload });
    expect(Object.keys(payload?.reads ?? {})).toHaveLength(1);
  });

  test("the others hand over none", () => {
    const others = PROGRAMS.filter((name) => !VIEWS.includes(name) && name !== FAILS);
    for (const name of others) expect(of(name).payload).toBeUndefined();
  });

  test.each(VIEWS)("%s takes nothing from a network and no colour scheme of its own", (name) => {
    const html = of(name).payload?.html ?? "";
    expect(html).not.toMatch(/https?:|url\(|@import|\bsrc=|<link|<meta|color-scheme/);
  });

  test.each(["02-commits.js", "03-commit-detail.js"])(
    "%s lets no text of a commit close the script that carries it",
    (name) => {
      const html = of(name).payload?.html ?? "";
      expect(html.match(/<\/script>/g)).toHaveLength(2);
      expect(html).toContain("Commit 15 \\u003c/script>\\u003cscript>");
    },
  );
});

describe("what the programs are examples of", () => {
  test("the activity image is a sentence and a PNG whose lines are all there (M1)", () => {
    const [text, image] = of("04-activity-image.js").emitted;
    expect(text).toEqual({ type: "text", text: expect.stringContaining("last 16 commits") });
    expect(Object.keys(image ?? {}).sort()).toEqual(["data", "mimeType", "type"]);
    const png = Buffer.from(String(image?.data), "base64");
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([384, 112]);
    const at = png.indexOf("IDAT");
    const lines = inflateSync(png.subarray(at + 4, at + 4 + png.readUInt32BE(at - 4)));
    expect(lines).toHaveLength(112 * (1 + 192));
    // All sixteen commits were made on a Monday between nine and ten: the full shade, once.
    const colours = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((hour) => lines[1 + hour * 8]);
    expect([...colours, lines[1 + 9 * 8]]).toEqual([...Array<number>(9).fill(0x11), 0x66]);
  });

  test("weekdays reduces sixteen commits to seven counts", () => {
    const { result, calls, logs } = of("05-weekdays.js");
    expect(result).toMatchObject({
      counted: 16,
      byWeekday: { Sunday: 0, Monday: 16, Tuesday: 0 },
      topAuthors: [{ name: "Ada", commits: 16 }],
      branches: ["main"],
    });
    expect(calls.toSorted()).toEqual(["git.authors", "git.branches", "git.log"]);
    expect(logs).toEqual(["read 16 commits"]);
  });

  test("refused write ends with the refusal of the tool that its search found", async () => {
    const tools: DemoTools = { git: gitTools({ cwd: folder.path }) };
    await expect(run(source(FAILS), tools)).rejects.toMatchObject({
      code: "destructive_tool_requires_approval",
      message: "git.create_tag",
    });
  });
});
