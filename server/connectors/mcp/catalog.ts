import type { SetAside, Tool } from "../../shared/contracts.ts";
import { fail, ok, type Outcome } from "../../shared/failure.ts";
import { isRecord } from "../../shared/record.ts";
import { utf8Length } from "../../shared/text.ts";
import { nameOf, readTool } from "./tools.ts";

/** A tool list read to its end. */
export interface ToolList {
  readonly tools: readonly Tool[];
  readonly aside: readonly SetAside[];
}

/** Nobody real pages; ten thousand tools in pages of fifty still fit. */
const MAX_PAGES = 500;
const MAX_TOOLS = 20_000;
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Follows a tool list's cursors to the end; what is not whole is a failure.
 * Failures: `catalog_lookup_failed`, and whatever a page's own failure is.
 * @param page asks for one page as the server writes it; without a cursor for the first
 */
export async function readToolList(
  page: (cursor: string | undefined) => Promise<Outcome<unknown>>,
): Promise<Outcome<ToolList>> {
  const reading = new Reading();
  const seen = new Set<string>();
  let cursor: string | undefined;
  let before = "";
  for (let pages = 1; ; pages++) {
    const answer = await page(cursor);
    if (!answer.ok) return answer;
    const { value } = answer;
    if (!isRecord(value) || !Array.isArray(value.tools)) return broken("has a page without tools");
    const { nextCursor } = value;
    const text = cursor === "" || nextCursor === "" ? (JSON.stringify(value.tools) ?? "") : "";
    // Some servers write an empty cursor for the end, and start over when it is followed.
    if (cursor === "" && nextCursor === "" && text === before) return reading.done();
    before = text;
    const outgrown = reading.add(value.tools);
    if (outgrown !== undefined) return broken(outgrown);
    if (nextCursor === undefined || nextCursor === null) return reading.done();
    if (typeof nextCursor !== "string") return broken("has a cursor that is no text");
    if (seen.has(nextCursor)) return broken("repeats a cursor");
    if (pages === MAX_PAGES) return broken(`has more than ${MAX_PAGES} pages`);
    seen.add(nextCursor);
    cursor = nextCursor;
  }
}

class Reading {
  readonly #tools = new Map<string, Tool>();
  readonly #aside: SetAside[] = [];
  #bytes = 0;

  /** Takes a page in; says what is too much. */
  add(entries: readonly unknown[]): string | undefined {
    if (this.#tools.size + this.#aside.length + entries.length > MAX_TOOLS) {
      return `has more than ${MAX_TOOLS} tools`;
    }
    for (const entry of entries) {
      const { tool, reason } = readTool(entry);
      if (tool === undefined) this.#leave(entry, reason);
      else if (this.#tools.has(tool.name)) this.#leave(entry, "An earlier tool has the same name.");
      else {
        this.#tools.set(tool.name, tool);
        this.#bytes += utf8Length(JSON.stringify(tool));
      }
      if (this.#bytes > MAX_BYTES) return `is longer than ${MAX_BYTES} bytes`;
    }
    return undefined;
  }

  done(): Outcome<ToolList> {
    return ok({ tools: [...this.#tools.values()], aside: this.#aside });
  }

  #leave(entry: unknown, reason: string): void {
    this.#aside.push({ name: nameOf(entry), reason });
  }
}

function broken(how: string): Outcome<never> {
  return fail("catalog_lookup_failed", `it ${how}.`);
}
