import { describe, expect, test } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { search } from "../../server/catalog/search.ts";
import { fakeConnector, fakeTool, valueOf } from "../support/catalog.ts";
import { addresses, MAX_PAGE, office } from "../support/office.ts";
import { testScope } from "../support/scope.ts";

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
    const page = valueOf(await search(catalogs, { query: "tool_9999" }, MAX_PAGE, scope));
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
      const page = valueOf(await search(catalogs, {}, MAX_PAGE, scope));
      return page.tools.map(({ name }) => name);
    };
    expect(await names()).toEqual(["v1"]);
    state.time += 300_000;
    expect(await names()).toEqual(["v1"]);
    await Promise.all(state.deferred);
    expect(await names()).toEqual(["v2"]);
  });
});
