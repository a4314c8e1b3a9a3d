import { z } from "zod";
import type {
  Connector,
  JsonSchema,
  Tool,
  ToolAnnotations,
  ToolResult,
} from "../shared/contracts.ts";
import { fail, ok, type FailureCode, type Outcome } from "../shared/failure.ts";
import { schemaProblem } from "../shared/schema.ts";
import type { Scope } from "../shared/scope.ts";
import { kindOf } from "../shared/text.ts";

/** What a handler may know about the call it serves. */
export interface ToolContext {
  /** Aborts when the caller went away or the call's deadline passed. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** One tool of an {@link api} connector. */
export interface ApiTool<Schema = JsonSchema | z.ZodType> {
  readonly title?: string;
  readonly description: string;
  /** A JSON Schema object or a zod schema; what clients see and what arguments are checked by. */
  readonly inputSchema: Schema;
  readonly outputSchema?: JsonSchema | z.ZodType;
  /** `readOnlyHint` must be given: only tools that say `true` run in programs and views. */
  readonly annotations: ToolAnnotations & { readonly readOnlyHint: boolean };
  handler(args: Schema extends z.ZodType ? z.output<Schema> : never, context: ToolContext): unknown;
}

/** Configuration of an {@link api} connector. */
export interface ApiOptions {
  readonly id: string;
  readonly title?: string;
  readonly description?: string;
  /** How models should use this connector; served by the `skills` tool. */
  readonly usageGuide?: string;
  readonly tools: Readonly<Record<string, ApiToolInput>>;
}

/** A tool whose handler's argument type is its author's business. */
export interface ApiToolInput extends Omit<ApiTool, "handler"> {
  // A method, so that handlers with narrower argument types are assignable.
  handler(args: never, context: ToolContext): unknown;
}

/** Codes that a handler may fail with. */
export type ToolErrorCode = Extract<
  FailureCode,
  "connector_call_failed" | "not_found" | "invalid_args" | "rate_limited" | "unavailable"
>;

/** Thrown by a handler to fail with a message that the model is meant to read. */
export class ToolError extends Error {
  readonly code: ToolErrorCode;
  readonly retryAfterMs: number | undefined;

  /**
   * @param message for the model; never put a secret here
   * @param options.code one of {@link ToolErrorCode}, `connector_call_failed` when omitted
   * @param options.retryAfterMs milliseconds to wait before a retry makes sense
   */
  constructor(message: string, options: { code?: ToolErrorCode; retryAfterMs?: number } = {}) {
    super(message);
    this.name = "ToolError";
    this.code = options.code ?? "connector_call_failed";
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Declares one tool with its handler's arguments typed by a zod schema. */
export function tool<Schema extends z.ZodType>(definition: ApiTool<Schema>): ApiToolInput {
  return definition;
}

interface Entry {
  readonly tool: Tool;
  readonly input: z.ZodType | undefined;
  readonly handler: (args: never, context: ToolContext) => unknown;
}

/**
 * Makes a connector from functions of this process.
 * @throws TypeError at once when a tool lacks a description, an explicit `readOnlyHint` or a
 * schema that compiles; the message names the option and the fix.
 */
export function api(options: ApiOptions): Connector {
  if (typeof options !== "object" || options === null || typeof options.id !== "string") {
    throw new TypeError("api() needs an object with an id: api({ id, tools: { ... } }).");
  }
  if (typeof options.tools !== "object" || options.tools === null) {
    throw new TypeError(`api(${options.id}).tools is missing: give { toolName: { ... } }.`);
  }
  const entries = new Map<string, Entry>();
  for (const [name, definition] of Object.entries(options.tools)) {
    entries.set(name, entry(`api(${options.id}).tools.${name}`, name, definition));
  }
  const tools: readonly Tool[] = [...entries.values()].map((item) => item.tool);
  return {
    id: options.id,
    kind: "api",
    staticCatalog: true,
    ...(options.title !== undefined && { title: options.title }),
    ...(options.description !== undefined && { description: options.description }),
    ...(options.usageGuide !== undefined && { usageGuide: options.usageGuide }),
    listTools: () => Promise.resolve(ok(tools)),
    callTool: (name, args, scope) => callHandler(entries.get(name), options.id, name, args, scope),
  };
}

async function callHandler(
  found: Entry | undefined,
  id: string,
  name: string,
  args: unknown,
  scope: Scope,
): Promise<Outcome<ToolResult>> {
  if (!found) return fail("unknown_tool", `${id} has no tool of this name.`);
  const parsed = found.input?.safeParse(args);
  if (parsed && !parsed.success) {
    return fail("invalid_args", `${id}.${name} refuses its arguments.`, {
      findings: parsed.error.issues.slice(0, 3).map((issue) => ({
        path: issue.path.join(".") || "args",
        code: issue.code,
        expected: "expected" in issue ? String(issue.expected) : issue.code,
      })),
    });
  }
  try {
    const context = { signal: scope.signal, now: () => scope.now() };
    const value = await found.handler((parsed ? parsed.data : args) as never, context);
    return ok({ kind: "value", value });
  } catch (error) {
    if (error instanceof ToolError) {
      const { retryAfterMs } = error;
      return fail(error.code, error.message, retryAfterMs === undefined ? {} : { retryAfterMs });
    }
    // The text of an unexpected error may hold anything, a credential included: it stays here.
    if (!scope.signal.aborted) scope.report(error, `${id}.${name}`);
    const kind = kindOf(error);
    return fail("connector_call_failed", `${id}.${name} failed unexpectedly (${kind}).`);
  }
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
