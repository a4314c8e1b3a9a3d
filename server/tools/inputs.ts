import { z } from "zod";
import { fail, ok, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import { clampUtf8 } from "../shared/text.ts";

const address = z.string().min(1).describe("connector.tool");
const args = z.record(z.string(), z.unknown()).optional().describe("The tool's arguments");
const timeoutMs = z.int().min(1).max(LIMITS.maxCallTimeoutMs.value).optional();

/** Inputs of the seven tools: what clients are shown and what calls are parsed by. */
export const INPUTS = {
  execute_code: z.strictObject({
    code: z.string(),
    diagnostics: z.boolean().optional(),
  }),
  search_tools: z.strictObject({
    query: z.string().optional(),
    connector: z.string().optional(),
    safety: z.enum(["readOnly", "approvalRequired", "all"]).optional(),
    limit: z.int().min(1).max(50).optional(),
    offset: z.int().min(0).optional(),
    includeSchemas: z.union([z.boolean(), z.enum(["compact", "json"])]).optional(),
    fullDescriptions: z.boolean().optional(),
  }),
  call_tool: z.strictObject({
    address,
    args,
    fields: z.array(z.string().min(1)).min(1).max(64).optional().describe("Paths: a.b, items[].id"),
    resultMode: z.enum(["mcp", "value"]).optional(),
    timeoutMs,
    maxRetries: z.int().min(0).max(2).optional(),
    diagnostics: z.boolean().optional(),
  }),
  call_destructive_tool: z.strictObject({
    address,
    args,
    reason: z
      .string()
      .max(LIMITS.reasonChars.value)
      .optional()
      .describe("Why, for the person who approves"),
    timeoutMs,
  }),
  authorize_connector: z.strictObject({
    connector: z.string().min(1),
    force: z.boolean().optional(),
  }),
  get_result: z.strictObject({
    id: z.string().min(1),
    offset: z.int().min(0).optional(),
    maxBytes: z.int().min(1).max(LIMITS.inlineResultBytes.value).optional(),
  }),
  skills: z.strictObject({ name: z.string().min(1).optional() }),
} as const;

/** Name of one of the seven tools. */
export type ToolName = keyof typeof INPUTS;

/** The parsed input of a tool. */
export type Input<Name extends ToolName> = z.output<(typeof INPUTS)[Name]>;

/** Parses a tool's arguments; the findings name places and rules, never values. */
export function parseInput<Name extends ToolName>(
  name: Name,
  value: unknown,
): Outcome<Input<Name>> {
  const parsed = INPUTS[name].safeParse(value ?? {});
  if (parsed.success) return ok(asSent(parsed.data as Input<Name>, value));
  const findings = parsed.error.issues.slice(0, 3).map((issue) => ({
    path: issue.path.join(".") || "arguments",
    code: issue.code,
    expected: expectation(issue),
  }));
  const places = findings.map(({ path, expected }) => `${path}: expected ${expected}`).join("; ");
  return fail("invalid_args", `${name} refuses its arguments: ${places}.`, { findings });
}

/** The parser leaves a key named __proto__ behind, which a tool's arguments may have. */
function asSent<Parsed extends object>(parsed: Parsed, value: unknown): Parsed {
  return "args" in parsed ? { ...parsed, args: (value as { args?: unknown }).args } : parsed;
}

function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.expected;
    case "unrecognized_keys":
      return `no property ${clampUtf8(issue.keys.join(", "), LIMITS.nameBytes.value)}`;
    case "invalid_value":
      return issue.values.map(String).join(" | ");
    case "too_big":
      return `at most ${issue.maximum}`;
    case "too_small":
      return `at least ${issue.minimum}`;
    default:
      return "a valid value";
  }
}

/** The JSON Schema that clients are shown, without what costs bytes and says nothing. */
export function inputSchema(name: ToolName): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(INPUTS[name], { io: "input" });
  return slim(schema) as Record<string, unknown>;
}

function slim(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(slim);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(
    ([key, item]) =>
      !(key === "maximum" && item === Number.MAX_SAFE_INTEGER) &&
      !(key === "propertyNames") &&
      !(key === "additionalProperties" && typeof item === "object"),
  );
  return Object.fromEntries(entries.map(([key, item]) => [key, slim(item)]));
}
