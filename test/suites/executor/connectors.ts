import {
  api,
  ToolError,
  type Connector,
  type FailureCode,
  type Tool,
  type ToolContext,
  type ToolResult,
} from "../../../server/index.ts";
import type { ApiToolInput } from "../../../server/connectors/api.ts";
import type { JsonSchema } from "../../../server/shared/contracts.ts";
import { fail, ok } from "../../../server/shared/failure.ts";
import { aborted, until, type State } from "./state.ts";

const READ = { readOnlyHint: true } as const;
const ANY: JsonSchema = { type: "object" };
const KEY: JsonSchema = {
  type: "object",
  properties: { key: { type: "string" }, count: { type: "integer" } },
  required: ["key"],
};
const RECORD_ID = {
  type: "object",
  properties: { id: { type: "string", description: "Such as r7" } },
  required: ["id"],
  additionalProperties: false,
} as const;

interface Keyed {
  readonly key: string;
  readonly count: number;
}

/** What must never be read in an answer. */
export const SECRET = "s3cret-of-the-deployment";

const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ id, name: `Row number ${id}`, tags: ["a"] }));

/** Eighty properties; the two that are required stand last. */
const ORDER = {
  type: "object",
  properties: Object.fromEntries(
    Array.from({ length: 80 }, (_, i) => [`property_number_${i}`, { type: "string" }]),
  ),
  required: ["property_number_78", "property_number_79"],
} as const;

/** Records, an echo, large answers, and one tool that writes. */
export function crm(state: State): Connector {
  return api({
    id: "crm",
    description: "Customer records",
    tools: {
      get_record: {
        title: "Get a record",
        description: "Get one customer record by its id.",
        inputSchema: RECORD_ID,
        outputSchema: {
          type: "object",
          properties: { id: { type: "string" }, name: { type: "string" } },
        },
        annotations: READ,
        handler: ({ id }: { id: string }) => {
          if (id === "gone") throw new ToolError("No such record.", { code: "not_found" });
          return { id, name: `Record ${id}`, amount: 137 };
        },
      },
      list_orders: {
        description: `List orders. ${"They are listed by date. ".repeat(20)}`,
        inputSchema: ORDER,
        annotations: READ,
        handler: () => [],
      },
      echo: {
        description: "Answer with the arguments as they arrived.",
        inputSchema: ANY,
        annotations: READ,
        handler: (args: unknown) => args,
      },
      text: {
        description: "Answer with a text of a length.",
        inputSchema: ANY,
        annotations: READ,
        handler: ({ chars, of = "x" }: { chars: number; of?: string }) => of.repeat(chars),
      },
      rows: {
        description: "Answer with many rows.",
        inputSchema: ANY,
        annotations: READ,
        handler: ({ count }: { count: number }) => rowsOf(count),
      },
      update_record: {
        description: "Change a customer record.",
        inputSchema: RECORD_ID,
        annotations: { readOnlyHint: false, destructiveHint: true },
        handler: (args: unknown) => {
          state.written.push(args);
          return { changed: true };
        },
      },
    },
  });
}

/** An id that is no identifier, and one that is a reserved word. */
export function oddlyNamed(): Connector[] {
  const one = (name: string) => ({
    description: `The tool ${name}.`,
    inputSchema: ANY,
    annotations: READ,
    handler: () => name,
  });
  const names = (list: readonly string[]) =>
    Object.fromEntries(list.map((name) => [name, one(name)]));
  return [
    api({ id: "tickets-eu", tools: names(["list-open"]) }),
    api({ id: "new", tools: names(["status"]) }),
    api({ id: "odd", tools: names([...ODD_NAMES, "a-b", "a_b"]) }),
  ];
}

/** Tool names that objects, promises or the language have a use for. */
export const ODD_NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "then",
  "toJSON",
  "delete",
  "2fa",
  "with space",
  "dot.ted",
  "na\u00efve",
  "\u65e5\u672c",
  "$money",
] as const;

const tool = (name: string, annotations: Tool["annotations"] = READ): Tool => ({
  name,
  description: `The mail tool ${name}.`,
  inputSchema: ANY,
  annotations,
});

const MAIL_TOOLS = [
  ...["structured", "texts", "said", "rows", "image", "refused", "fail", "throws"].map((name) =>
    tool(name),
  ),
  tool("unannotated", {}),
  tool("contradictory", { readOnlyHint: true, destructiveHint: true }),
];

const text = (value: string) => ({ type: "text", text: value });

const said = (value: string) =>
  Promise.resolve(ok({ kind: "mcp" as const, content: [text(value)] }));

/** A connector made by hand that answers as MCP servers do. */
export function mail(): Connector {
  const results: Readonly<Record<string, ToolResult>> = {
    structured: { kind: "mcp", content: [text("two")], structuredContent: { unread: 2 } },
    texts: { kind: "mcp", content: [text("first"), text("second")] },
    image: { kind: "mcp", content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] },
    refused: { kind: "mcp", content: [text("The mailbox is full.")], isError: true },
  };
  return {
    id: "mail",
    kind: "mcp",
    listTools: () => Promise.resolve(ok(MAIL_TOOLS)),
    callTool: (name, args) => {
      if (name === "throws") throw new Error(`authorization: Bearer ${SECRET}`);
      const { code, say, count } = args as { code: FailureCode; say: string; count: number };
      if (name === "fail") return Promise.resolve(fail(code, "As it was asked to."));
      if (name === "said") return said(say);
      if (name === "rows") return said(JSON.stringify(rowsOf(count)));
      const result = results[name];
      return Promise.resolve(result ? ok(result) : fail("internal", "Nobody may call this."));
    },
  };
}

const reading = (description: string, handler: ApiToolInput["handler"], inputSchema = ANY) => ({
  description,
  inputSchema,
  annotations: READ,
  handler,
});

/** Tools by which cases hold runs, let them go and see what became of them. */
export function probe(state: State): Connector {
  const wait = async ({ key }: Keyed, { signal }: ToolContext) => {
    const seen = state.of(key);
    seen.started++;
    await aborted(signal).finally(() => seen.aborted++);
  };
  const meet = async ({ key, count }: Keyed, { signal }: ToolContext) => {
    const seen = state.of(key);
    seen.started++;
    await until(() => seen.started >= count, signal);
    return "met";
  };
  const seen = ({ key }: Keyed) => {
    const { written, loads, executorErrors } = state;
    return { ...state.of(key), written: written.length, loads, executorErrors };
  };
  return api({
    id: "probe",
    tools: {
      wait: reading("Wait until the call is aborted.", wait, KEY),
      meet: reading("Wait until as many calls with the key have come.", meet, KEY),
      seen: reading("What became of the calls with a key.", seen, KEY),
      pause: reading("Answer after some milliseconds.", pause),
      nothing: reading("Answer with nothing.", () => undefined),
      cyclic: reading("Answer with what has no JSON form.", cyclic),
      leak: reading("Fail with a text that nobody may read.", leak),
    },
  });
}

const pause = ({ ms }: { ms: number }) => new Promise((resolve) => setTimeout(resolve, ms));

function cyclic(): unknown {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  return cycle;
}

function leak(): never {
  throw new Error(`authorization: Bearer ${SECRET}`);
}

/** Connectors that cannot list their tools, and one that wants a person to sign in. */
export function ailing(): Connector[] {
  return [
    {
      id: "down",
      kind: "mcp",
      listTools: () => Promise.resolve(fail("unavailable", "Closed for maintenance.")),
      callTool: () => Promise.resolve(fail("unavailable", "Closed for maintenance.")),
    },
    {
      id: "broken",
      kind: "mcp",
      listTools: () => {
        throw new Error(`authorization: Bearer ${SECRET}`);
      },
      callTool: () => Promise.resolve(fail("internal", "Nobody may call this.")),
    },
    {
      id: "locked",
      kind: "mcp",
      listTools: () => Promise.resolve(ok([tool("peek")])),
      callTool: () => Promise.resolve(fail("auth_required", "Sign in first.")),
    },
  ];
}

/** So many and so long that a full page of them is over what discovery hands out. */
export function archive(): Connector {
  const tools = Object.fromEntries(
    Array.from({ length: 120 }, (_, i) => [
      `shelf_${i}`,
      {
        description: `Shelf ${i}. ${"Paper ".repeat(500)}`,
        inputSchema: ANY,
        annotations: READ,
        handler: () => i,
      },
    ]),
  );
  return api({ id: "archive", tools });
}

/** Counts how often its tool list is asked for. */
export function shy(state: State): Connector {
  return {
    id: "shy",
    kind: "api",
    listTools: () => {
      state.loads++;
      return Promise.resolve(ok([tool("hello")]));
    },
    callTool: () => Promise.resolve(ok({ kind: "value", value: "hello" })),
  };
}
