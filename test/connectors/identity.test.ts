import { describe, expect, test } from "vitest";
import { api, remoteMcp } from "../../server/index.ts";
import { stdioMcp, type StdioMcpOptions } from "../../server/connectors/stdio/stdio.ts";

const remote = (url: string, headers = {}) => remoteMcp({ id: "crm", url, headers }).identity?.();
const stdio = (parts: Partial<StdioMcpOptions> = {}) =>
  stdioMcp({ id: "crm", command: "crm-server", args: ["--a", "b"], ...parts }).identity?.();

describe("what a connector leads to", () => {
  test("is told by the URL of a remote server, whoever calls", () => {
    expect(remote("https://a.example/mcp")).toBe(remote("https://a.example/mcp", { "x-key": "1" }));
    expect(remote("https://a.example/mcp")).not.toBe(remote("https://a.example/mcp?team=2"));
  });

  test.each<[string, Partial<StdioMcpOptions>]>([
    ["the command", { command: "other-server" }],
    ["the arguments", { args: ["--a b"] }],
    ["the working directory", { cwd: "/srv" }],
    ["which variables are set", { env: { KEY: "value" } }],
  ])("is told of a process by %s", (_, parts) => {
    expect(stdio(parts)).not.toBe(stdio());
  });

  test("does not depend on the values of variables, and does not hold them", () => {
    const one = stdio({ env: { KEY: "s3cret", OTHER: "1" } });
    expect(one).toBe(stdio({ env: { OTHER: "2", KEY: "new" } }));
    expect(one).not.toContain("s3cret");
  });

  test("is of no interest where the tools stand in the config", () => {
    expect(api({ id: "crm", tools: {} }).identity).toBeUndefined();
  });
});
