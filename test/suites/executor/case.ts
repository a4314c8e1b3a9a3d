import { expect } from "vitest";
export { expect };
import type { Gateway, ToolAnswer } from "./client.ts";
import type { DeploymentName } from "./deployment.ts";

/**
 * What not every executor can do: end a run that computes, holds or recurses too much, that waits
 * for nothing, or that holds too much together with the other runs of its process.
 */
export type Ability = "cpu" | "heap" | "stack" | "stall" | "shared heap";

/** Looks at the whole answer of a program; throws what is wrong with it. */
export type Check = (answer: ToolAnswer) => void;

/** Where a program runs and what that takes. */
export interface Setting {
  /** `default` when omitted. */
  readonly deployment?: DeploymentName;
  readonly needs?: Ability;
}

interface OneProgram extends Setting {
  readonly code: string;
  readonly diagnostics?: true;
  readonly check: Check;
}

interface Script extends Setting {
  /** Several calls, where one program cannot show the behaviour. */
  readonly script: (gateway: Gateway) => Promise<void> | void;
}

/** A program and what its answer must be, or a script of calls. */
export type Input = OneProgram | Script;

interface Several extends Setting {
  /** What shares the behaviour, by what is special about each; its setting comes first. */
  readonly inputs: Readonly<Record<string, Input>>;
}

/** One promise of the contract, as any executor must keep it. */
export type Case = (Input | Several) & {
  /** Clauses that the case shows to be kept; the first is the one that it was written for. */
  readonly clauses: readonly string[];
  /** The behaviour, as a sentence; unique in the table. */
  readonly title: string;
};

/** Programs that must all answer alike. */
export function alike(
  codes: Readonly<Record<string, string>>,
  check: Check,
): Record<string, Input> {
  return each(mapped(codes, (code) => [code, check] as const));
}

/** Programs of which each has its own answer, and maybe its own setting. */
export function each(
  rows: Readonly<Record<string, readonly [code: string, check: Check, setting?: Setting]>>,
): Record<string, Input> {
  return mapped(rows, ([code, check, setting]) => ({ ...setting, code, check }));
}

/** A record with the same names and other values. */
export function mapped<From, To>(
  record: Readonly<Record<string, From>>,
  map: (value: From, name: string) => To,
): Record<string, To> {
  const entries = Object.entries(record).map(([name, value]) => [name, map(value, name)] as const);
  return Object.fromEntries(entries);
}

/** The only codes after which trying again may help. */
const RETRYABLE = [
  "rate_limited",
  "unavailable",
  "timeout",
  "executor_overloaded",
  "executor_crashed",
];

/** The text block must say the same as the structure, and nothing may be marked an error. */
function expectSuccess({ content, structuredContent, isError }: ToolAnswer): void {
  expect(structuredContent).not.toHaveProperty("error");
  expect(isError).toBeUndefined();
  expect(content[0]).toEqual({ type: "text", text: JSON.stringify(structuredContent) });
}

/** A program that answers exactly `{ result }` and nothing beside it. */
export function answers(result: unknown): Check {
  return succeeds({ result });
}

/** A program whose whole envelope is this, without blocks and view. */
export function succeeds(envelope: Record<string, unknown>): Check {
  return (answer) => {
    expect(answer.structuredContent).toEqual(envelope);
    expectSuccess(answer);
    expect(answer.content).toHaveLength(1);
    expect(answer).not.toHaveProperty("_meta");
  };
}

/** A program that succeeds with a result which some check accepts. */
export function resultThat(check: (result: never) => void): Check {
  return (answer) => {
    expectSuccess(answer);
    check(answer.structuredContent.result as never);
  };
}

/** A program that succeeds and delivers these blocks and this view beside its envelope. */
export function delivers(delivered: {
  readonly envelope: Record<string, unknown>;
  readonly blocks?: readonly unknown[];
  readonly view?: unknown;
}): Check {
  return (answer) => {
    const { envelope, blocks = [], view } = delivered;
    expect(answer.structuredContent).toEqual(envelope);
    expectSuccess(answer);
    expect(answer.content.slice(1)).toEqual(blocks);
    expect(answer._meta).toEqual(view === undefined ? undefined : { "connecta/ui": view });
  };
}

/** The error of a failed answer, after everything that all failures have in common was checked. */
export function errorOf(answer: ToolAnswer): Record<string, unknown> {
  const { content, structuredContent, isError } = answer;
  const { error } = structuredContent as { error?: Record<string, unknown> };
  if (error === undefined) throw new Error(`no failure: ${JSON.stringify(answer).slice(0, 2_000)}`);
  expect(isError).toBe(true);
  expect(content).toEqual([{ type: "text", text: JSON.stringify(structuredContent) }]);
  expect(answer).not.toHaveProperty("_meta");
  expect(error.message).toEqual(expect.any(String));
  expect([error.code, error.retryable]).toEqual([
    error.code,
    RETRYABLE.includes(String(error.code)),
  ]);
  return error;
}

/**
 * A program that fails with an error of which these fields are known.
 * @param beside everything that the envelope holds besides the error
 */
export function fails(error: Record<string, unknown>, beside: Record<string, unknown> = {}): Check {
  return (answer) => {
    expect(errorOf(answer)).toMatchObject(error);
    const { error: _, ...others } = answer.structuredContent;
    expect(others).toEqual(beside);
  };
}

/** The places that a position of a program may have: engines count columns differently. */
export const SOME_COLUMN: unknown = expect.toSatisfy(
  (column) => Number.isInteger(column) && Number(column) >= 1,
);

/** Asks again until a condition holds, which other requests bring about. */
export async function eventually<T>(
  ask: () => Promise<T>,
  holds: (value: T) => boolean,
): Promise<void> {
  const deadline = Date.now() + 5_000;
  for (;;) {
    const value = await ask();
    if (holds(value)) return;
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(value)}`);
    // A deployment in this very process needs turns of the event loop for its other requests.
    await new Promise<void>((resolve) => setTimeout(resolve, 1));
  }
}

/** What became of the calls that carried a key. */
export async function seen(gateway: Gateway, key: string) {
  const answer = await gateway.tool("call_tool", { address: "probe.seen", args: { key } });
  return answer.structuredContent.data as {
    readonly started: number;
    readonly aborted: number;
    readonly written: number;
    readonly loads: number;
    readonly executorErrors: number;
  };
}
