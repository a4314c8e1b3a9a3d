import { Catalogs } from "../../server/catalog/catalogs.ts";
import { search, type SearchPage } from "../../server/catalog/search.ts";
import type { Connector } from "../../server/shared/contracts.ts";
import { fakeConnector, fakeTool, valueOf } from "./catalog.ts";
import { testScope } from "./scope.ts";

/** As inside programs. */
export const MAX_PAGE = 100;

/** A small office: three connectors, one tool of which writes without saying that it does not. */
export function office(): Connector[] {
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

/** Searches an office, or other connectors, from nothing loaded. */
export async function find(
  input: unknown,
  connectors: readonly Connector[] = office(),
): Promise<SearchPage> {
  return valueOf(await search(new Catalogs(connectors), input, MAX_PAGE, testScope()));
}

/** The addresses that a query finds, best first. */
export async function addresses(
  query: string,
  connectors?: readonly Connector[],
): Promise<string[]> {
  const page = await find({ query }, connectors);
  return page.tools.map(({ address }) => address);
}
