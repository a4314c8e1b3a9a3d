import { describe, expect, test } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { describe as describeTools } from "../../server/catalog/describe.ts";
import { isExplicitlyReadOnly } from "../../server/catalog/classify.ts";
import { govern } from "../../server/catalog/policy.ts";
import { search } from "../../server/catalog/search.ts";
import { ConfigError, readConfig } from "../../server/config.ts";
import type {
  Connector,
  Tool,
  ToolAnnotations,
  ToolPolicy,
} from "../../server/shared/contracts.ts";
import { ok } from "../../server/shared/failure.ts";
import { Notice } from "../../server/shared/notice.ts";
import { policyProblem } from "../../server/shared/policy.ts";
import { failureOf, fakeConnector, fakeTool, valueOf } from "../support/catalog.ts";
import { MAX_PAGE } from "../support/office.ts";
import { testScope } from "../support/scope.ts";

/** One tool `t` with annotations as a downstream may really send them, under a policy. */
function under(policy: ToolPolicy, annotations: unknown) {
  const tool = fakeTool("t", { annotations: annotations as ToolAnnotations });
  const { tools, hidden, warnings } = govern({ id: "crm", policy }, [tool]);
  return { tool: tools[0], same: tools[0] === tool, hidden, warnings };
}

describe("C3: a config's readOnly", () => {
  test.each([
    ["nothing", undefined],
    ["null", null],
    ["an empty object", {}],
    ["only a title", { title: "T" }],
    ["a hint of null", { readOnlyHint: null, destructiveHint: null }],
    ["that it destroys nothing", { destructiveHint: false }],
  ])("supplies the hint to a tool that says %s", (_, annotations) => {
    const { tool, warnings } = under({ readOnly: ["t"] }, annotations);
    expect(isExplicitlyReadOnly(tool!)).toBe(true);
    expect(tool).toMatchObject({ annotations: { readOnlyHint: true }, annotationSource: "config" });
    expect(warnings).toEqual([]);
  });

  test.each([
    [{ readOnlyHint: false }, "readOnlyHint: false"],
    [{ readOnlyHint: false, destructiveHint: false }, "readOnlyHint: false"],
    [{ destructiveHint: true }, "destructiveHint: true"],
    [{ readOnlyHint: true, destructiveHint: true }, "destructiveHint: true"],
    [{ readOnlyHint: "true" }, "readOnlyHint is neither"],
    [{ destructiveHint: "no" }, "destructiveHint is neither"],
  ])("never widens %j: the tool stays as it is, and the operator hears why", (said, why) => {
    const { tool, same, warnings } = under({ readOnly: ["t"] }, said);
    expect(same).toBe(true);
    expect(isExplicitlyReadOnly(tool!)).toBe(false);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('readOnly of crm names "t"');
    expect(warnings[0]).toContain(why);
  });

  test("leaves a tool alone that says so itself", () => {
    expect(under({ readOnly: ["t"] }, { readOnlyHint: true })).toMatchObject({
      same: true,
      warnings: [],
    });
  });

  test("supplies nothing to a tool that it does not name", () => {
    const { same, warnings } = under({ readOnly: ["T"] }, {});
    expect(same).toBe(true);
    expect(warnings).toEqual(['readOnly of crm names "T", which is no tool of it.']);
  });
});

describe("C3: a config's approval", () => {
  test.each([[{ readOnlyHint: true }], [{}], [undefined], [{ readOnlyHint: true, title: "T" }]])(
    "takes the class away from a tool that says %j",
    (annotations) => {
      const { tool } = under({ approval: ["t"] }, annotations);
      expect(isExplicitlyReadOnly(tool!)).toBe(false);
      expect(tool).toMatchObject({
        annotations: { ...annotations, readOnlyHint: false },
        annotationSource: "config",
      });
    },
  );

  test("adds nothing to a tool that says itself that it writes", () => {
    expect(under({ approval: ["t"] }, { readOnlyHint: false }).same).toBe(true);
  });

  test("wins over readOnly, where a config says both", () => {
    const { tool } = under({ approval: ["t"], readOnly: ["t"] }, {});
    expect(isExplicitlyReadOnly(tool!)).toBe(false);
  });
});

describe("C3: a config's hide", () => {
  test("takes a tool out, whatever else the config says of it", () => {
    const { tool, hidden } = under({ hide: ["t"], readOnly: ["t"] }, { readOnlyHint: false });
    expect(tool).toBeUndefined();
    expect(hidden.map(({ name }) => name)).toEqual(["t"]);
  });

  const connector = () =>
    fakeConnector("crm", [fakeTool("drop_table"), fakeTool("drop-table"), fakeTool("get_row")], {
      policy: { hide: ["drop_table"] },
    });

  test("a hidden tool is in no search, not even by its exact name", async () => {
    const catalogs = new Catalogs([connector()]);
    for (const query of ["drop_table", "crm.drop_table", "drop table", ""]) {
      const page = valueOf(await search(catalogs, { query }, MAX_PAGE, testScope()));
      expect(page.tools.map(({ name }) => name)).not.toContain("drop_table");
    }
  });

  test("a hidden tool is resolved, described and suggested by nobody", async () => {
    const catalogs = new Catalogs([connector()]);
    const failure = failureOf(await catalogs.resolve("crm.drop_table", testScope()));
    expect(failure.code).toBe("unknown_tool");
    expect(failure.suggestions).not.toContain("crm.drop_table");
    const [entry] = valueOf(
      await describeTools(catalogs, { address: "crm.drop_table" }, testScope()),
    );
    expect(entry).toMatchObject({ ok: false, error: { code: "unknown_tool" } });
    const missed = failureOf(await catalogs.resolve("crm.drop_tabel", testScope()));
    expect(missed.suggestions).not.toContain("crm.drop_table");
    expect(missed.suggestions).toContain("crm.drop-table");
  });

  test("a shortcut that two tools shared means the one that is left", async () => {
    const catalogs = new Catalogs([connector()]);
    const outcome = await catalogs.shortcut("crm", "drop_table", testScope());
    expect(valueOf(outcome)).toBe("crm.drop-table");
    const open = new Catalogs([{ ...connector(), policy: {} }]);
    expect(failureOf(await open.shortcut("crm", "drop_table", testScope())).code).toBe(
      "ambiguous_tool_alias",
    );
  });
});

describe("C3: discovery", () => {
  test("shows the effective annotations and that the config decided them", async () => {
    const tools = [
      fakeTool("said", { annotations: { readOnlyHint: true } }),
      fakeTool("unsaid", { annotations: {} }),
      fakeTool("liar", { annotations: { readOnlyHint: true } }),
    ];
    const policy = { readOnly: ["unsaid"], approval: ["liar"] };
    const catalogs = new Catalogs([fakeConnector("crm", tools, { policy })]);
    const input = { connector: "crm", safety: "readOnly" };
    const page = valueOf(await search(catalogs, input, MAX_PAGE, testScope()));
    expect(page.tools.map(({ name, annotationSource }) => [name, annotationSource])).toEqual([
      ["said", undefined],
      ["unsaid", "config"],
    ]);
    const [liar] = valueOf(await describeTools(catalogs, { address: "crm.liar" }, testScope()));
    expect(liar).toMatchObject({
      annotations: { readOnlyHint: false },
      annotationSource: "config",
    });
  });
});

describe("C2: a policy and the catalog's fingerprint", () => {
  async function fingerprintUnder(policy?: ToolPolicy): Promise<string> {
    const tools = [fakeTool("a", { annotations: {} }), fakeTool("b")];
    const crm = fakeConnector("crm", tools, policy && { policy });
    return valueOf(await new Catalogs([crm]).load("crm", testScope())).fingerprint;
  }

  test.each<[string, ToolPolicy]>([
    ["readOnly", { readOnly: ["a"] }],
    ["approval", { approval: ["b"] }],
    ["hide", { hide: ["b"] }],
  ])("change together with %s", async (_, policy) => {
    expect(await fingerprintUnder(policy)).not.toBe(await fingerprintUnder());
  });

  test("stay the same when the policy decides nothing", async () => {
    expect(await fingerprintUnder({ readOnly: ["b"] })).toBe(await fingerprintUnder());
  });
});

describe("what a policy cannot do is told to the operator", () => {
  /** What is reported while a connector is listed again and again. */
  async function reported(connector: Connector, listings: number): Promise<unknown[]> {
    const told: unknown[] = [];
    const scope = testScope({ report: (error) => void told.push(error) });
    const catalogs = new Catalogs([connector], { freshMs: 0, staleMs: 0 });
    for (let listing = 0; listing < listings; listing++) await catalogs.load("crm", scope);
    return told;
  }

  test("C3: an unknown name is told once, not with every listing", async () => {
    const crm = fakeConnector("crm", [fakeTool("a")], { policy: { hide: ["b", "b"] } });
    const told = await reported(crm, 3);
    expect(crm.listed()).toBe(3);
    expect(told).toEqual([new Notice('hide of crm names "b", which is no tool of it.')]);
  });

  test("a name that comes and goes is told of when it went", async () => {
    const lists: Tool[][] = [[fakeTool("a")], [fakeTool("b")], [fakeTool("a")]];
    const crm = fakeConnector("crm", (listing) => Promise.resolve(ok(lists[listing - 1] ?? [])), {
      policy: { approval: ["a"] },
    });
    expect(await reported(crm, 3)).toHaveLength(1);
  });

  test("C1: a tool that its connector set aside is told of with its reason, and many in one word", async () => {
    const setAside = Array.from({ length: 12 }, (_, i) => ({
      name: `bad${i}`,
      reason: "No name.",
    }));
    const crm = fakeConnector("crm", [fakeTool("a")], {
      setAside: () => setAside,
      policy: { hide: ["bad3"] },
    });
    const told = (await reported(crm, 2)).map((error) => (error as Notice).message);
    expect(told).toHaveLength(11);
    expect(told[0]).toBe('crm lists "bad0", which is set aside: No name.');
    expect(told[10]).toBe("crm lists 2 more tools that are set aside.");
  });

  test("nothing of it reaches a page that a model reads", async () => {
    const crm = fakeConnector("crm", [fakeTool("a")], { policy: { hide: ["secret_tool"] } });
    const page = valueOf(await search(new Catalogs([crm]), {}, MAX_PAGE, testScope()));
    expect(JSON.stringify(page)).not.toContain("secret_tool");
  });
});

describe("G7: a policy that is none", () => {
  test.each([
    ["is no object", "readOnly", "policy is no object"],
    ["holds no list", { hide: "a" }, "hide is no list of tool names"],
    ["holds no names", { approval: [1] }, "approval is no list of tool names"],
    [
      "says two things of one tool",
      { readOnly: ["a"], approval: ["a"] },
      'readOnly and approval both name "a"',
    ],
  ])("because it %s is named", (_, policy, problem) => {
    expect(policyProblem(policy)).toBe(problem);
  });

  test("stops the start of a deployment, naming the connector and the list", () => {
    const crm = fakeConnector("crm", [], { policy: { hide: "a" as never } });
    const executor = { execute: () => Promise.resolve({ result: null }) };
    const start = () => readConfig({ connectors: [crm], executor });
    expect(start).toThrow(ConfigError);
    expect(start).toThrow("connector crm: hide is no list of tool names.");
  });

  test("is none of these", () => {
    for (const policy of [undefined, {}, { readOnly: [], hide: ["a"] }]) {
      expect(policyProblem(policy)).toBeUndefined();
    }
  });
});
