import { z } from "zod";
import type { JsonSchema, ToolAnnotations } from "../shared/contracts.ts";
import { fail, ok, type Failure, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import type { Scope } from "../shared/scope.ts";
import { clampUtf8, utf8Length } from "../shared/text.ts";
import type { Catalogs, Resolution } from "./catalogs.ts";
import { signatureOf } from "./entry.ts";
import { invalidArguments } from "./findings.ts";
import { pause } from "./pause.ts";

/** One tool in full, or why its address leads nowhere. */
export type Description =
  | {
      readonly address: string;
      readonly ok: true;
      readonly name: string;
      readonly title?: string;
      readonly description: string;
      readonly annotations: ToolAnnotations;
      readonly annotationSource?: "config";
      /** The exact schemas, as the tool advertises them. */
      readonly inputSchema: JsonSchema;
      readonly outputSchema?: JsonSchema;
      /** The same in the compact form that search shows. */
      readonly signature: string;
    }
  | { readonly address: string; readonly ok: false; readonly error: Failure };

/** So many missed addresses of one call are told what was probably meant; a search tells the rest. */
const MAX_SUGGESTED = 8;
/** So many tools are described without letting others run in between. */
const STEP_TOOLS = 10;

const address = z.string().min(1);
const one = z.strictObject({ address });
const several = z.strictObject({
  addresses: z.array(address).min(1).max(LIMITS.describeAddresses.value),
});

/**
 * Describes tools in full: one entry per address, in their order, also for a single `address`.
 * @param input `{ address }` or `{ addresses }`
 * Failures: `invalid_args`, `result_too_large`; a bad address is an entry of its own.
 */
export async function describe(
  catalogs: Catalogs,
  input: unknown,
  scope: Scope,
): Promise<Outcome<readonly Description[]>> {
  const asked = addressesOf(input);
  if (!asked.ok) return asked;
  const entries = await describeAll(catalogs, asked.value, scope);
  const bytes = utf8Length(JSON.stringify(entries));
  const maxBytes = LIMITS.searchBytes.value;
  if (bytes <= maxBytes) return ok(entries);
  return fail(
    "result_too_large",
    `The descriptions have ${bytes} bytes, ${maxBytes} are allowed: describe fewer at once.`,
    { bytes, maxBytes },
  );
}

function addressesOf(input: unknown): Outcome<readonly string[]> {
  if (typeof input === "object" && input !== null && Object.hasOwn(input, "addresses")) {
    const parsed = several.safeParse(input);
    return parsed.success ? ok(parsed.data.addresses) : invalidArguments("describe", parsed.error);
  }
  const parsed = one.safeParse(input);
  return parsed.success ? ok([parsed.data.address]) : invalidArguments("describe", parsed.error);
}

/** Loads side by side, then describes in steps, since both suggestions and schemas take work. */
async function describeAll(
  catalogs: Catalogs,
  asked: readonly string[],
  scope: Scope,
): Promise<Description[]> {
  const resolutions = await Promise.all(asked.map((each) => catalogs.resolve(each, scope, false)));
  const entries: Description[] = [];
  let suggested = 0;
  for (const [i, first] of resolutions.entries()) {
    const each = asked[i]!;
    const suggest = isMiss(first) && suggested < MAX_SUGGESTED;
    if (suggest ? suggested++ > 0 : i > 0 && i % STEP_TOOLS === 0) await pause();
    entries.push(entry(each, suggest ? await catalogs.resolve(each, scope) : first));
  }
  return entries;
}

function isMiss(resolved: Outcome<Resolution>): boolean {
  return !resolved.ok && ["unknown_address", "unknown_tool"].includes(resolved.failure.code);
}

function entry(asked: string, resolved: Outcome<Resolution>): Description {
  if (!resolved.ok) {
    const query = clampUtf8(asked, LIMITS.nameBytes.value);
    const missed = isMiss(resolved);
    const next = { function: "connecta.search", arguments: { query } };
    return {
      address: clampUtf8(asked, LIMITS.echoBytes.value),
      ok: false,
      error: missed ? { ...resolved.failure, nextAction: next } : resolved.failure,
    };
  }
  const { tool } = resolved.value;
  return {
    address: asked,
    ok: true,
    name: tool.name,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    description: tool.description,
    annotations: tool.annotations,
    ...(tool.annotationSource === undefined ? {} : { annotationSource: tool.annotationSource }),
    inputSchema: tool.inputSchema,
    ...(tool.outputSchema === undefined ? {} : { outputSchema: tool.outputSchema }),
    signature: signatureOf(tool),
  };
}
