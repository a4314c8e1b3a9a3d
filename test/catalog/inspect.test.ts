import { describe, expect, test } from "vitest";
import { asText } from "../../server/node/inspect-text.ts";
import { inspect } from "../../server/catalog/inspect.ts";
import type { Connector } from "../../server/shared/contracts.ts";
import { fail } from "../../server/shared/failure.ts";
import { fakeConnector, fakeTool } from "../support/catalog.ts";

const NEVER = new AbortController().signal;
const text = async (...connectors: Connector[]) => asText(await inspect(connectors, NEVER));

/** A connector with a tool of every class, for every reason. */
function mixed(): Connector {
  const tools = [
    fakeTool("get_row"),
    fakeTool("update_row", { annotations: { readOnlyHint: false } }),
    fakeTool("look", { annotations: {} }),
    fakeTool("reviewed", { annotations: {} }),
    fakeTool("liar"),
    fakeTool("execute_tool", { annotations: {} }),
    fakeTool("send_mail"),
    fakeTool("gone"),
    fakeTool("both", { annotations: { readOnlyHint: true, destructiveHint: true } }),
  ];
  return fakeConnector("crm", tools, {
    policy: { readOnly: ["reviewed", "none"], approval: ["liar"], hide: ["gone"] },
    setAside: () => [{ name: "bad", reason: "Its schema does not compile." }],
  });
}

describe("C3: what an operator sees of a connector's tools", () => {
  test("is each with its class and what decided it, those to look at first", async () => {
    const [crm] = await inspect([mixed()], NEVER);
    expect(crm).toMatchObject({ connector: "crm", ok: true });
    const tools = crm?.ok === true ? crm.tools : [];
    expect(tools.map((tool) => [tool.name, tool.class, tool.why])).toEqual([
      ["send_mail", "read-only", "annotation"],
      ["execute_tool", "needs approval", "none"],
      ["get_row", "read-only", "annotation"],
      ["reviewed", "read-only", "config"],
      ["update_row", "needs approval", "annotation"],
      ["look", "needs approval", "none"],
      ["liar", "needs approval", "config"],
      ["both", "needs approval", "annotation"],
      ["bad", "set aside", "none"],
      ["gone", "hidden", "config"],
    ]);
    expect(tools.filter(({ suspicious }) => suspicious).map(({ name }) => name)).toEqual([
      "send_mail",
      "execute_tool",
    ]);
  });

  test("is one line for each tool, in columns, and what of the policy has no effect", async () => {
    expect(await text(mixed()))
      .toBe(`crm: 10 tools, 3 read-only, 5 needs approval, 1 hidden, 1 set aside
  readOnly of crm names "none", which is no tool of it.
  !  send_mail     read-only       annotation  counts as reading, its name says "send"
  !  execute_tool  needs approval  none        carries out whatever it is given
     get_row       read-only       annotation
     reviewed      read-only       config
     update_row    needs approval  annotation
     look          needs approval  none
     liar          needs approval  config
     both          needs approval  annotation
     bad           set aside       none        Its schema does not compile.
     gone          hidden          config
`);
  });

  test("begins with the connectors that failed and those with suspicious tools", async () => {
    const down = fakeConnector("down", () => Promise.resolve(fail("unavailable", "It is down.")), {
      errorOutput: () => "Error: no key\n\n    at start\n",
    });
    const calm = fakeConnector("calm", [fakeTool("a")]);
    const said = await text(calm, mixed(), down, fakeConnector("none", []));
    expect(said.match(/^\w+: .*$/gm)).toEqual([
      "down: not loaded (unavailable)",
      "crm: 10 tools, 3 read-only, 5 needs approval, 1 hidden, 1 set aside",
      "calm: 1 tool, 1 read-only",
      "none: 0 tools",
    ]);
    expect(said).toContain("  It is down.\n  | Error: no key\n  |     at start\n");
  });

  test("survives a connector that throws, and says nothing of what it threw", async () => {
    const broken = fakeConnector("broken", () => Promise.reject(new TypeError("Bearer s3cret")));
    expect(await text(broken)).toBe(
      "broken: not loaded (internal)\n  broken failed unexpectedly (TypeError).\n",
    );
  });

  test("is there for the others when one never answers and the operator leaves", async () => {
    const leaving = new AbortController();
    const silent = fakeConnector("silent", () => new Promise(() => undefined));
    const listing = inspect([silent, fakeConnector("calm", [fakeTool("a")])], leaving.signal);
    leaving.abort();
    const [first, second] = await listing;
    expect([first?.ok, second?.connector]).toEqual([false, "calm"]);
  });

  test("holds no control character that a server's names or texts bring", async () => {
    const evil = "a\u001b[2Jb\u202ec\nd";
    const aside = fakeConnector("crm", [fakeTool(evil)], {
      setAside: () => [{ name: "x", reason: evil }],
      errorOutput: () => evil,
    });
    const failing = fakeConnector("f", () => Promise.resolve(fail("unavailable", evil)), {
      errorOutput: () => evil,
    });
    const said = await text(aside, failing);
    expect(said).toContain("a\ufffd[2Jb\ufffdc\ufffdd");
    expect(said).not.toMatch(/[^\P{C}\n]/u);
  });

  test("keeps its columns when one name is endless", async () => {
    const said = await text(fakeConnector("crm", [fakeTool("x".repeat(300)), fakeTool("short")]));
    expect(said).toContain(`     ${"short".padEnd(48)}  read-only  annotation\n`);
  });
});
