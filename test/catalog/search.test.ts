import { describe, expect, test } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { byConnector, search } from "../../server/catalog/search.ts";
import type { Tool } from "../../server/shared/contracts.ts";
import { failureOf, fakeConnector, fakeTool, HOSTILE_NAMES } from "../support/catalog.ts";
import { MAX_PAGE, find, office } from "../support/office.ts";
import { testScope } from "../support/scope.ts";

describe("S1: a page", () => {
  test("has eight tools unless asked otherwise, and says where to go on", async () => {
    const many = fakeConnector(
      "many",
      Array.from({ length: 20 }, (_, i) => fakeTool(`tool_${i}`)),
    );
    const first = await find({}, [many]);
    expect(first).toMatchObject({ total: 20, offset: 0, limit: 8, hasMore: true, nextOffset: 8 });
    expect(first.tools).toHaveLength(8);
    const last = await find({ offset: 16, limit: 10 }, [many]);
    expect(last.tools).toHaveLength(4);
    expect(last.hasMore).toBe(false);
    expect(last.nextOffset).toBeUndefined();
  });

  test("browses in order when the query is empty, and marks nothing", async () => {
    for (const query of [undefined, "", "   "]) {
      const page = await find({ query, limit: 100 });
      expect(page.tools.map(({ name }) => name)).toEqual([
        "create_issue",
        "list_issues",
        "get_issue",
        "close_issue",
        "post_message",
        "list_channels",
        "get_users",
        "get_forecast",
      ]);
      expect(page.matchMode).toBeUndefined();
    }
  });

  test("of a query pages through every match, each once", async () => {
    const all = await find({ query: "issue", limit: 100 });
    const seen: string[] = [];
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const page: Awaited<ReturnType<typeof find>> = await find({
        query: "issue",
        limit: 2,
        offset,
      });
      seen.push(...page.tools.map(({ address }) => address));
      offset = page.nextOffset;
    }
    expect(seen).toEqual(all.tools.map(({ address }) => address));
    expect(new Set(seen).size).toBe(all.total);
  });

  test("keeps to one connector when told so", async () => {
    const page = await find({ connector: "slack", limit: 100 });
    expect(page.tools.every(({ address }) => address.startsWith("slack."))).toBe(true);
    expect(page.total).toBe(3);
  });

  test.each([
    ["readOnly", ["list_issues", "get_issue", "list_channels", "get_users", "get_forecast"]],
    ["approvalRequired", ["create_issue", "close_issue", "post_message"]],
  ])("keeps to what is %s", async (safety, names) => {
    const page = await find({ safety, limit: 100 });
    expect(page.tools.map(({ name }) => name)).toEqual(names);
    expect(page.total).toBe(names.length);
  });
});

describe("S2: search_tools shows the same page by connector", () => {
  test("each where its best tool stands", async () => {
    const page = await find({ query: "list channels or issues", limit: 6 });
    const grouped = byConnector(page);
    expect(grouped.connectors.flatMap(({ tools }) => tools)).toHaveLength(page.tools.length);
    expect(grouped.connectors[0]?.id).toBe(page.tools[0]?.address.split(".")[0]);
    for (const { id, tools } of grouped.connectors) {
      for (const tool of tools) expect(tool.address).toBe(`${id}.${tool.name}`);
    }
    expect(grouped).not.toHaveProperty("tools");
    expect(grouped.total).toBe(page.total);
  });

  test("also where ids and names contain dots", async () => {
    const page = await find({}, [fakeConnector("a.b", [fakeTool("c.d")])]);
    expect(byConnector(page).connectors.map(({ id }) => id)).toEqual(["a.b"]);
  });
});

describe("S3: an entry", () => {
  test("has its address, name, description and annotations as declared", async () => {
    const page = await find({ query: "create_issue", limit: 1 });
    expect(page.tools).toEqual([
      {
        address: "github.create_issue",
        name: "create_issue",
        description: "Create a new issue in a repository.",
        annotations: { readOnlyHint: false },
      },
    ]);
  });

  test("says when the deployment supplied the class (C3)", async () => {
    const classified = fakeConnector("crm", [fakeTool("a", { annotationSource: "config" })]);
    expect((await find({}, [classified])).tools[0]?.annotationSource).toBe("config");
  });

  test("shows 160 characters of a description unless all are wanted", async () => {
    const description = "Reads.\n\n   ".repeat(40);
    const long = [fakeConnector("crm", [fakeTool("a", { description })])];
    const short = (await find({}, long)).tools[0]?.description ?? "";
    expect(short.length).toBeLessThanOrEqual(160);
    expect(short.startsWith("Reads. Reads. Reads.")).toBe(true);
    const full = (await find({ fullDescriptions: true }, long)).tools[0]?.description;
    expect(full).toBe(description);
  });

  test.each([true, "compact"])(
    "with includeSchemas %j has compact schemas and keys",
    async (form) => {
      const page = await find({ query: "create_issue", limit: 1, includeSchemas: form });
      expect(page.tools[0]).toMatchObject({
        inputSchema: "{ title: string; body?: string }",
        outputSchema: "{ number?: integer }",
        inputKeys: ["title", "body"],
        requiredInputKeys: ["title"],
        outputKeys: ["number"],
      });
      expect(page.tools[0]).not.toHaveProperty("schemaTruncated");
    },
  );

  test('with includeSchemas "json" has the exact schemas', async () => {
    const page = await find({ query: "create_issue", limit: 1, includeSchemas: "json" });
    expect(page.tools[0]?.inputSchema).toEqual({
      type: "object",
      properties: { title: { type: "string" }, body: { type: "string" } },
      required: ["title"],
    });
  });

  test("says when a compact schema leaves something out", async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 300 }, (_, i) => [`property_${i}`, { type: "string" }]),
    );
    const wide = [
      fakeConnector("crm", [fakeTool("a", { inputSchema: { type: "object", properties } })]),
    ];
    const entry = (await find({ includeSchemas: true }, wide)).tools[0];
    expect(entry?.schemaTruncated).toBe(true);
    expect(entry?.inputKeys).toHaveLength(300);
  });
});

describe("S7: bounds throw", () => {
  async function refusal(input: unknown, maxLimit = 100) {
    const outcome = await search(new Catalogs(office()), input, maxLimit, testScope());
    return failureOf(outcome);
  }

  test.each([
    [{ limit: 0 }, "limit", "too_small", "at least 1"],
    [{ limit: 101 }, "limit", "too_big", "at most 100"],
    [{ limit: 1.5 }, "limit", "invalid_type", "int"],
    [{ offset: -1 }, "offset", "too_small", "at least 0"],
    [{ query: 7 }, "query", "invalid_type", "string"],
    [{ query: "x".repeat(1_001) }, "query", "too_big", "at most 1000"],
    [{ safety: "danger" }, "safety", "invalid_value", '"readOnly" or "approvalRequired" or "all"'],
    [
      { includeSchemas: "xml" },
      "includeSchemas",
      "invalid_union",
      'true, false, "compact" or "json"',
    ],
    [{ fulldescriptions: true }, "fulldescriptions", "unrecognized_keys", "no such field"],
    ["issue", "", "invalid_type", "object"],
  ])("%j is refused by path, rule and expectation", async (input, path, code, expected) => {
    const failure = await refusal(input);
    expect(failure.code).toBe("invalid_args");
    expect(failure.findings?.[0]).toEqual({ path, code, expected });
  });

  test("with at most three findings, none of which holds a value (I2)", async () => {
    const failure = await refusal({
      limit: 987_654,
      offset: -987_654,
      query: { secret: "hunter2" },
      safety: "hunter2",
      connector: 987_654,
    });
    expect(failure.findings).toHaveLength(3);
    expect(JSON.stringify(failure)).not.toMatch(/hunter2|987/);
  });

  test("the limit is the caller's: fifty outside, a hundred inside", async () => {
    expect((await refusal({ limit: 51 }, 50)).code).toBe("invalid_args");
    expect((await find({ limit: 51 })).limit).toBe(51);
  });

  test("an unknown connector is an unknown address", async () => {
    const failure = await refusal({ connector: "gitlab" });
    expect(failure.code).toBe("unknown_address");
  });

  test("a page over 256,000 bytes is refused, not shortened", async () => {
    const description = "é".repeat(70_000);
    const tools = [fakeTool("a", { description }), fakeTool("b", { description })];
    const catalogs = new Catalogs([fakeConnector("crm", tools)]);
    const input = { fullDescriptions: true };
    const failure = failureOf(await search(catalogs, input, MAX_PAGE, testScope()));
    expect(failure).toMatchObject({ code: "result_too_large", maxBytes: 256_000 });
    expect((await search(catalogs, { ...input, limit: 1 }, MAX_PAGE, testScope())).ok).toBe(true);
  });
});

describe("S1: hostile catalogs", () => {
  test("are searched like any other, whatever their tools are called", async () => {
    const hostile = fakeConnector(
      "hostile",
      HOSTILE_NAMES.map((name) => fakeTool(name)),
    );
    const page = await find({ limit: 100 }, [hostile]);
    expect(page.tools.map(({ name }) => name)).toEqual(HOSTILE_NAMES);
    for (const name of HOSTILE_NAMES.filter((each) => /[\p{L}\p{N}]/u.test(each))) {
      const found = await find({ query: name.slice(0, 1_000), limit: 1 }, [hostile]);
      expect(found.tools[0]?.name).toBe(name);
    }
  });

  test("whose tools are garbage are searched as far as they can be", async () => {
    const garbage = {
      name: "garbage",
      description: 7,
      inputSchema: "none",
      annotations: null,
      title: ["x"],
    };
    const crm = fakeConnector("crm", [garbage as unknown as Tool, fakeTool("good")]);
    const page = await find({ query: "good", includeSchemas: true }, [crm]);
    expect(page.tools[0]?.name).toBe("good");
  });
});
