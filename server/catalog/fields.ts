import type { Tool } from "../shared/contracts.ts";
import { isRecord } from "../shared/record.ts";
import type { TermReader } from "./tokens.ts";

/** How much one occurrence in a field says, and the length at which a field is of usual size. */
interface Field {
  readonly weight: number;
  readonly usual: number;
  readonly normalisation: number;
}

/** The fields of a tool as ranking sees them. */
export const FIELDS = {
  name: { weight: 6, usual: 5, normalisation: 0.2 },
  title: { weight: 2.5, usual: 4, normalisation: 0.3 },
  connector: { weight: 3, usual: 2, normalisation: 0 },
  lead: { weight: 2.5, usual: 22, normalisation: 0.5 },
  rest: { weight: 0.7, usual: 60, normalisation: 0.5 },
  parameters: { weight: 1.3, usual: 10, normalisation: 0.4 },
  parameterText: { weight: 0.5, usual: 80, normalisation: 0.7 },
} as const satisfies Record<string, Field>;

/** A field's name. */
export type FieldName = keyof typeof FIELDS;

const NAME_CHARS = 300;
const LEAD_CHARS = 200;
const REST_CHARS = 4_000;
const PARAMETER_CHARS = 3_000;
const MAX_NODES = 300;
const MAX_DEPTH = 6;

/** The terms of each field of a tool; long texts are read as far as they help to find it. */
export function fieldTerms(
  connector: FieldSource,
  tool: Tool,
  reader: TermReader,
): Record<FieldName, string[]> {
  const description = typeof tool.description === "string" ? tool.description : "";
  const lead = leadOf(description);
  const annotations: unknown = tool.annotations;
  const title = tool.title ?? (isRecord(annotations) ? annotations.title : undefined);
  const parameters = parameterTexts(tool.inputSchema);
  return {
    name: reader.read(tool.name.slice(0, NAME_CHARS)),
    title: typeof title === "string" ? reader.read(title.slice(0, LEAD_CHARS)) : [],
    connector: reader.read(`${connector.id} ${connector.title ?? ""}`),
    lead: reader.read(lead),
    rest: reader.read(description.slice(lead.length, lead.length + REST_CHARS)),
    parameters: reader.read(parameters.names.join(" ").slice(0, PARAMETER_CHARS)),
    parameterText: reader.read(parameters.texts.join(" ").slice(0, PARAMETER_CHARS)),
  };
}

/** What of a connector takes part in ranking. */
export interface FieldSource {
  readonly id: string;
  readonly title?: string | undefined;
}

function leadOf(description: string): string {
  const head = description.slice(0, LEAD_CHARS);
  if (head.length === description.length) return head;
  const end = head.lastIndexOf(" ");
  return end > LEAD_CHARS / 2 ? head.slice(0, end) : head;
}

/** Names, descriptions and enum values of a schema's properties, breadth first and bounded. */
function parameterTexts(schema: unknown): { names: string[]; texts: string[] } {
  const names: string[] = [];
  const texts: string[] = [];
  const queue: { node: unknown; depth: number }[] = [{ node: schema, depth: 0 }];
  for (let i = 0; i < queue.length && i < MAX_NODES; i++) {
    const { node, depth } = queue[i]!;
    if (!isRecord(node) || depth > MAX_DEPTH) continue;
    if (depth > 0 && typeof node.description === "string") texts.push(node.description);
    if (Array.isArray(node.enum)) {
      texts.push(...node.enum.slice(0, 40).filter((value) => typeof value === "string"));
    }
    if (typeof node.const === "string") texts.push(node.const);
    if (isRecord(node.properties)) {
      for (const [name, child] of Object.entries(node.properties)) {
        (depth === 0 ? names : texts).push(name);
        queue.push({ node: child, depth: depth + 1 });
      }
    }
    for (const child of nested(node)) queue.push({ node: child, depth: depth + 1 });
  }
  return { names, texts };
}

function nested(node: Readonly<Record<string, unknown>>): unknown[] {
  const lists = [node.anyOf, node.oneOf, node.allOf, node.prefixItems].filter(Array.isArray);
  return [node.items, ...lists.flat()];
}
