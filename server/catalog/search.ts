import { z } from "zod";
import { fail, ok, type Failure, type NextAction, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import type { Scope } from "../shared/scope.ts";
import { utf8Length } from "../shared/text.ts";
import type { Catalog, Catalogs } from "./catalogs.ts";
import { entryOf, type Entry, type SchemaForm } from "./entry.ts";
import { invalidArguments } from "./findings.ts";
import { lexicon } from "./lexicon.ts";
import { mentionedConnector } from "./mentions.ts";
import { readQuery } from "./query.ts";
import { rank, type Hit, type Ranking, type Selection } from "./rank.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** A connector whose tools could not be searched, and why. */
export interface Unavailable {
  readonly connector: string;
  readonly code: Failure["code"];
  readonly message: string;
  readonly nextAction?: NextAction;
}

/** What a search that found little or nothing can say about the query. */
interface QueryAnalysis {
  /** Words that occur in no tool, as written. */
  readonly unmatchedTerms?: readonly string[];
  /** The id of the connector that the query names. */
  readonly mentionedConnector?: string;
}

/** What every page says beside its tools. */
interface PageFacts {
  readonly total: number;
  readonly offset: number;
  readonly limit: number;
  readonly hasMore: boolean;
  readonly nextOffset?: number;
  /** Present on a poor match only: `weak` when the best tool answers little of the query. */
  readonly matchMode?: "weak" | "none";
  readonly queryAnalysis?: QueryAnalysis;
  readonly unavailable?: readonly Unavailable[];
}

/** One flat page, best match first. */
export interface SearchPage extends PageFacts {
  readonly tools: readonly Entry[];
}

/** The same page by connector, each where its best tool stands. */
export interface GroupedPage extends PageFacts {
  readonly connectors: readonly { readonly id: string; readonly tools: readonly Entry[] }[];
}

const DEFAULT_LIMIT = 8;
/** Most queries that nothing answers fall below this confidence, few of the others do. */
const WEAK = 0.39;

function inputSchema(maxLimit: number) {
  const schemas = z.union([z.boolean(), z.enum(["compact", "json"])], {
    error: 'true, false, "compact" or "json"',
  });
  return z.strictObject({
    query: z.string().max(LIMITS.queryChars.value).optional(),
    connector: z.string().optional(),
    safety: z.enum(["readOnly", "approvalRequired", "all"]).optional(),
    limit: z.int().min(1).max(maxLimit).optional(),
    offset: z.int().min(0).optional(),
    includeSchemas: schemas.optional(),
    fullDescriptions: z.boolean().optional(),
  });
}

type Input = z.infer<ReturnType<typeof inputSchema>>;

const schemasByLimit = new Map<number, ReturnType<typeof inputSchema>>();

/** Validators by limit, of which there are as many as callers: kept for the life of the process. */
function validator(maxLimit: number) {
  const known = schemasByLimit.get(maxLimit);
  if (known !== undefined) return known;
  const made = inputSchema(maxLimit);
  schemasByLimit.set(maxLimit, made);
  return made;
}

/**
 * Finds tools over all connectors that answer in time.
 * @param input what the caller sent; refused when it is not exactly what it may be
 * @param maxLimit how many entries may be asked for at once
 * Failures: `invalid_args`, `unknown_address` for an unknown `connector`, `result_too_large`,
 * `cancelled`. A connector that cannot list its tools is told on the page, not a failure.
 */
export async function search(
  catalogs: Catalogs,
  input: unknown,
  maxLimit: number,
  scope: Scope,
): Promise<Outcome<SearchPage>> {
  const parsed = validator(maxLimit).safeParse(input ?? {});
  if (!parsed.success) return invalidArguments("search", parsed.error);
  const gathered = await gather(catalogs, parsed.data.connector, scope);
  if (!gathered.ok) return gathered;
  const { found, unavailable } = gathered.value;
  const vocabulary = await catalogs.indexed(found);
  const { limit = DEFAULT_LIMIT, offset = 0 } = parsed.data;
  const chosen = choose(vocabulary, found, parsed.data, offset + limit);
  const tools = chosen.hits.slice(offset).map((hit) => listed(vocabulary, hit, parsed.data));
  const hasMore = offset + tools.length < chosen.total;
  const page: SearchPage = {
    tools,
    total: chosen.total,
    offset,
    limit,
    hasMore,
    ...(hasMore ? { nextOffset: offset + tools.length } : {}),
    ...assess(catalogs, parsed.data, chosen, unavailable),
    ...(unavailable.length > 0 ? { unavailable } : {}),
  };
  return bounded(page);
}

/** The page that `search_tools` answers with. */
export function byConnector({ tools, ...facts }: SearchPage): GroupedPage {
  const groups = new Map<string, Entry[]>();
  for (const tool of tools) {
    const id = tool.address.slice(0, -tool.name.length - 1);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [tool]);
    else group.push(tool);
  }
  return { connectors: [...groups].map(([id, list]) => ({ id, tools: list })), ...facts };
}

/** What could be searched, and what could not. */
export interface Gathered {
  readonly found: readonly Catalog[];
  readonly unavailable: readonly Unavailable[];
}

/** Loads side by side; whoever fails is told apart, and only the caller's leaving fails all. */
export async function gather(
  catalogs: Catalogs,
  only: string | undefined,
  scope: Scope,
): Promise<Outcome<Gathered>> {
  if (only !== undefined && catalogs.connector(only) === undefined) {
    const refused = await catalogs.load(only, scope);
    if (!refused.ok) return refused;
  }
  const ids = only === undefined ? catalogs.connectors.map(({ id }) => id) : [only];
  const loads = await Promise.all(
    ids.map((id) => {
      const catalog = catalogs.ready(id, scope);
      if (catalog !== undefined) return { id, outcome: ok(catalog) };
      return catalogs.load(id, scope).then((outcome) => ({ id, outcome }));
    }),
  );
  const found: Catalog[] = [];
  const unavailable: Unavailable[] = [];
  for (const { id, outcome } of loads) {
    if (outcome.ok) {
      found.push(outcome.value);
      const setback = catalogs.setback(id);
      if (setback !== undefined) unavailable.push(outdated(id, setback));
    } else if (outcome.failure.code === "cancelled" && scope.signal.aborted) return outcome;
    else {
      const { code, message, nextAction } = outcome.failure;
      const way = nextAction === undefined ? {} : { nextAction };
      unavailable.push({ connector: id, code, message, ...way });
    }
  }
  return ok({ found, unavailable });
}

/** A connector whose tools are listed although it no longer answers. */
function outdated(connector: string, { code, message, nextAction }: Failure): Unavailable {
  const way = nextAction === undefined ? {} : { nextAction };
  return { connector, code, message: `${message} Its tools are listed as they were.`, ...way };
}

interface Chosen {
  readonly hits: readonly Hit[];
  readonly total: number;
  /** Absent when there was no query to rank by. */
  readonly ranking?: Ranking;
}

function choose(
  vocabulary: Vocabulary,
  found: readonly Catalog[],
  { query = "", safety = "all" }: Input,
  count: number,
): Chosen {
  const slots = found
    .map(({ connectorId }) => vocabulary.slotOf(connectorId))
    .filter((slot) => slot !== undefined);
  const selection: Selection = {
    slots,
    accepts: ({ readOnly }, position) =>
      safety === "all" || (readOnly[position] === 1) === (safety === "readOnly"),
  };
  if (query.trim() === "") return browse(vocabulary, selection, count);
  const request = readQuery(query, lexicon(), vocabulary);
  const ranking = rank(vocabulary, query, request, selection, count);
  return { hits: ranking.hits, total: ranking.total, ranking };
}

/** Without a query: every tool in the order of connectors and of their lists. */
function browse(vocabulary: Vocabulary, selection: Selection, count: number): Chosen {
  const hits: Hit[] = [];
  let total = 0;
  for (const slot of selection.slots) {
    const { index } = vocabulary.slots[slot]!;
    for (let position = 0; position < index.tools.length; position++) {
      if (!selection.accepts(index, position)) continue;
      if (total++ < count) hits.push({ slot, position, score: 0 });
    }
  }
  return { hits, total };
}

function listed(vocabulary: Vocabulary, { slot, position }: Hit, input: Input): Entry {
  const { connectorId, index } = vocabulary.slots[slot]!;
  const { includeSchemas = false, fullDescriptions = false } = input;
  const form: SchemaForm =
    includeSchemas === false ? "none" : includeSchemas === "json" ? "json" : "compact";
  return entryOf(connectorId, index.tools[position]!, form, fullDescriptions);
}

/** Marks a poor match and says what about the query may explain it. */
function assess(
  catalogs: Catalogs,
  { query = "" }: Input,
  { ranking, total }: Chosen,
  unavailable: readonly Unavailable[],
): Pick<PageFacts, "matchMode" | "queryAnalysis"> {
  if (ranking === undefined) return {};
  const poor = total === 0 ? "none" : ranking.confidence < WEAK ? "weak" : undefined;
  if (poor === undefined && unavailable.length === 0) return {};
  const named = catalogs.connectors.map(({ id, title }) => {
    return { id, title: title ?? catalogs.loaded(id)?.title };
  });
  const mentioned = mentionedConnector(named, query);
  const missing = unavailable.some(({ connector }) => connector === mentioned);
  if (poor === undefined && !missing) return {};
  const analysis: QueryAnalysis = {
    ...(ranking.unmatched.length > 0 ? { unmatchedTerms: ranking.unmatched } : {}),
    ...(mentioned === undefined ? {} : { mentionedConnector: mentioned }),
  };
  return {
    ...(poor === undefined ? {} : { matchMode: poor }),
    ...(Object.keys(analysis).length > 0 ? { queryAnalysis: analysis } : {}),
  };
}

function bounded(page: SearchPage): Outcome<SearchPage> {
  const bytes = utf8Length(JSON.stringify(page));
  const maxBytes = LIMITS.searchBytes.value;
  if (bytes <= maxBytes) return ok(page);
  return fail(
    "result_too_large",
    `The page has ${bytes} bytes, ${maxBytes} are allowed: lower limit or leave out schemas and full descriptions.`,
    { bytes, maxBytes },
  );
}
