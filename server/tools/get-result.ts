import { DEFAULT_PAGE_BYTES } from "../invoke/stash.ts";
import { failedResult, toolResult } from "./result.ts";
import type { Handler } from "./tool.ts";

/** Reads a page of a truncated result. */
export const getResult: Handler<"get_result"> = async (deps, input, scope) => {
  const maxBytes = input.maxBytes ?? DEFAULT_PAGE_BYTES;
  const page = await deps.stash.page(input.id, input.offset ?? 0, maxBytes, scope);
  return page.ok ? toolResult({ ok: true, ...page.value }) : failedResult(page.failure);
};
