import type { JsonSchema, Tool, ToolAnnotations } from "../../shared/contracts.ts";
import { isRecord } from "../../shared/record.ts";
import { clampChars } from "../../shared/text.ts";

/** A listed tool, or why nobody could call it safely. */
export type ReadTool =
  | { readonly tool: Tool; readonly reason?: undefined }
  | { readonly tool?: undefined; readonly reason: string };

const MAX_NAME_CHARS = 1_024;
const MAX_TITLE_CHARS = 256;
/** The longest that real servers write is 13,090; beyond this a description is a document. */
const MAX_DESCRIPTION_CHARS = 16_384;
/** Real schemas reach 14; what nests by thousands exhausts the stack of whoever writes it as JSON. */
const MAX_DEPTH = 100;
/** Stands for a hint that is a text or holds others. */
const MALFORMED = "malformed";
const ANNOTATIONS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;

/** Reads one entry of a tool list as the server wrote it. */
export function readTool(entry: unknown): ReadTool {
  if (!isRecord(entry)) return { reason: "It is no object." };
  const { name, description, execution } = entry;
  const unfit = nameProblem(name);
  if (unfit !== undefined) return { reason: unfit };
  if (isRecord(execution) && execution.taskSupport === "required") {
    return { reason: "It runs only as a task, which is not supported." };
  }
  const inputSchema: JsonSchema = isRecord(entry.inputSchema)
    ? entry.inputSchema
    : { type: "object" };
  if (!takesNamedArguments(inputSchema.type)) {
    return { reason: "Its arguments are no object." };
  }
  if (isDeep(inputSchema)) return { reason: `Its inputSchema nests deeper than ${MAX_DEPTH}.` };
  const { outputSchema } = entry;
  const title = titleOf(entry.title);
  return {
    tool: {
      name: name as string,
      description:
        typeof description === "string" ? clampChars(description, MAX_DESCRIPTION_CHARS) : "",
      inputSchema,
      annotations: annotationsOf(entry.annotations),
      ...(title !== undefined && { title }),
      ...(isRecord(outputSchema) && !isDeep(outputSchema) && { outputSchema }),
    },
  };
}

/** A name as far as an operator needs it to find the tool. */
export function nameOf(entry: unknown): string {
  const name = isRecord(entry) && typeof entry.name === "string" ? entry.name : "(no name)";
  return clampChars(name.replace(/[\p{Cc}\p{Surrogate}]/gu, "?"), 128);
}

function nameProblem(name: unknown): string | undefined {
  if (typeof name !== "string" || name === "") return "It has no name.";
  if (name.length > MAX_NAME_CHARS) return `Its name is longer than ${MAX_NAME_CHARS} characters.`;
  // Sent back, such a name would be another one.
  if (/[\p{Surrogate}\uFFFD]/u.test(name)) return "Its name is no valid UTF-8.";
  if (/\p{Cc}/u.test(name)) return "Its name has control characters.";
  return undefined;
}

function takesNamedArguments(type: unknown): boolean {
  if (typeof type === "string") return type === "object";
  return !Array.isArray(type) || type.includes("object");
}

function titleOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? clampChars(value, MAX_TITLE_CHARS) : undefined;
}

/** The hints as declared: a malformed one must stay one, so that it fails closed. */
function annotationsOf(value: unknown): ToolAnnotations {
  if (!isRecord(value)) return {};
  const declared: Record<string, unknown> = {};
  const title = titleOf(value.title);
  if (title !== undefined) declared.title = title;
  for (const hint of ANNOTATIONS) {
    if (!Object.hasOwn(value, hint)) continue;
    const given = value[hint];
    const isPlain = typeof given === "boolean" || typeof given === "number" || given === null;
    declared[hint] = isPlain ? given : MALFORMED;
  }
  return declared;
}

function isDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((each) =>
      typeof each === "object" && each !== null ? (Object.values(each) as unknown[]) : [],
    );
  }
  return false;
}
