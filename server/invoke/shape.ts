import { pause } from "../catalog/pause.ts";
import type { ContentBlock, ToolResult } from "../shared/contracts.ts";
import { fail, ok, type Outcome } from "../shared/failure.ts";
import { roughLength, toJson, toJsonInSteps } from "../shared/json.ts";
import { LIMITS } from "../shared/limits.ts";
import { isRecord } from "../shared/record.ts";
import type { Scope } from "../shared/scope.ts";
import { utf8Length } from "../shared/text.ts";
import type { Invoked } from "./invoke.ts";
import { project } from "./project.ts";
import type { Results, Truncated } from "./stash.ts";
import { allText, unwrap } from "./unwrap.ts";

/** How `call_tool` hands a result over. */
export type ResultMode = "mcp" | "value";

/** A shaped result: an envelope for `structuredContent`, or blocks passed through. */
export type Shaped =
  | {
      readonly kind: "envelope";
      readonly envelope: Envelope | Truncated;
      readonly blocks: readonly ContentBlock[];
    }
  | {
      readonly kind: "mcp";
      readonly content: readonly ContentBlock[];
      readonly structuredContent?: unknown;
      readonly isError: boolean;
    };

/** The value envelope of `call_tool`. */
export interface Envelope {
  readonly ok: true;
  readonly data: unknown;
  readonly missingFields?: readonly string[];
}

/** Shapes what a call answered; a result over the inline bound is stashed and announced. */
export async function shape(
  invoked: Invoked,
  options: {
    readonly mode: ResultMode | undefined;
    readonly fields: readonly string[] | undefined;
  },
  stash: Results,
  scope: Scope,
): Promise<Outcome<Shaped>> {
  const address = `${invoked.connector.id}.${invoked.tool.name}`;
  const { result } = invoked;
  const natural: ResultMode = invoked.connector.kind === "mcp" ? "mcp" : "value";
  const mode = options.mode ?? (options.fields ? "value" : natural);
  if (mode === "value") return shapeValue(address, result, options.fields, stash, scope);
  if (options.fields) {
    return fail("invalid_args", "fields selects from a value: leave resultMode out or say value.", {
      findings: [{ path: "fields", code: "conflict", expected: 'resultMode "value"' }],
    });
  }
  const blocks = result.kind === "mcp" ? ok(result) : await asBlocks(address, result.value);
  return blocks.ok ? passThrough(address, blocks.value, stash, scope) : blocks;
}

async function shapeValue(
  address: string,
  result: ToolResult,
  fields: readonly string[] | undefined,
  stash: Results,
  scope: Scope,
): Promise<Outcome<Shaped>> {
  const unwrapped = unwrap(address, result);
  if (!unwrapped.ok) return unwrapped;
  let envelope: Envelope = { ok: true, data: unwrapped.value };
  if (fields) {
    const projected = project(unwrapped.value, fields);
    if (!projected.ok) return projected;
    const { data, missingFields } = projected.value;
    envelope = { ok: true, data, ...(missingFields.length > 0 && { missingFields }) };
  }
  const json = await written(envelope.data, `The answer of ${address}`);
  if (!json.ok) return json;
  if (utf8Length(json.value) <= LIMITS.inlineResultBytes.value) {
    return ok({ kind: "envelope", envelope, blocks: [] });
  }
  const text = typeof envelope.data === "string" ? envelope.data : json.value;
  const kept = await stash.keep(address, text, scope);
  return kept.ok ? ok({ kind: "envelope", envelope: kept.value, blocks: [] }) : kept;
}

type McpResult = Extract<ToolResult, { kind: "mcp" }>;

async function passThrough(
  address: string,
  result: McpResult,
  stash: Results,
  scope: Scope,
): Promise<Outcome<Shaped>> {
  const { content, structuredContent, isError = false } = result;
  const binary = content.filter(isBinary);
  const binaryBytes = binary.reduce((sum, block) => sum + JSON.stringify(block).length, 0);
  const max = LIMITS.blockBytes.value;
  if (binaryBytes > max) {
    return fail("result_too_large", `${address} answered blocks of ${binaryBytes} bytes in all.`, {
      address,
      bytes: binaryBytes,
      maxBytes: max,
    });
  }
  const counted = content.filter((block) => !isBinary(block));
  const json = await written(structuredContent, `The structure of ${address}`);
  if (!json.ok) return json;
  const structured = structuredContent === undefined ? "" : json.value;
  const bytes = counted.reduce((sum, block) => sum + utf8Length(JSON.stringify(block)), 0);
  if (bytes + utf8Length(structured) <= LIMITS.inlineResultBytes.value) {
    return ok({
      kind: "mcp",
      content,
      isError,
      ...(structuredContent !== undefined && { structuredContent }),
    });
  }
  if (isError) {
    const failed = unwrap(address, result);
    if (!failed.ok) return failed;
  }
  const kept = await stash.keep(address, wholeText(counted, structured), scope);
  return kept.ok ? ok({ kind: "envelope", envelope: kept.value, blocks: binary }) : kept;
}

/** One text that holds everything: what says the same in two ways is there once. */
function wholeText(content: readonly ContentBlock[], structured: string): string {
  const text = allText(content);
  if (structured === "") return text ?? JSON.stringify(content);
  const isRepeated = text !== undefined && /^\s*(?:[[{]|$)/.test(text);
  return isRepeated
    ? structured
    : `{"content":${JSON.stringify(content)},"structuredContent":${structured}}`;
}

/** A plain value in the form of an MCP result, for callers that ask an `api()` tool for blocks. */
async function asBlocks(address: string, value: unknown): Promise<Outcome<McpResult>> {
  const json = await written(value ?? null, `The answer of ${address}`);
  if (!json.ok) return json;
  const text = typeof value === "string" ? value : json.value;
  return ok({
    kind: "mcp",
    content: [{ type: "text", text }],
    ...(isRecord(value) && { structuredContent: value }),
  });
}

/** More is written in steps, so that it holds up nobody. */
const HEAVY_CHARS = 1024 * 1024;

async function written(value: unknown, what: string): Promise<Outcome<string>> {
  if (roughLength(value, HEAVY_CHARS) <= HEAVY_CHARS) return toJson(value, what);
  const json = await toJsonInSteps(value, what, Infinity, pause);
  return json.ok ? ok(json.value.text ?? "null") : json;
}

function isBinary(block: ContentBlock): boolean {
  if (block.type === "image" || block.type === "audio") return true;
  const { resource } = block;
  return typeof resource === "object" && resource !== null && "blob" in resource;
}
