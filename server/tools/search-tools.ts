import { byConnector, search } from "../catalog/search.ts";
import { withRecovery } from "../invoke/recovery.ts";
import { failedResult, toolResult } from "./result.ts";
import type { Handler } from "./tool.ts";

const MAX_SEARCH_PAGE = 50;

/** Finds tools, grouped by connector. */
export const searchTools: Handler<"search_tools"> = async (deps, input, scope) => {
  const page = await search(deps.catalogs, input, MAX_SEARCH_PAGE, scope);
  if (page.ok) return toolResult(byConnector(page.value));
  const attempt = { address: page.failure.connector ?? "" };
  return failedResult(withRecovery(page.failure, "outside", attempt));
};
