import { isExplicitlyReadOnly } from "../catalog/classify.ts";
import type { Catalogs } from "../catalog/catalogs.ts";
import type { Connector, Tool, ToolResult } from "../shared/contracts.ts";
import { fail, ok, type Failure, type Outcome } from "../shared/failure.ts";
import { compileSchema, type CompiledSchema } from "../shared/schema.ts";
import { withDeadline, type Scope } from "../shared/scope.ts";
import { kindOf } from "../shared/text.ts";
import { withRecovery, type Surface } from "./recovery.ts";
import { clocked, type CallTimes } from "./times.ts";

/** One call of one tool, whoever makes it. */
export interface Invocation {
  readonly address: string;
  /** Arguments by name; `undefined` means none. */
  readonly args: unknown;
  /** Read paths refuse everything that is not explicitly read-only. */
  readonly access: "read" | "write";
  readonly surface: Surface;
  /** Deadline of one attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** 0–2; honoured for read-only tools alone. */
  readonly maxRetries: number;
  /** Added to, when somebody asks where the time goes. */
  readonly times?: CallTimes | undefined;
}

/** What a call came to, before it is shaped for the caller. */
export interface Invoked {
  readonly connector: Connector;
  readonly tool: Tool;
  readonly result: ToolResult;
  readonly attempts: number;
}

const BACKOFF_MS = 250;
const MAX_RETRY_AFTER_MS = 10_000;

/** The one path of every call, bound to a deployment's catalogs. */
export class Invoker {
  readonly #catalogs: Catalogs;
  readonly #schemas = new WeakMap<Tool, CompiledSchema>();

  constructor(catalogs: Catalogs) {
    this.#catalogs = catalogs;
  }

  /** Resolves, classifies, validates and attempts; a failure says how the caller goes on. */
  async invoke(call: Invocation, scope: Scope): Promise<Outcome<Invoked>> {
    const done = await this.#invoke(call, scope);
    if (done.ok) return done;
    return { ok: false, failure: withRecovery(done.failure, call.surface, call) };
  }

  async #invoke(call: Invocation, scope: Scope): Promise<Outcome<Invoked>> {
    const { times, timeoutMs } = call;
    const resolved = await clocked(times, "catalogMs", () =>
      this.#catalogs.resolve(call.address, scope),
    );
    if (!resolved.ok) return resolved;
    const { connector, tool } = resolved.value;
    const address = `${connector.id}.${tool.name}`;
    const readOnly = isExplicitlyReadOnly(tool);
    if (call.access === "read" && !readOnly) return refuseWrite(address);
    const args = call.args ?? {};
    const invalid = this.#validate(address, tool, args);
    if (invalid) return { ok: false, failure: invalid };
    const retries = readOnly ? call.maxRetries : 0;
    return attempt({ connector, tool, address, args, retries, timeoutMs, times }, scope);
  }

  #validate(address: string, tool: Tool, args: unknown): Failure | undefined {
    let schema = this.#schemas.get(tool);
    if (!schema) this.#schemas.set(tool, (schema = compileSchema(tool.inputSchema)));
    const findings = schema.check(args);
    if (findings.length === 0) return undefined;
    const places = findings.map(({ path, expected }) => `${path}: expected ${expected}`);
    const message = `${address} refuses its arguments: ${places.join("; ")}.`;
    return fail("invalid_args", message, { address, findings }).failure;
  }
}

function refuseWrite(address: string): Outcome<never> {
  return fail(
    "destructive_tool_requires_approval",
    `${address} is not marked read-only: it runs only through call_destructive_tool, ` +
      "as one visible call that a person can refuse.",
    { address },
  );
}

interface Target {
  readonly connector: Connector;
  readonly tool: Tool;
  readonly address: string;
  readonly args: unknown;
  readonly retries: number;
  readonly timeoutMs: number;
  readonly times: CallTimes | undefined;
}

async function attempt(target: Target, scope: Scope): Promise<Outcome<Invoked>> {
  const { connector, tool, address, args, timeoutMs, times } = target;
  for (let attempts = 1; ; attempts++) {
    const answer = await clocked(times, "connectorMs", () =>
      withDeadline(scope, timeoutMs, address, (inner) =>
        safely(address, inner, () => connector.callTool(tool.name, args, inner)),
      ),
    );
    if (answer.ok) return ok({ connector, tool, result: answer.value, attempts });
    const wait = retryDelay(answer.failure, attempts);
    if (attempts > target.retries || wait === undefined) {
      return { ok: false, failure: { address, ...answer.failure } };
    }
    if (!(await pause(wait, scope.signal))) {
      return fail("cancelled", `${address} was cancelled by the caller.`, { address });
    }
  }
}

/** A connector that throws is a bug of its own; the caller still gets one typed failure. */
async function safely<T>(
  address: string,
  scope: Scope,
  work: () => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  try {
    return await work();
  } catch (error) {
    if (!scope.signal.aborted) scope.report(error, address);
    const kind = kindOf(error);
    return fail("connector_call_failed", `${address} failed unexpectedly (${kind}).`);
  }
}

/** Milliseconds before the next attempt; `undefined` when there must be none. */
function retryDelay(failure: Failure, attempts: number): number | undefined {
  if (!failure.retryable) return undefined;
  const asked = failure.retryAfterMs;
  if (asked === undefined) return BACKOFF_MS * 2 ** (attempts - 1);
  return asked <= MAX_RETRY_AFTER_MS ? asked : undefined;
}

/** Waits unless the signal aborts first; says whether the whole wait passed. */
function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const finish = (passed: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      resolve(passed);
    };
    const onAbort = () => finish(false);
    const timer = setTimeout(() => finish(true), ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
