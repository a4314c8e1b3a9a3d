import { z } from "zod";
import type { JsonSchema, ToolAnnotations } from "../shared/contracts.ts";
import { fail, ok, type Failure, type Outcome } from "../shared/failure.ts";
import { LIMITS } from "../shared/limits.ts";
import type { Scope } from "../shared/scope.ts";
import { clampUtf8, utf8Length } from "../shared/text.ts";
import type { Catalogs } from "./catalogs.ts";
import { signatureOf } from "./entry.ts";
import { invalidArguments } from "./findings.ts";

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
  const entries = await Promise.all(asked.value.map((each) => entry(catalogs, each, scope)));
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

async function entry(catalogs: Catalogs, asked: string, scope: Scope): Promise<Description> {
  const resolved = await catalogs.resolve(asked, scope);
  if (!resolved.ok) {
    const query = clampUtf8(asked, LIMITS.nameBytes.value);
    const missed = ["unknown_address", "unknown_tool"].includes(resolved.failure.code);
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
