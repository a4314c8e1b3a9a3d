import type { Connector, Tool } from "../../server/shared/contracts.ts";
import { ok, type Outcome } from "../../server/shared/failure.ts";

/** A tool with as little as a tool must have; read-only unless told otherwise. */
export function fakeTool(name: string, parts: Partial<Tool> = {}): Tool {
  return {
    name,
    description: `Does ${name}.`,
    inputSchema: { type: "object", properties: {} },
    annotations: { readOnlyHint: true },
    ...parts,
  };
}

/** A connector over a list of tools, and how often it was asked for them. */
export interface FakeConnector extends Connector {
  readonly listed: () => number;
}

/** A connector that lists these tools, or answers each listing with the next of several answers. */
export function fakeConnector(
  id: string,
  answer: readonly Tool[] | ((listing: number) => Promise<Outcome<readonly Tool[]>>),
  parts: Partial<Connector> = {},
): FakeConnector {
  let listings = 0;
  return {
    id,
    kind: "mcp",
    listTools: () => {
      listings++;
      return typeof answer === "function" ? answer(listings) : Promise.resolve(ok(answer));
    },
    callTool: () => Promise.resolve(ok({ kind: "value", value: null })),
    listed: () => listings,
    ...parts,
  };
}

/** A promise with its ends in the test's hand. */
export function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** The value of a good outcome; the failure is the test's failure. */
export function valueOf<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new Error(`${outcome.failure.code}: ${outcome.failure.message}`);
}

/** The failure of a bad outcome. */
export function failureOf<T>(outcome: Outcome<T>) {
  if (!outcome.ok) return outcome.failure;
  throw new Error("the outcome is good");
}

/** The names that hostile or careless servers give their tools. */
export const HOSTILE_NAMES: readonly string[] = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "a.b.c",
  "with space",
  "🦊 fox",
  "x".repeat(300),
  "名前",
  "delete",
  "9lives",
  "",
];
