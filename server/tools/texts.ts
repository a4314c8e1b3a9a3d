import type { Connector } from "../shared/contracts.ts";
import { identifier } from "../shared/identifier.ts";
import { LIMITS } from "../shared/limits.ts";
import { utf8Length } from "../shared/text.ts";

/** Loaded into every conversation; kept short for that reason. */
export const INSTRUCTIONS = `connecta is one endpoint in front of several integrations.
Prefer execute_code: write one async arrow function that searches, calls, joins and reduces, and returns only the answer. Tools have addresses like "crm.get_record"; find them with connecta.search inside a program or with search_tools.
Programs and views only reach tools that are marked read-only. Anything else is one visible call_destructive_tool call.
To show the person something, a program calls connecta.ui(html); you do not see the view, so also return the summary that it shows.
A failure has a code and often a nextAction: make exactly that call. Read skills({ name: "usage" }) once before the first larger program.`;

/** What each tool says of itself. */
export const DESCRIPTIONS = {
  execute_code: `Run one JavaScript async arrow function in a sandbox next to the integrations; its return value is the result.
connecta.search({query}), .describe({address}), .call(address, args), .batch([{address, args}]), .emit({type:"text",text}); or a shortcut: await crm.get_record({id}). console.log is returned as logs. No fetch, timers or imports; read-only tools only.
connecta.ui(html): show the person a view; you never see it, so return the summary it shows.
connecta.ui(html, {reads:{name:{address, fixedArgs?, viewArgs?}}}): the view refreshes itself with await connecta.read(name, args).`,
  search_tools:
    "Find tools by what they do, in any language, grouped by connector. An empty query browses. Set includeSchemas to see arguments.",
  call_tool:
    "Call one read-only tool by address. fields keeps only the named paths. A large result is paged: follow its nextAction.",
  call_destructive_tool:
    "Call any tool, also one that changes or deletes things. Say in reason why, for the person who approves.",
  authorize_connector:
    "Find out how a person signs in to a connector, when a call failed with auth_required.",
  get_result: "Read the next page of a truncated result, by its id and nextOffset.",
  skills: "Read a guide: usage, or one named after a connector. Without a name, list them.",
} as const;

/**
 * The live inventory that ends `execute_code`'s description: ids, and the shortcut where it
 * differs, cut to its bound with `+N more`.
 */
export function inventory(connectors: readonly Connector[]): string {
  const max = LIMITS.inventoryBytes.value;
  const entries = connectors.map(({ id }) => {
    const shortcut = identifier(id);
    return shortcut === id ? id : `${id} (${shortcut})`;
  });
  const prefix = "Connectors: ";
  for (let shown = entries.length; shown >= 0; shown--) {
    const rest = entries.length - shown;
    const more = rest > 0 ? [`+${rest} more`] : [];
    const text = `${prefix}${[...entries.slice(0, shown), ...more].join(", ")}`;
    if (utf8Length(text) <= max) return text;
  }
  return prefix;
}
