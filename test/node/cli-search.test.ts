import { describe, expect, test } from "vitest";
import { CONNECTA, CONNECTA_NODE, commandFolder } from "../support/command.ts";

const { run } = commandFolder({
  "connecta.config.mjs": `import { api } from "${CONNECTA}";
    const tool = (description, readOnlyHint) => ({ description, inputSchema: { type: "object" }, annotations: { readOnlyHint }, handler: () => 1 });
    export default { connectors: [
      api({ id: "tracker", tools: { create_issue: tool("Creates an issue.", false), list_issues: tool("Lists issues.", true) } }),
      api({ id: "weather", tools: { forecast: tool("Tells the weather.", true) } }) ] };`,
  "half.mjs": `import whole from "./connecta.config.mjs";
    import { stdioMcp } from "${CONNECTA_NODE}";
    export default { connectors: [...whole.connectors, stdioMcp({ id: "gone", command: "connecta-test-no-such-command" })] };`,
});

describe("connecta search", { timeout: 30_000 }, () => {
  test("prints what a query finds, the best first", async () => {
    const { code, stdout, stderr } = await run(["search", "which issues are there"]);
    expect(stdout).toMatch(/^tracker\.list_issues {2}Lists issues\.\n/);
    expect(stdout).toMatch(/\n2 of 2 that match\.\n$/);
    expect([code, stderr]).toEqual([0, ""]);
  });

  test("--explain says what each score is made of", async () => {
    const { code, stdout } = await run(["search", "create issue zzyzx", "--explain"]);
    expect(stdout).toMatch(/^1\. tracker\.create_issue {2}\d/);
    expect(stdout).toMatch(/its words: .*issue \d/);
    expect(stdout).toContain("×1.15  it does what is asked");
    expect(stdout).toContain("×0.85  it does something else than is asked");
    expect(stdout).toContain("No tool knows: zzyzx\n");
    expect(code).toBe(0);
  });

  test("--json, --connector and --limit are for scripts", async () => {
    const args = ["search", "issue", "--json", "--connector", "tracker", "--limit", "1"];
    const page = JSON.parse((await run(args)).stdout) as { tools: unknown[]; total: number };
    expect([page.tools.length, page.total]).toEqual([1, 2]);
    const { stdout } = await run([...args, "--explain"]);
    expect(JSON.parse(stdout)).toMatchObject({ tools: [{ parts: { exact: 0 } }], total: 2 });
  });

  test("a connector that cannot be searched is told of, and the exit code is 1", async () => {
    const { code, stdout, stderr } = await run(["search", "issue", "--config", "half.mjs"]);
    expect(stdout).toContain("tracker.create_issue");
    expect(stderr).toMatch(/^connecta: gone is left out: \w+: /);
    expect(code).toBe(1);
  });

  test.each([
    ["no query", [], "missing required argument 'query'"],
    ["an unknown connector", ["a", "--connector", "crm"], "no connector crm; there are: tracker,"],
    ["a limit that is none", ["a", "--limit", "0"], "between 1 and 1000"],
  ])("%s is one line and exit code 1", async (_, args, line) => {
    const { code, stdout, stderr } = await run(["search", ...args]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toContain(line);
  });
});
