import { describe, expect, test } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { byConnector, search } from "../../server/catalog/search.ts";
import type { Connector, Tool } from "../../server/shared/contracts.ts";
import { fail } from "../../server/shared/failure.ts";
import { failureOf, fakeConnector, fakeTool, HOSTILE_NAMES, valueOf } from "../support/catalog.ts";
import { testScope } from "../support/scope.ts";

const BOUNDS = { maxLimit: 100 };

/** A small office: three connectors, one tool of which writes without saying that it does not. */
function office(): Connector[] {
  return [
    fakeConnector("github", [
      fakeTool("create_issue", {
        description: "Create a new issue in a repository.",
        annotations: { readOnlyHint: false },
        inputSchema: {
          type: "object",
          properties: { title: { type: "string" }, body: { type: "string" } },
          required: ["title"],
        },
        outputSchema: { type: "object", properties: { number: { type: "integer" } } },
      }),
      fakeTool("list_issues", { description: "List the issues of a repository." }),
      fakeTool("get_issue", { description: "Get one issue by its number." }),
      fakeTool("close_issue", { description: "Close an issue.", annotations: {} }),
    ]),
    fakeConnector("slack", [
      fakeTool("post_message", { description: "Post a message to a channel.", annotations: {} }),
      fakeTool("list_channels", { description: "List all channels of the workspace." }),
      fakeTool("get_users", { description: "Get the users of the workspace." }),
    ]),
    fakeConnector("weather", [
      fakeTool("get_forecast", { description: "Forecast for a place: temperature, rain, wind." }),
    ]),
  ];
}

async function find(input: unknown, connectors: readonly Connector[] = office()) {
  return valueOf(await search(new Catalogs(connectors), input, BOUNDS, testScope()));
}

async function addresses(query: string, connectors?: readonly Connector[]): Promise<string[]> {
  const page = await find({ query }, connectors);
  return page.tools.map(({ address }) => address);
}

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

describe("S4: the right tool comes first", () => {
  test.each([
    ["create_issue", "github.create_issue"],
    ["github.create_issue", "github.create_issue"],
    ["createIssue", "github.create_issue"],
    ["slack post message", "slack.post_message"],
    ["open a new bug report", "github.create_issue"],
    ["which issues are there?", "github.list_issues"],
    ["creating isues", "github.create_issue"],
    ["will it rain tomorrow", "weather.get_forecast"],
    ["wie wird das Wetter", "weather.get_forecast"],
    ["envoyer un message", "slack.post_message"],
    ["天气", "weather.get_forecast"],
    ["メッセージを送る", "slack.post_message"],
  ])("for %j", async (query, expected) => {
    expect((await addresses(query))[0]).toBe(expected);
  });

  test("an exact name beats any number of better-looking texts", async () => {
    const praised = fakeTool("run_query", {
      title: "Ping ping",
      description: "ping ping ping ping: the best tool to ping anything",
    });
    const plain = fakeTool("ping", { description: "Unrelated words." });
    const connectors = [fakeConnector("ping", [praised]), fakeConnector("crm", [plain])];
    expect((await addresses("ping", connectors))[0]).toBe("crm.ping");
  });

  test("a name made of words that mean nothing is found by exactly that name", async () => {
    const connectors = [fakeConnector("crm", [fakeTool("other"), fakeTool("who_is")])];
    expect((await addresses("who_is", connectors))[0]).toBe("crm.who_is");
  });

  test("a rare word weighs more than a common one", async () => {
    const common = Array.from({ length: 30 }, (_, i) => fakeTool(`report_${i}`));
    const rare = fakeTool("zebra_view", { description: "Shows the zebra." });
    expect((await addresses("report zebra", [fakeConnector("zoo", [...common, rare])]))[0]).toBe(
      "zoo.zebra_view",
    );
  });

  test("a named connector's tool comes before the same tool elsewhere", async () => {
    const same = (id: string) => fakeConnector(id, [fakeTool("search_files")]);
    const connectors = [same("dropbox"), same("gdrive"), same("onedrive")];
    expect((await addresses("search files in onedrive", connectors))[0]).toBe(
      "onedrive.search_files",
    );
    expect((await addresses("search files in google drive", connectors))[0]).toBe(
      "gdrive.search_files",
    );
  });

  test("a tool that does what is asked comes before one that undoes it", async () => {
    const tools = ["remove_reaction", "add_reaction", "get_reaction"].map((name) => fakeTool(name));
    const connectors = [fakeConnector("chat", tools)];
    expect((await addresses("add a reaction", connectors))[0]).toBe("chat.add_reaction");
    expect((await addresses("delete the reaction", connectors))[0]).toBe("chat.remove_reaction");
  });

  test("parameter names and enum values are found too", async () => {
    const hidden = fakeTool("manage", {
      description: "Manage things.",
      inputSchema: {
        type: "object",
        properties: { action: { enum: ["archive", "transmogrify"] }, zipcode: { type: "string" } },
      },
    });
    const connectors = [fakeConnector("crm", [fakeTool("other"), hidden])];
    expect((await addresses("transmogrify", connectors))[0]).toBe("crm.manage");
    expect((await addresses("zipcode", connectors))[0]).toBe("crm.manage");
  });

  test("a description of megabytes neither wins by its length nor stands in the way", async () => {
    const loud = fakeTool("loud", { description: "message ".repeat(200_000) });
    const [first] = await addresses("post a message", [...office(), fakeConnector("loud", [loud])]);
    expect(first).toBe("slack.post_message");
  });
});

describe("S5: a miss", () => {
  test("is marked, and names the words that no tool knows", async () => {
    const page = await find({ query: "knit a woolen qwertyuiop" });
    expect(page.matchMode).toBeDefined();
    expect(page.queryAnalysis?.unmatchedTerms).toContain("qwertyuiop");
  });

  test("with no match at all is told apart from a poor one", async () => {
    expect((await find({ query: "qwertyuiop" })).matchMode).toBe("none");
    expect((await find({ query: "qwertyuiop asdfghjkl zxcvbnm issue" })).matchMode).toBe("weak");
  });

  test("still shows what there is", async () => {
    const page = await find({ query: "qwertyuiop asdfghjkl zxcvbnm issue" });
    expect(page.tools.length).toBeGreaterThan(0);
  });

  test("says which connector the query names", async () => {
    const page = await find({ query: "slack qwertyuiop asdfghjkl zxcvbnm" });
    expect(page.queryAnalysis?.mentionedConnector).toBe("slack");
  });

  test("is not claimed of a good match", async () => {
    const page = await find({ query: "create an issue" });
    expect(page).not.toHaveProperty("matchMode");
    expect(page).not.toHaveProperty("queryAnalysis");
    expect(page).not.toHaveProperty("unavailable");
  });

  test("by punctuation alone finds nothing and says so", async () => {
    expect(await find({ query: "?!" })).toMatchObject({ total: 0, matchMode: "none" });
  });
});

describe("S5: an unavailable connector", () => {
  const dead = fakeConnector("jira", () => Promise.resolve(fail("unavailable", "jira is down.")));

  test("is named with the reason while the others are searched", async () => {
    const page = await find({ query: "create issue" }, [dead, ...office()]);
    expect(page.unavailable).toEqual([
      { connector: "jira", code: "unavailable", message: "jira is down." },
    ]);
    expect(page.tools[0]?.address).toBe("github.create_issue");
  });

  test("never reads as an empty one", async () => {
    const page = await find({ connector: "jira" }, [dead]);
    expect(page.total).toBe(0);
    expect(page.unavailable).toHaveLength(1);
  });

  test("that the query names is pointed out even when others match", async () => {
    const page = await find({ query: "create issue in jira" }, [dead, ...office()]);
    expect(page.queryAnalysis?.mentionedConnector).toBe("jira");
  });

  test("for want of authorisation says how to get it (E3)", async () => {
    const shut = fakeConnector("jira", () => Promise.resolve(fail("auth_required", "Log in.")));
    const page = await find({}, [shut]);
    expect(page.unavailable?.[0]?.nextAction).toEqual({
      tool: "authorize_connector",
      arguments: { connector: "jira" },
    });
  });

  test("that never answers delays the page by its deadline alone", async () => {
    const silent = fakeConnector("silent", () => new Promise(() => undefined));
    const catalogs = new Catalogs([silent, ...office()], { timeoutMs: 20 });
    const page = valueOf(await search(catalogs, { query: "forecast" }, BOUNDS, testScope()));
    expect(page.tools[0]?.address).toBe("weather.get_forecast");
    expect(page.unavailable?.map(({ connector }) => connector)).toEqual(["silent"]);
  });

  test("does not make the others wait: all are asked before any has answered", async () => {
    const asked: string[] = [];
    const waiting = ["a", "b", "c"].map((id) =>
      fakeConnector(id, () => {
        asked.push(id);
        return new Promise(() => undefined);
      }),
    );
    const leaving = new AbortController();
    const scope = testScope({ signal: leaving.signal });
    const page = search(new Catalogs(waiting), {}, BOUNDS, scope);
    expect(asked).toEqual(["a", "b", "c"]);
    leaving.abort();
    expect(failureOf(await page).code).toBe("cancelled");
  });
});

describe("S7: bounds throw", () => {
  async function refusal(input: unknown, maxLimit = 100) {
    const outcome = await search(new Catalogs(office()), input, { maxLimit }, testScope());
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
    const failure = failureOf(await search(catalogs, input, BOUNDS, testScope()));
    expect(failure).toMatchObject({ code: "result_too_large", maxBytes: 256_000 });
    expect((await search(catalogs, { ...input, limit: 1 }, BOUNDS, testScope())).ok).toBe(true);
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

describe("S4: ten thousand tools", () => {
  test("are indexed once, off the request path, in steps that let others run", async () => {
    const deferred: Promise<unknown>[] = [];
    const scope = testScope({ defer: (task) => void deferred.push(task) });
    const tools = Array.from({ length: 10_000 }, (_, i) => fakeTool(`tool_${i}`));
    const catalogs = new Catalogs([fakeConnector("big", tools)]);
    const catalog = valueOf(await catalogs.load("big", scope));
    expect(catalog.index.index).toBeUndefined();
    let turns = 0;
    const others = setInterval(() => turns++, 0);
    await Promise.all(deferred);
    clearInterval(others);
    const built = catalog.index.index;
    expect(built?.tools).toHaveLength(10_000);
    expect(turns).toBeGreaterThan(10);
    const page = valueOf(await search(catalogs, { query: "tool_9999" }, BOUNDS, scope));
    expect(page.tools[0]?.name).toBe("tool_9999");
    expect(page.total).toBe(10_000);
    expect(catalog.index.index).toBe(built);
  });

  test("are searched in the old index until the new one is built", async () => {
    const state = { time: 0, deferred: [] as Promise<unknown>[] };
    const scope = testScope({
      now: () => state.time,
      defer: (task) => void state.deferred.push(task),
    });
    const listing = (n: number) =>
      Promise.resolve({ ok: true, value: [fakeTool(`v${n}`)] } as const);
    const catalogs = new Catalogs([fakeConnector("crm", listing)]);
    const names = async () => {
      const page = valueOf(await search(catalogs, {}, BOUNDS, scope));
      return page.tools.map(({ name }) => name);
    };
    expect(await names()).toEqual(["v1"]);
    state.time += 300_000;
    expect(await names()).toEqual(["v1"]);
    await Promise.all(state.deferred);
    expect(await names()).toEqual(["v2"]);
  });
});
