import { z } from "zod";
import { callLimitsProblem, type CallLimits } from "../shared/call-limits.ts";
import type {
  Connector,
  JsonSchema,
  Tool,
  ToolAnnotations,
  ToolResult,
} from "../shared/contracts.ts";
import { readFields, type CredentialOption } from "../shared/credentials.ts";
import { fail, ok, type Finding, type Outcome } from "../shared/failure.ts";
import { Notice } from "../shared/notice.ts";
import { bareFetch, type OutboundFetch } from "../shared/outbound.ts";
import { schemaProblem } from "../shared/schema.ts";
import type { Scope } from "../shared/scope.ts";
import { kindOf } from "../shared/text.ts";
import { answerCheck, type AnswerCheck } from "./answer.ts";
import { findingsOf } from "./findings.ts";
import { Lent } from "./lent.ts";
import { redactedError, redactor } from "./mcp/redact.ts";
import { openFetch, readBase, type Base, type FetchBounds, type ToolFetch } from "./fetch.ts";
import { ToolError } from "./tool-error.ts";

export { ToolError, type ToolErrorCode } from "./tool-error.ts";

/** What a handler may know about the call it serves. */
export interface ToolContext {
  /** Aborts when the caller went away or the call's deadline passed. */
  readonly signal: AbortSignal;
  /**
   * As the platform's, within the call: it ends with the signal, takes a path below `baseUrl`,
   * follows no redirect to another origin, and bounds time and size. Throws a {@link ToolError}
   * when it does not get an answer; an answer of any status is a response.
   */
  readonly fetch: ToolFetch;
  /** What a person handed over, by the names of {@link ApiOptions.credential}'s fields. */
  readonly credential: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** What a handler gives: what its zod schema takes, or anything with a JSON form. */
type Answer<Output> = Output extends z.ZodType
  ? z.input<Output> | Promise<z.input<Output>>
  : unknown;

/** One tool of an {@link api} connector. */
export interface ApiTool<Schema = JsonSchema | z.ZodType, Output = JsonSchema | z.ZodType> {
  readonly title?: string;
  readonly description: string;
  /** A JSON Schema object or a zod schema; what clients see and what arguments are checked by. */
  readonly inputSchema: Schema;
  /** What answers are: clients see it, and an answer that does not match fails the call. */
  readonly outputSchema?: Output;
  /** `readOnlyHint` must be given: only tools that say `true` run in programs and views. */
  readonly annotations: ToolAnnotations & { readonly readOnlyHint: boolean };
  handler(
    args: Schema extends z.ZodType ? z.output<Schema> : never,
    context: ToolContext,
  ): Answer<Output>;
}

/** Configuration of an {@link api} connector. */
export interface ApiOptions {
  readonly id: string;
  readonly title?: string;
  readonly description?: string;
  /** How models should use this connector; served by the `skills` tool. */
  readonly usageGuide?: string;
  /** Where the `fetch` of handlers begins, and what it cannot leave; http or https. */
  readonly baseUrl?: string;
  /** Bounds of the `fetch` of handlers. */
  readonly fetch?: {
    /** Time for one request with its redirects and its body, in milliseconds; 15,000 if omitted. */
    readonly timeoutMs?: number;
    /** Size of one response body once it is unpacked; 8 MiB if omitted. */
    readonly maxResponseBytes?: number;
  };
  /** What a person hands over before handlers run; they find it as `context.credential`. */
  readonly credential?: CredentialOption & {
    /** Finds out whether it works; throws a {@link ToolError} when it does not. */
    test?(context: ToolContext): unknown;
  };
  /** How much the handlers may be asked for: calls at once, and in a stretch of time. */
  readonly limits?: CallLimits;
  readonly tools: Readonly<Record<string, ApiToolInput>>;
}

/** A tool whose handler's argument type is its author's business. */
export interface ApiToolInput extends Omit<ApiTool, "handler"> {
  // A method, so that handlers with narrower argument types are assignable.
  handler(args: never, context: ToolContext): unknown;
}

/** Declares one tool with its handler's arguments and answer typed by zod schemas. */
export function tool<Schema extends z.ZodType, Output extends z.ZodType | JsonSchema = JsonSchema>(
  definition: ApiTool<Schema, Output>,
): ApiToolInput {
  return definition;
}

interface Entry {
  readonly tool: Tool;
  readonly input: z.ZodType | undefined;
  readonly check: AnswerCheck | undefined;
  readonly handler: (args: never, context: ToolContext) => unknown;
}

const OPTIONS = "id title description usageGuide baseUrl fetch credential limits tools".split(" ");

/**
 * Makes a connector from functions of this process.
 * @throws TypeError at once for an option that is none or unusable, and when a tool lacks a
 * description, an explicit `readOnlyHint` or a schema that compiles; the message names the option
 * and the fix.
 */
export function api(options: ApiOptions): Connector {
  if (typeof options !== "object" || options === null || typeof options.id !== "string") {
    throw new TypeError("api() needs an object with an id: api({ id, tools: { ... } }).");
  }
  const { id } = options;
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(`api(${id}).${unknown} is no option; there are: ${OPTIONS.join(", ")}.`);
  }
  if (typeof options.tools !== "object" || options.tools === null) {
    throw new TypeError(`api(${id}).tools is missing: give { toolName: { ... } }.`);
  }
  const problem = callLimitsProblem(options.limits);
  if (problem !== undefined) throw new TypeError(`api(${id}).${problem}.`);
  const bounds = fetchBounds(options);
  const entries = new Map<string, Entry>();
  for (const [name, definition] of Object.entries(options.tools)) {
    entries.set(name, entry(`api(${id}).tools.${name}`, name, definition));
  }
  const tools: readonly Tool[] = [...entries.values()].map((item) => item.tool);
  const caller = new Caller(bounds, options);
  return {
    id,
    kind: "api",
    staticCatalog: true,
    ...(options.title !== undefined && { title: options.title }),
    ...(options.description !== undefined && { description: options.description }),
    ...(options.usageGuide !== undefined && { usageGuide: options.usageGuide }),
    ...caller.credentials(),
    ...(options.limits !== undefined && { limits: options.limits }),
    listTools: () => Promise.resolve(ok(tools)),
    useFetch: (fetch) => caller.useFetch(fetch),
    callTool: async (name, args, scope) => {
      const found = entries.get(name);
      if (!found) return fail("unknown_tool", `${id} has no tool of this name.`);
      return caller.call(found, args, scope);
    },
  };
}

/** The bounds that a deployment sets to the requests of its handlers. */
function fetchBounds({ id, baseUrl, fetch = {} }: ApiOptions): FetchBounds {
  const at = `api(${id})`;
  const base: Base | string | undefined = baseUrl === undefined ? undefined : readBase(baseUrl);
  if (typeof base === "string") throw new TypeError(`${at}.baseUrl ${base}.`);
  const given = Object.entries(fetch).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) {
    if (!Object.hasOwn(FETCH_DEFAULTS, name))
      throw new TypeError(`${at}.fetch.${name} is no option.`);
    if (!Number.isInteger(value) || value < 1 || value > MAX_BOUND) {
      throw new TypeError(`${at}.fetch.${name} must be a whole number from 1 to ${MAX_BOUND}.`);
    }
  }
  return { id, base, ...FETCH_DEFAULTS, ...Object.fromEntries(given), fetch: bareFetch };
}

const FETCH_DEFAULTS = { timeoutMs: 15_000, maxResponseBytes: 8 * 1024 * 1024 };
/** Timers take no more. */
const MAX_BOUND = 2 ** 31 - 1;

/** Runs handlers within the bounds of their connector, with its credential. */
class Caller {
  #bounds: FetchBounds;
  readonly #credential: ApiOptions["credential"];
  readonly #lent: Lent;

  constructor(bounds: FetchBounds, { id, credential }: ApiOptions) {
    this.#bounds = bounds;
    this.#credential = credential;
    const at = `api(${id}).credential`;
    this.#lent = new Lent(id, credential && readFields(at, credential));
    if (credential?.test !== undefined && typeof credential.test !== "function") {
      throw new TypeError(`${at}.test is not a function.`);
    }
  }

  /** The part of the connector that is about its credential; none where it needs none. */
  credentials(): Partial<Connector> {
    const { id } = this.#bounds;
    const option = this.#credential;
    if (option === undefined) return {};
    return {
      ...this.#lent.part(() => undefined),
      testCredential: async (scope) => {
        if (option.test === undefined) return ok(`${id} has its credential, and no way to try it.`);
        const what = `The test of the credential of ${id}`;
        const tried = await this.#run(what, scope, (context) => option.test?.(context));
        return tried.ok ? ok(`${id} accepts its credential.`) : tried;
      },
    };
  }

  useFetch(fetch: OutboundFetch): void {
    this.#bounds = { ...this.#bounds, fetch };
  }

  async call(
    { input, check, handler, tool }: Entry,
    args: unknown,
    scope: Scope,
  ): Promise<Outcome<ToolResult>> {
    const address = `${this.#bounds.id}.${tool.name}`;
    const parsed = input?.safeParse(args);
    if (parsed && !parsed.success) {
      const findings = findingsOf(parsed.error);
      return fail("invalid_args", `${address} refuses its arguments.`, { findings });
    }
    const answered = await this.#run(address, scope, async (context) => {
      const value = await handler((parsed ? parsed.data : args) as never, context);
      return check?.(value) ?? { value };
    });
    if (!answered.ok) return answered;
    const checked = answered.value;
    if ("value" in checked) return ok({ kind: "value", value: checked.value });
    return mismatch(address, checked.findings, scope);
  }

  async #run<T>(
    what: string,
    scope: Scope,
    work: (context: ToolContext) => T | Promise<T>,
  ): Promise<Outcome<T>> {
    const held = await this.#lent.current(scope);
    if (!held.ok) return held;
    const { signal } = scope;
    const { values: credential } = held.value;
    const fetching = openFetch(this.#bounds, signal);
    try {
      const { fetch } = fetching;
      return ok(await work({ signal, fetch, credential, now: () => scope.now() }));
    } catch (error) {
      const redact = redactor(Object.values(credential));
      if (error instanceof ToolError) {
        const { retryAfterMs } = error;
        const details = retryAfterMs === undefined ? {} : { retryAfterMs };
        return fail(error.code, redact(error.message), details);
      }
      // The text of an unexpected error may hold anything, a credential included: it stays here.
      if (!signal.aborted) scope.report(redactedError(error, redact), what);
      const kind = kindOf(error);
      return fail("connector_call_failed", `${what} failed unexpectedly (${kind}).`);
    } finally {
      fetching.close();
    }
  }
}

/** The tool has run, whatever it answered: whoever called it must not think that it did not. */
function mismatch(address: string, findings: readonly Finding[], scope: Scope): Outcome<never> {
  const places = findings.map(({ path, expected }) => `${path}: expected ${expected}`).join("; ");
  scope.report(new Notice(`The answer of ${address} breaks its outputSchema: ${places}.`), address);
  return fail(
    "connector_call_failed",
    `${address} ran, and its answer does not match its outputSchema: ${places}.`,
    { findings },
  );
}

function entry(at: string, name: string, definition: ApiToolInput): Entry {
  if (name === "") throw new TypeError(`${at} has an empty name: tools are called by name.`);
  if (typeof definition !== "object" || definition === null) {
    throw new TypeError(
      `${at} is no tool: give { description, inputSchema, annotations, handler }.`,
    );
  }
  const { annotations, description, title } = definition;
  if (typeof description !== "string" || description.trim() === "") {
    throw new TypeError(`${at}.description is missing: say what the tool does in a sentence.`);
  }
  if (typeof annotations?.readOnlyHint !== "boolean") {
    throw new TypeError(
      `${at}.annotations.readOnlyHint is missing: say true if the tool only reads, else false.`,
    );
  }
  if (typeof definition.handler !== "function") {
    throw new TypeError(`${at}.handler is not a function.`);
  }
  const input = definition.inputSchema instanceof z.ZodType ? definition.inputSchema : undefined;
  const inputSchema = toJsonSchema(`${at}.inputSchema`, definition.inputSchema, "input");
  if (inputSchema.type !== "object") {
    throw new TypeError(`${at}.inputSchema is not of type "object": arguments are named.`);
  }
  const outputSchema =
    definition.outputSchema === undefined
      ? undefined
      : toJsonSchema(`${at}.outputSchema`, definition.outputSchema, "output");
  return {
    input,
    check: definition.outputSchema && answerCheck(definition.outputSchema),
    handler: (args, context) => definition.handler(args, context),
    tool: {
      name,
      description,
      inputSchema,
      annotations,
      ...(title !== undefined && { title }),
      ...(outputSchema !== undefined && { outputSchema }),
    },
  };
}

function toJsonSchema(
  at: string,
  schema: JsonSchema | z.ZodType,
  io: "input" | "output",
): JsonSchema {
  const json = schema instanceof z.ZodType ? fromZod(at, schema, io) : schema;
  const problem = schemaProblem(json);
  if (problem !== undefined) throw new TypeError(`${at} ${problem}.`);
  return json;
}

function fromZod(at: string, schema: z.ZodType, io: "input" | "output"): JsonSchema {
  try {
    const { $schema: _, ...json } = z.toJSONSchema(schema, { io }) as Record<string, unknown>;
    return json;
  } catch (error) {
    throw new TypeError(`${at} has no JSON Schema form: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
