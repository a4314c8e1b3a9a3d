import { expect, answers, each, fails, resultThat, type Case } from "../case.ts";

interface Page {
  readonly tools: readonly Record<string, unknown>[];
  readonly total: number;
  readonly [fact: string]: unknown;
}

interface Missed {
  readonly suggestions?: readonly string[];
}

const search = (options: string) => `return connecta.search(${options})`;
const page = (check: (page: Page) => void) => resultThat(check);
const bytes = (value: unknown) => new TextEncoder().encode(String(value)).length;

/** Pages. */
const PAGES: readonly Case[] = [
  {
    clauses: ["S1"],
    title: "search answers one flat page: tools, total, offset, limit, hasMore, nextOffset",
    inputs: each({
      "the first page, of eight": [
        search('{ connector: "odd" }'),
        page(({ tools, ...facts }) => {
          expect(tools).toHaveLength(8);
          expect(facts).toEqual({ total: 17, offset: 0, limit: 8, hasMore: true, nextOffset: 8 });
        }),
      ],
      "a page in the middle": [
        search('{ connector: "odd", limit: 5, offset: 10 }'),
        page(({ tools, ...facts }) => {
          expect(tools).toHaveLength(5);
          expect(facts).toEqual({ total: 17, offset: 10, limit: 5, hasMore: true, nextOffset: 15 });
        }),
      ],
      "the last page": [
        search('{ connector: "odd", limit: 100 }'),
        page(({ tools, ...facts }) => {
          expect(tools).toHaveLength(17);
          expect(facts).toEqual({ total: 17, offset: 0, limit: 100, hasMore: false });
        }),
      ],
      "beyond the end": [
        search("{ offset: 1000 }"),
        page(({ tools, hasMore }) => expect([tools, hasMore]).toEqual([[], false])),
      ],
    }),
  },
  {
    clauses: ["S1"],
    title: "an empty query browses in the order of connectors and tools",
    code: search('{ query: "", limit: 3 }'),
    check: page(({ tools }) =>
      expect(tools.map(({ address }) => address)).toEqual([
        "crm.get_record",
        "crm.list_orders",
        "crm.echo",
      ]),
    ),
  },
  {
    clauses: ["S1"],
    title: "pages put together are the whole list, each tool once",
    code: `const all = [];
      for (let offset = 0; offset !== undefined; ) {
        const page = await connecta.search({ connector: "odd", limit: 7, offset });
        all.push(...page.tools.map(({ address }) => address));
        offset = page.nextOffset;
      }
      return [all.length, new Set(all).size]`,
    check: answers([17, 17]),
  },
  {
    clauses: ["S1"],
    title: "a query finds what it describes, and what it finds can be called",
    code: `const { tools: [tool] } = await connecta.search({ query: "get a customer record" });
      return [tool.address, (await connecta.call(tool.address, { id: "a" })).name]`,
    check: answers(["crm.get_record", "Record a"]),
  },
  {
    clauses: ["S1"],
    title: "connector and safety narrow a page",
    code: `const names = async (options) => (await connecta.search({ limit: 100, ...options })).tools.map(({ address }) => address);
      return [
        await names({ connector: "tickets-eu" }),
        await names({ safety: "approvalRequired" }),
        (await names({})).length - (await names({ safety: "readOnly" })).length,
        (await names({})).length - (await names({ safety: "all" })).length,
      ]`,
    check: answers([
      ["tickets-eu.list-open"],
      ["crm.update_record", "mail.unannotated", "mail.contradictory"],
      3,
      0,
    ]),
  },
];

/** Entries. */
const ENTRIES: readonly Case[] = [
  {
    clauses: ["S3"],
    title: "an entry has address, name, description and annotations, and no schema unasked",
    code: search('{ connector: "crm", query: "update customer record", limit: 1 }'),
    check: page(({ tools }) =>
      expect(tools).toEqual([
        {
          address: "crm.update_record",
          name: "update_record",
          description: "Change a customer record.",
          annotations: { readOnlyHint: false, destructiveHint: true },
        },
      ]),
    ),
  },
  {
    clauses: ["S3"],
    title: "a description is its first 160 characters, unless full ones are asked for",
    inputs: each({
      short: [
        search('{ connector: "crm", query: "list_orders", limit: 1 }'),
        page(({ tools: [tool] }) => {
          expect(String(tool?.description)).toHaveLength(160);
          expect(tool?.description).toMatch(/^List orders\. They are listed by date\. /);
        }),
      ],
      full: [
        search('{ connector: "crm", query: "list_orders", limit: 1, fullDescriptions: true }'),
        page(({ tools: [tool] }) => expect(String(tool?.description)).toHaveLength(513)),
      ],
    }),
  },
  {
    clauses: ["S3"],
    title: "schemas come as compact text with the names of their fields",
    code: search('{ connector: "crm", query: "get_record", limit: 1, includeSchemas: true }'),
    check: page(({ tools: [tool] }) => {
      expect(tool).toMatchObject({
        inputKeys: ["id"],
        requiredInputKeys: ["id"],
        outputKeys: ["id", "name"],
        inputSchema: expect.stringMatching(/^\{ ?id: string/),
        outputSchema: expect.stringMatching(/^\{ ?id\?: string/),
      });
      expect(tool).not.toHaveProperty("schemaTruncated");
    }),
  },
  {
    clauses: ["S3"],
    title: "a large schema is cut between fields to 1,024 bytes, required ones first, and flagged",
    code: search('{ connector: "crm", query: "list_orders", limit: 1, includeSchemas: true }'),
    check: page(({ tools: [tool] }) => {
      expect(tool).toMatchObject({
        schemaTruncated: true,
        requiredInputKeys: ["property_number_78", "property_number_79"],
      });
      expect(tool?.inputKeys).toHaveLength(80);
      expect(bytes(tool?.inputSchema)).toBeLessThanOrEqual(1_024);
      expect(tool?.inputSchema).toMatch(
        /^\{ ?property_number_78: string[,;] property_number_79: string[,;] property_number_0\?: string/,
      );
      expect(tool?.inputSchema).toMatch(/\}$/);
    }),
  },
  {
    clauses: ["S3"],
    title: 'includeSchemas: "json" gives the exact schema',
    code: search('{ connector: "crm", query: "get_record", limit: 1, includeSchemas: "json" }'),
    check: page(({ tools: [tool] }) =>
      expect(tool?.inputSchema).toEqual({
        type: "object",
        properties: { id: { type: "string", description: "Such as r7" } },
        required: ["id"],
        additionalProperties: false,
      }),
    ),
  },
];

/** Misses. */
const MISSES: readonly Case[] = [
  {
    clauses: ["S5"],
    title: "a miss names the words that nothing matches and the connector that the query mentions",
    code: search('{ query: "crm qwertyuiop zxcvbnmasdf" }'),
    check: page(({ matchMode, queryAnalysis }) => {
      expect(["weak", "none"]).toContain(matchMode);
      expect(queryAnalysis).toMatchObject({
        unmatchedTerms: expect.arrayContaining(["qwertyuiop", "zxcvbnmasdf"]),
        mentionedConnector: "crm",
      });
    }),
  },
  {
    clauses: ["S5"],
    title: "an unavailable connector is named with the reason and never reads as an empty one",
    deployment: "ailing",
    inputs: each({
      "of all connectors": [
        search('{ query: "get a customer record" }'),
        page(({ tools, unavailable }) => {
          expect(tools[0]?.address).toBe("crm.get_record");
          expect(unavailable).toEqual([
            expect.objectContaining({
              connector: "down",
              code: "unavailable",
              message: expect.stringContaining("Closed for maintenance."),
            }),
            expect.objectContaining({ connector: "broken", code: "catalog_lookup_failed" }),
          ]);
        }),
      ],
      "of that connector alone": [
        search('{ connector: "down" }'),
        page(({ tools, total, unavailable }) => {
          expect([tools, total]).toEqual([[], 0]);
          expect(unavailable).toMatchObject([{ connector: "down", code: "unavailable" }]);
        }),
      ],
    }),
  },
  {
    clauses: ["S5", "E1"],
    title: "a call to a connector whose tools cannot be listed says so, not that there is no tool",
    deployment: "ailing",
    inputs: each({
      "it is down": [
        'return connecta.call("down.anything")',
        fails({ code: "unavailable", retryable: true, connector: "down" }),
      ],
      "its list is broken": [
        "return broken.anything()",
        fails({ code: "catalog_lookup_failed", retryable: false, connector: "broken" }),
      ],
    }),
  },
];

/** Describing. */
const DESCRIBING: readonly Case[] = [
  {
    clauses: ["S6"],
    title: "describe gives one entry per address in order, with the exact schemas",
    inputs: each({
      "one address": [
        'return connecta.describe({ address: "crm.get_record" })',
        resultThat((entries: readonly unknown[]) =>
          expect(entries).toEqual([
            expect.objectContaining({
              address: "crm.get_record",
              ok: true,
              name: "get_record",
              title: "Get a record",
              description: "Get one customer record by its id.",
              annotations: { readOnlyHint: true },
              inputSchema: {
                type: "object",
                properties: { id: { type: "string", description: "Such as r7" } },
                required: ["id"],
                additionalProperties: false,
              },
            }),
          ]),
        ),
      ],
      "several, one of them twice": [
        `const entries = await connecta.describe({ addresses: ["odd.__proto__", "crm.echo", "odd.__proto__"] });
        return entries.map(({ address, ok, name }) => [address, ok, name])`,
        answers([
          ["odd.__proto__", true, "__proto__"],
          ["crm.echo", true, "echo"],
          ["odd.__proto__", true, "__proto__"],
        ]),
      ],
    }),
  },
  {
    clauses: ["S6", "E1", "E3"],
    title: "a bad address is an entry of its own with up to three suggestions, and fails no other",
    code: `return connecta.describe({ addresses: ["crm.get_recrod", "crm.echo", "nothing.at_all", "crm"] })`,
    check: resultThat((entries: readonly Record<string, unknown>[]) => {
      expect(entries.map(({ address, ok }) => [address, ok])).toEqual([
        ["crm.get_recrod", false],
        ["crm.echo", true],
        ["nothing.at_all", false],
        ["crm", false],
      ]);
      const [missed, , unknown] = entries.map(({ error }) => (error ?? {}) as Missed);
      expect(missed).toMatchObject({
        code: "unknown_tool",
        retryable: false,
        suggestions: expect.arrayContaining(["crm.get_record"]),
        nextAction: { function: "connecta.search" },
      });
      expect(missed?.suggestions?.length).toBeLessThanOrEqual(3);
      expect(unknown).toMatchObject({ code: "unknown_address", message: expect.any(String) });
    }),
  },
  {
    clauses: ["S6", "S7"],
    title: "describe takes a hundred addresses and not one more",
    inputs: each({
      "a hundred": [
        `const addresses = Array.from({ length: 100 }, () => "crm.echo");
        return (await connecta.describe({ addresses })).length`,
        answers(100),
      ],
      "a hundred and one": [
        `const addresses = Array.from({ length: 101 }, () => "crm.echo");
        return connecta.describe({ addresses })`,
        fails({ code: "invalid_args", findings: [expect.objectContaining({ path: "addresses" })] }),
      ],
    }),
  },
];

const bad = (path: string) =>
  fails({ code: "invalid_args", findings: [expect.objectContaining({ path })] });

/** Bounds. */
const BOUNDS: readonly Case[] = [
  {
    clauses: ["S7", "S1"],
    title: "a bound of search that is passed throws invalid_args and names the option",
    inputs: each({
      "limit 0": [search("{ limit: 0 }"), bad("limit")],
      "limit 101": [search("{ limit: 101 }"), bad("limit")],
      "half a limit": [search("{ limit: 1.5 }"), bad("limit")],
      "a limit as text": [search('{ limit: "8" }'), bad("limit")],
      "a negative offset": [search("{ offset: -1 }"), bad("offset")],
      "an unknown safety": [search('{ safety: "none" }'), bad("safety")],
      "an unknown form of schemas": [search('{ includeSchemas: "xml" }'), bad("includeSchemas")],
      "an unknown option": [search("{ sort: 1 }"), bad("sort")],
    }),
  },
  {
    clauses: ["S7"],
    title: "an unknown connector is no empty page",
    code: search('{ connector: "crn" }'),
    check: fails({ code: "unknown_address", connector: "crn" }),
  },
  {
    clauses: ["S7"],
    title: "a page over 256,000 bytes throws result_too_large and is never shrunk silently",
    deployment: "ailing",
    inputs: each({
      "of search": [
        search('{ connector: "archive", limit: 100, fullDescriptions: true }'),
        fails({ code: "result_too_large", maxBytes: 256_000 }),
      ],
      "of describe": [
        `return connecta.describe({ addresses: Array.from({ length: 100 }, (_, i) => "archive.shelf_" + i) })`,
        fails({ code: "result_too_large", maxBytes: 256_000 }),
      ],
      "with a lower limit it fits": [
        `const { tools } = await connecta.search({ connector: "archive", limit: 80, fullDescriptions: true });
        return tools.length`,
        answers(80),
      ],
    }),
  },
];

/** How programs find tools. */
export const discovery: readonly Case[] = [
  ...PAGES,
  ...ENTRIES,
  ...MISSES,
  ...DESCRIBING,
  ...BOUNDS,
];
