import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CONNECTA, commandFolder } from "../support/command.ts";

const { folder, run } = commandFolder({
  "connecta.config.mjs": `import { api, ToolError } from "${CONNECTA}";
    const inputSchema = { type: "object", properties: { id: { type: "string" } } };
    const reads = { inputSchema, annotations: { readOnlyHint: true } };
    export default { auth: { bearer: "correct-horse-battery" }, http: { allowedHosts: ["mcp.example.com"] },
      connectors: [api({ id: "crm", tools: {
        get: { ...reads, description: "Get.", handler: ({ id = "none" }) => ({ id }) },
        text: { ...reads, description: "Text.", handler: () => "one\\ntwo \\u001b[31m" },
        large: { ...reads, description: "Large.", handler: () => "ä".repeat(60_000) + "end" },
        fail: { ...reads, description: "Fail.", handler: () => { throw new ToolError("not today") } },
        drop: { inputSchema, description: "Drop.", annotations: { readOnlyHint: false }, handler: ({ id }) => "dropped " + id },
      } })] };`,
  "good.js":
    'async () => { await connecta.ui("<h1>Hi</h1>", { reads: { one: { address: "crm.get" } } });' +
    ' await connecta.emit({ type: "text", text: "a block" }); return (await crm.get({ id: "r7" })).id }',
  "throws.js": 'async () => { console.log("said"); throw new RangeError("no") }',
  "args.json": '{ "id": "from a file" }',
});

describe("connecta run", { timeout: 30_000 }, () => {
  test("prints the envelope of a program and ends with 0", async () => {
    const { code, stdout, stderr } = await run(["run", "good.js"]);
    expect(JSON.parse(stdout)).toEqual({ result: "r7", emitted: 1, ui: true });
    expect(stderr).toBe("connecta: emitted a block\n");
    expect(code).toBe(0);
  });

  test("prints the envelope of a program that failed and ends with 1", async () => {
    const { code, stdout, stderr } = await run(["run", "throws.js"]);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "program_error", line: 1 } });
    expect([code, stderr]).toEqual([1, ""]);
  });

  test("reads a program from stdin, with diagnostics where they are wanted", async () => {
    const stdin = "return [await crm.get(), 2]";
    const { code, stdout } = await run(["run", "-", "--diagnostics"], { stdin });
    expect(JSON.parse(stdout)).toMatchObject({
      result: [{ id: "none" }, 2],
      diagnostics: expect.anything(),
    });
    expect(code).toBe(0);
  });

  test("--view saves the view as a page that reaches nothing", async () => {
    const { code, stderr } = await run(["run", "good.js", "--view", "out.html"]);
    expect(code).toBe(0);
    expect(stderr).toContain("the view is in out.html. Its 1 read needs a host");
    const page = readFileSync(join(folder, "out.html"), "utf8");
    expect(page).toContain("<h1>Hi</h1>");
    expect(page.indexOf("connect-src 'none'")).toBeLessThan(page.indexOf("<h1>"));
  });

  test.each([
    ["a program that is not there", ["none.js"], "none.js cannot be read (ENOENT).", ""],
    [
      "a view that was not made",
      ["-", "--view", "no.html"],
      "the program made no view",
      "return 1",
    ],
    ["a view that has no folder", ["good.js", "--view", "no/o.html"], "cannot be written", ""],
    ["a config that is not there", ["good.js", "--config", "none.mjs"], "does not exist", ""],
  ])("%s is told in one line, with exit code 1", async (_, args, line, stdin) => {
    const { code, stderr } = await run(["run", ...args], { stdin });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n").at(-1)).toContain(line);
  });
});

describe("connecta call", { timeout: 30_000 }, () => {
  test("prints what a tool answered: JSON, and a text as it is", async () => {
    const got = await run(["call", "crm.get", '{"id":"r7"}']);
    expect(JSON.parse(got.stdout)).toEqual({ id: "r7" });
    expect(got.code).toBe(0);
    expect((await run(["call", "crm.text"])).stdout).toBe("one\ntwo \u001b[31m\n");
    const json = await run(["call", "crm.text", "--json"]);
    expect(JSON.parse(json.stdout)).toBe("one\ntwo \u001b[31m");
  });

  test("takes arguments from a file and from stdin", async () => {
    expect((await run(["call", "crm.get", "@args.json"])).stdout).toContain("from a file");
    const stdin = '{ "id": "from stdin" }';
    expect((await run(["call", "crm.get", "-"], { stdin })).stdout).toContain("from stdin");
  });

  test("prints a large answer to its end", async () => {
    expect((await run(["call", "crm.large"])).stdout).toBe(`${"ä".repeat(60_000)}end\n`);
  });

  test("calls what may change something with --write alone", async () => {
    const refused = await run(["call", "crm.drop", '{"id":"r7"}']);
    expect(refused).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "connecta: destructive_tool_requires_approval: crm.drop may change something: " +
        "--write lets it.\n",
    });
    const written = await run(["call", "crm.drop", '{"id":"r7"}', "--write"]);
    expect(written).toMatchObject({ code: 0, stdout: "dropped r7\n" });
  });

  test("tells a failure on stderr, and with --json on stdout as well", async () => {
    const told = await run(["call", "crm.fail"]);
    expect([told.code, told.stdout]).toEqual([1, ""]);
    expect(told.stderr).toContain("connecta: connector_call_failed: ");
    expect(told.stderr).toContain("not today");
    const json = await run(["call", "crm.nothing", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, error: { code: "unknown_tool" } });
    expect(json.code).toBe(1);
  });

  test.each([
    ["no JSON", "{id:1}", "the arguments are no JSON"],
    ["a list", "[1]", "must be one JSON object"],
    ["a file that is not there", "@none.json", "none.json cannot be read (ENOENT)."],
  ])("%s is one line and exit code 1", async (_, args, line) => {
    const { code, stdout, stderr } = await run(["call", "crm.get", args]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toContain(line);
  });
});
