import { readFileSync, readdirSync } from "node:fs";
import { createContext, runInContext } from "node:vm";
import { isPlainObject, type ViewPayload } from "../../server/view/protocol.ts";
import { callTool, problems, type DemoTool } from "./calls.ts";

const FOLDER = new URL("../../examples/node/programs/", import.meta.url);

/** The example programs, in the order in which a person meets them. */
export const PROGRAMS: readonly string[] = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".js"))
  .sort();

/** The source of one example program. */
export function source(name: string): string {
  return readFileSync(new URL(name, FOLDER), "utf8");
}

/** The connectors that a program may call. */
export type DemoTools = Readonly<Record<string, Readonly<Record<string, DemoTool>>>>;

/** What one run of a program left behind. */
export interface Run {
  readonly result: unknown;
  readonly payload: ViewPayload | undefined;
  readonly emitted: readonly { readonly type: string; readonly [key: string]: unknown }[];
  readonly logs: readonly string[];
  readonly calls: readonly string[];
}

/** A failure as a program meets it. */
export class CallError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Answers one call as the gateway does: arguments checked, nothing but reads. */
export async function read(tools: DemoTools, address: string, args: object = {}): Promise<unknown> {
  const [connector = "", name = ""] = address.split(".");
  const tool = tools[connector]?.[name];
  if (!tool) throw new CallError("unknown_tool", address);
  if (!tool.annotations.readOnlyHint) {
    throw new CallError("destructive_tool_requires_approval", address);
  }
  const [problem] = problems(tool.inputSchema, args);
  if (problem !== undefined) throw new CallError("invalid_args", `${address}: ${problem}`);
  return callTool(tool, args);
}

/**
 * Runs a program where there is little more than the language, against real tools.
 * @throws {CallError} when a call fails and the program does not catch it
 */
export async function run(text: string, tools: DemoTools): Promise<Run> {
  const left = {
    payload: undefined as ViewPayload | undefined,
    emitted: [] as Run["emitted"][0][],
  };
  const calls: string[] = [];
  const logs: string[] = [];
  const call = (address: string, args?: object) => {
    calls.push(address);
    return read(tools, address, args);
  };
  const connecta = {
    call,
    batch: (list: readonly { address: string; args?: object }[]) =>
      Promise.all(
        list.map(async ({ address, args }) => {
          const data = await call(address, args);
          return { address, ok: true, data };
        }),
      ),
    ui: async (html: string, options: object) => {
      left.payload = { html, ...options };
    },
    emit: async (block: Run["emitted"][0]) => {
      left.emitted.push(block);
    },
    search: async ({ safety }: { safety: string }) => {
      if (safety !== "approvalRequired") throw new CallError("invalid_args", "not played here");
      return { tools: writing(tools) };
    },
  };
  const log = (line: string) => logs.push(line);
  const context = createContext({ connecta, console: { log } });
  const program: unknown = runInContext(`delete globalThis.Intl; ${text}`, context);
  if (typeof program !== "function") throw new Error("the program is no function");
  const result: unknown = JSON.parse(JSON.stringify((await program()) ?? null));
  return { result, ...left, logs, calls };
}

function writing(tools: DemoTools): readonly { readonly address: string }[] {
  return Object.entries(tools).flatMap(([connector, own]) =>
    Object.entries(own)
      .filter(([, tool]) => !tool.annotations.readOnlyHint)
      .map(([name]) => ({ address: `${connector}.${name}` })),
  );
}

/** An answer as an object, for a test that looks into it. */
export function fields(value: unknown): Record<string, unknown> {
  if (!isPlainObject(value)) throw new Error("the answer is no object");
  return value;
}
