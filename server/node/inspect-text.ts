import { printable } from "./cli-print.ts";
import type { InspectedTool, Inspection, ToolClass } from "../catalog/inspect.ts";

const CLASSES: readonly ToolClass[] = ["read-only", "needs approval", "hidden", "set aside"];
/** A longer name moves its own row and no other. */
const MAX_NAME_COLUMNS = 48;

/** What {@link Inspection}s say, for a person to read in a terminal. */
export function asText(inspections: readonly Inspection[]): string {
  const parts = [...inspections].sort((a, b) => worry(b) - worry(a)).map(section);
  return `${parts.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/** What failed comes first, then what runs unasked and should perhaps not. */
function worry(inspection: Inspection): number {
  if (!inspection.ok) return 3;
  const suspicious = inspection.tools.filter((tool) => tool.suspicious === true);
  if (suspicious.some((tool) => tool.class === "read-only")) return 2;
  return suspicious.length > 0 ? 1 : 0;
}

function section(inspection: Inspection): string[] {
  if (!inspection.ok) {
    const { connector, code, message, errorOutput = "" } = inspection;
    const output = errorOutput.split("\n").filter((line) => line.trim() !== "");
    return [
      `${connector}: not loaded (${code})`,
      `  ${printable(message)}`,
      ...output.map((line) => `  | ${printable(line)}`),
    ];
  }
  const { connector, tools, warnings } = inspection;
  return [
    `${connector}: ${heading(tools)}`,
    ...warnings.map((warning) => `  ${printable(warning)}`),
    ...rows(tools),
  ];
}

function heading(tools: readonly InspectedTool[]): string {
  const counts = CLASSES.map((kind) => {
    return { kind, count: tools.filter((tool) => tool.class === kind).length };
  }).filter(({ count }) => count > 0);
  const total = tools.length === 1 ? "1 tool" : `${tools.length} tools`;
  return [total, ...counts.map(({ kind, count }) => `${count} ${kind}`)].join(", ");
}

function rows(tools: readonly InspectedTool[]): string[] {
  const names = tools.map(({ name }) => printable(name));
  const width = Math.min(MAX_NAME_COLUMNS, Math.max(0, ...names.map((name) => name.length)));
  const classWidth = Math.max(0, ...tools.map((tool) => tool.class.length));
  return tools.map((tool, i) => {
    const { note, suspicious, why } = tool;
    const columns = [
      suspicious === true ? "  !" : "   ",
      (names[i] ?? "").padEnd(width),
      tool.class.padEnd(classWidth),
      why.padEnd("annotation".length),
      note === undefined ? "" : printable(note),
    ];
    return columns.join("  ").trimEnd();
  });
}
