import { describe, expect, test } from "vitest";
import { Ids } from "../../../server/connectors/import/ids.ts";

const given = (...names: string[]) => {
  const ids = new Ids([]);
  return names.map((name) => ids.give(name));
};

describe("the id of an imported server", () => {
  test.each([
    ["github", "github"],
    ["GitHub", "GitHub"],
    ["my_server-2", "my_server-2"],
    ["GitHub MCP Server", "GitHub-MCP-Server"],
    ["@scope/pkg", "scope-pkg"],
    ["io.github.foo/bar", "io-github-foo-bar"],
    ["Café Ünal", "Cafe-Unal"],
    ["1password", "server-1password"],
    ["_private", "server-private"],
    ["🦊", "server"],
    ["", "server"],
    ["名前", "server"],
    ["JSON", "JSON-server"],
    ["console", "console-server"],
    ["Math!", "Math-server"],
    ["delete", "delete"],
    ["__proto__", "server-proto__"],
    ["x".repeat(300), "x".repeat(64)],
  ])("of %j is %s", (name, id) => {
    expect(given(name)).toEqual([id]);
  });

  test("A4: is no other's, and neither is its global in programs", () => {
    expect(given("a b", "a-b", "a_b", "a.b")).toEqual(["a-b", "a-b-2", "a_b-3", "a-b-4"]);
    expect(given("x".repeat(300), "x".repeat(301))[1]).toBe(`${"x".repeat(62)}-2`);
  });

  test("is none that a deployment has already", () => {
    expect(new Ids(["crm"]).give("crm")).toBe("crm-2");
    expect(new Ids(["crm_a"]).give("crm-a")).toBe("crm-a-2");
  });
});
