import { describe, expect, test } from "vitest";
import { Catalogs } from "../../server/catalog/catalogs.ts";
import { search } from "../../server/catalog/search.ts";
import { titleOf } from "../../server/catalog/title.ts";
import type { Connector } from "../../server/shared/contracts.ts";
import { fail, ok } from "../../server/shared/failure.ts";
import { fakeConnector, fakeTool, valueOf } from "../support/catalog.ts";
import { MAX_PAGE } from "../support/office.ts";
import { testScope } from "../support/scope.ts";

const called = (ownTitle: string | undefined, title?: string) =>
  titleOf({ ownTitle: () => ownTitle, ...(title !== undefined && { title }) });

describe("S4: what a connector is called besides its id", () => {
  test.each([
    ["Azure DevOps MCP Server", "Azure DevOps"],
    ["@acme/mcp-server-crm", "acme crm"],
    ["example-servers/everart", "everart"],
    ["Notion API", "Notion"],
    ["飞书 MCP", "飞书"],
    ["mcp-server", undefined],
    ["", undefined],
    [undefined, undefined],
    ["one two three four five six seven", "one two three four five"],
  ])("is of %j what is left without what all servers say: %j", (own, title) => {
    expect(called(own)).toBe(title);
  });

  test("is what the deployment says, when it says something", () => {
    expect(called("Azure DevOps", "The MCP Server")).toBe("The MCP Server");
  });

  /** Two connectors with the same tools, the second of which calls itself by a name. */
  function twins(ownTitle: string): Connector[] {
    const tools = [fakeTool("update_item", { description: "Update an item." })];
    return [fakeConnector("abc", tools), fakeConnector("xyz", tools, { ownTitle: () => ownTitle })];
  }

  async function first(connectors: readonly Connector[], query: string) {
    const page = valueOf(await search(new Catalogs(connectors), { query }, MAX_PAGE, testScope()));
    return page.tools[0]?.address;
  }

  test("finds its tools: a server is found by the name that it gives itself", async () => {
    expect(await first(twins(""), "borealis studio item update")).toBe("abc.update_item");
    expect(await first(twins("Borealis Studio MCP"), "borealis studio item update")).toBe(
      "xyz.update_item",
    );
  });

  test("S5: names the connector that was missed, also by the name that it gave itself", async () => {
    const list = (listing: number) =>
      Promise.resolve(listing === 1 ? ok([fakeTool("a")]) : fail("unavailable", "It is down."));
    const xyz = fakeConnector("xyz", list, { ownTitle: () => "Borealis Studio" });
    const catalogs = new Catalogs([xyz], { freshMs: 0, staleMs: 0 });
    await catalogs.load("xyz", testScope());
    const query = "borealis invoices";
    const page = valueOf(await search(catalogs, { query }, MAX_PAGE, testScope()));
    expect(page.queryAnalysis?.mentionedConnector).toBe("xyz");
    expect(page.unavailable).toMatchObject([{ connector: "xyz" }]);
  });
});
