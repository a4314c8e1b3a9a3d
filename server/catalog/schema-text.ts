import { LIMITS } from "../shared/limits.ts";
import { utf8Length } from "../shared/text.ts";
import { SchemaReading } from "./schema-reading.ts";
import { SchemaRenderer, type Detail } from "./schema-render.ts";

/** A schema in the form that models read. */
export interface SchemaText {
  /** A TypeScript-like type. */
  readonly text: string;
  /** Whether part of the structure was left out to keep within the bound. */
  readonly truncated: boolean;
}

/** From everything to the bare outline; the first that fits is shown. */
const DETAILS: readonly Detail[] = [
  { depth: 5, description: 80, members: 24 },
  { depth: 5, description: 40, members: 24 },
  { depth: 5, description: 0, members: 24 },
  { depth: 3, description: 0, members: 24 },
  { depth: 2, description: 0, members: 24 },
  { depth: 1, description: 0, members: 24 },
  { depth: 1, description: 0, members: 10 },
  { depth: 1, description: 0, members: 4 },
];
const OUTLINE: Detail = { depth: 1, description: 0, members: 3 };
/** What all levels of detail together may take, and then the outline: some milliseconds each. */
const STEPS = 10_000;

/**
 * A JSON Schema as a compact TypeScript-like type, required fields first. Whatever it is given, the
 * text is a complete type and within the bound.
 * @param maxBytes of UTF-8
 */
export function schemaText(schema: unknown, maxBytes = LIMITS.schemaTextBytes.value): SchemaText {
  const reading = new SchemaReading(schema, STEPS);
  for (const detail of DETAILS) {
    if (reading.spent) break;
    const renderer = new SchemaRenderer(reading, detail, maxBytes);
    const text = renderer.whole();
    if (!renderer.overflow && utf8Length(text) <= maxBytes)
      return { text, truncated: renderer.cut };
  }
  return { text: outline(reading, maxBytes), truncated: true };
}

/** As many properties as fit, and the number of those that do not. */
function outline(reading: SchemaReading, maxBytes: number): string {
  reading.renew(STEPS);
  const lines = new SchemaRenderer(reading, OUTLINE, Infinity).properties(reading.root, 0);
  const total = Math.max(lines.length, reading.shape(reading.root).names.length);
  const kept: string[] = [];
  // Room for the braces and for saying how many were left out.
  let room = maxBytes - utf8Length(`{  /* +${total} more */ }`);
  for (const line of lines) {
    const bytes = utf8Length(line) + 2;
    if (bytes > room) continue;
    room -= bytes;
    kept.push(line);
  }
  const left = total - kept.length;
  const text = `{ ${kept.join("; ")} /* +${left} more */ }`;
  return kept.length > 0 && utf8Length(text) <= maxBytes ? text : "unknown";
}
