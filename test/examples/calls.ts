import { Validator, type Schema } from "@cfworker/json-schema";
import { expect } from "vitest";

/** As much of a demo tool as the tests need. */
export interface DemoTool {
  readonly inputSchema: object;
  readonly outputSchema: object;
  readonly annotations: { readonly readOnlyHint: boolean };
  handler(args: never, context: { signal: AbortSignal; now(): number }): unknown;
}

/** What `schema` says against a value, as the gateway would hear it. */
export function problems(schema: object, value: unknown): readonly string[] {
  // What travels is JSON: a property that is undefined is absent there.
  const json: unknown = JSON.parse(JSON.stringify(value));
  return new Validator(schema as Schema, "2020-12")
    .validate(json)
    .errors.map(({ instanceLocation, error }) => `${instanceLocation} ${error}`);
}

/** Calls a handler as the gateway does and holds its answer against the output schema. */
export async function callTool(
  tool: DemoTool,
  args: object = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<unknown> {
  const context = { signal, now: () => Date.UTC(2026, 0, 5, 12, 3, 4) };
  const value = await tool.handler(args as never, context);
  expect(problems(tool.outputSchema, value)).toEqual([]);
  return value;
}
