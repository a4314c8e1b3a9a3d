import type { JsonSchema, Tool, ToolAnnotations } from "../shared/contracts.ts";
import { LIMITS } from "../shared/limits.ts";
import { clampChars } from "../shared/text.ts";
import { keysOf } from "./schema-shape.ts";
import { schemaText, type SchemaText } from "./schema-text.ts";

/** How schemas are shown: not at all, as compact text, or exactly. */
export type SchemaForm = "none" | "compact" | "json";

/** One tool as discovery lists it. */
export interface Entry {
  readonly address: string;
  readonly name: string;
  readonly description: string;
  /** As the tool declares them, or as the deployment decided. */
  readonly annotations: ToolAnnotations;
  readonly annotationSource?: "config";
  readonly inputSchema?: string | JsonSchema;
  readonly outputSchema?: string | JsonSchema;
  /** Whether a compact schema leaves part of the structure out. */
  readonly schemaTruncated?: true;
  readonly inputKeys?: readonly string[];
  readonly requiredInputKeys?: readonly string[];
  readonly outputKeys?: readonly string[];
}

/** The parts of an entry that only schemas decide. */
type SchemaParts = Omit<Entry, "address" | "name" | "description" | "annotations">;

/** Compact texts by tool; they live as long as the tool's catalog does. */
const compactParts = new WeakMap<Tool, SchemaParts>();

/** Lists one tool. */
export function entryOf(
  connectorId: string,
  tool: Tool,
  schemas: SchemaForm,
  fullDescriptions: boolean,
): Entry {
  return {
    address: `${connectorId}.${tool.name}`,
    name: tool.name,
    description: fullDescriptions ? tool.description : shortDescription(tool),
    annotations: tool.annotations,
    ...(tool.annotationSource === undefined ? {} : { annotationSource: tool.annotationSource }),
    ...(schemas === "none" ? {} : schemas === "json" ? exact(tool) : compact(tool)),
  };
}

/** A compact text of a tool's arguments and result. */
export function signatureOf(tool: Tool): string {
  const { inputSchema, outputSchema = "unknown" } = compact(tool);
  return `(args: ${String(inputSchema)}) => ${String(outputSchema)}`;
}

function shortDescription({ description }: Tool): string {
  const limit = LIMITS.descriptionChars.value;
  // Long runs of space occur, so that more than the limit is read before they are folded.
  return clampChars(
    description
      .slice(0, limit * 4)
      .replace(/\s+/g, " ")
      .trim(),
    limit,
  );
}

function exact(tool: Tool): SchemaParts {
  const { inputSchema, outputSchema } = tool;
  return {
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...keyParts(tool),
  };
}

function compact(tool: Tool): SchemaParts {
  const known = compactParts.get(tool);
  if (known !== undefined) return known;
  const input = schemaText(tool.inputSchema);
  const output: SchemaText | undefined =
    tool.outputSchema === undefined ? undefined : schemaText(tool.outputSchema);
  const parts: SchemaParts = {
    inputSchema: input.text,
    ...(output === undefined ? {} : { outputSchema: output.text }),
    ...(input.truncated || output?.truncated === true ? { schemaTruncated: true } : {}),
    ...keyParts(tool),
  };
  compactParts.set(tool, parts);
  return parts;
}

function keyParts({ inputSchema, outputSchema }: Tool): SchemaParts {
  const input = keysOf(inputSchema);
  return {
    inputKeys: input.keys,
    requiredInputKeys: input.required,
    ...(outputSchema === undefined ? {} : { outputKeys: keysOf(outputSchema).keys }),
  };
}
