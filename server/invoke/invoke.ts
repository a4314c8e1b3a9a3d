import { isExplicitlyReadOnly } from "../catalog/classify.ts";
import type { Catalogs, Resolution } from "../catalog/catalogs.ts";
import { eventName, type ActivitySource } from "../shared/activity.ts";
import type { Connector, Tool, ToolResult } from "../shared/contracts.ts";
import {
  fail,
  failure,
  ok,
  type Failure,
  type FailureCode,
  type Outcome,
} from "../shared/failure.ts";
import { observed, type CallSubject, type QueueState } from "../shared/observation.ts";
import { compileForeignSchema, compileSchema, type CompiledSchema } from "../shared/schema.ts";
import { withDeadline, type Scope } from "../shared/scope.ts";
import { kindOf } from "../shared/text.ts";
import { Admission } from "./admission.ts";
import { Recorder } from "./recorder.ts";
import { withRecovery, type Surface } from "./recovery.ts";
import { clocked, type CallTimes } from "./times.ts";

/** One call of one tool, whoever makes it. */
export interface Invocation {
  /** As the caller wrote it; of a shortcut, the connector's id and the property. */
  readonly address: string;
  /** The address as a property of a connector's global, which stands for a tool. */
  readonly shortcut?: { readonly connector: string; readonly property: string } | undefined;
  /** Arguments by name; `undefined` means none. */
  readonly args: unknown;
  /** Read paths refuse everything that is not explicitly read-only. */
  readonly access: "read" | "write";
  readonly surface: Surface;
  /** The tool through which the call came in. */
  readonly source: ActivitySource;
  /** The run that makes the call, when a program does. */
  readonly runId?: string | undefined;
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

/** Makes of a result what the caller gets: unwraps it, and holds it against the caller's bounds. */
export type Take<T> = (invoked: Invoked) => Outcome<T> | Promise<Outcome<T>>;

/** How far a call has come. */
interface Course {
  readonly startedAt: number;
  /** What observers are told of it. */
  readonly seen: CallSubject;
  resolved: Resolution | undefined;
  /** What it came to; absent when it went well. */
  code: FailureCode | undefined;
}

const BACKOFF_MS = 250;
const MAX_RETRY_AFTER_MS = 10_000;

/** The one path of every call, bound to a deployment's catalogs. */
export class Invoker {
  readonly #catalogs: Catalogs;
  readonly #recorder: Recorder;
  readonly #admission: Admission;
  readonly #schemas = new WeakMap<Tool, CompiledSchema>();

  /**
   * @param recorder told of every call; without one none is recorded
   * @param connectors those whose limits hold
   */
  constructor(
    catalogs: Catalogs,
    recorder = new Recorder(),
    connectors: readonly Connector[] = [],
  ) {
    this.#catalogs = catalogs;
    this.#recorder = recorder;
    this.#admission = new Admission(connectors);
  }

  /** Calls under way and waiting, by connector. */
  get load(): Readonly<Record<string, QueueState>> {
    return this.#admission.load;
  }

  /** The same of all of them together, as it is when somebody looks. */
  get queue(): QueueState {
    const total = (name: keyof QueueState) =>
      Object.values(this.load).reduce((sum, load) => sum + load[name], 0);
    return {
      get active() {
        return total("active");
      },
      get waiting() {
        return total("waiting");
      },
    };
  }

  /**
   * Makes one call, from its address to what the caller takes of the answer, and records it
   * however it ends. A failure says how the caller goes on.
   * @param take the result as it is, when omitted
   */
  invoke(call: Invocation, scope: Scope): Promise<Outcome<Invoked>>;
  invoke<T>(call: Invocation, scope: Scope, take: Take<T>): Promise<Outcome<T>>;
  async invoke(
    call: Invocation,
    scope: Scope,
    take: Take<unknown> = ok,
  ): Promise<Outcome<unknown>> {
    const seen: CallSubject = { kind: "call", source: call.source, attempts: 0 };
    const startedAt = performance.now();
    const course: Course = { startedAt, seen, resolved: undefined, code: "internal" };
    const work = (own: Scope) => this.#make(call, course, own, take);
    try {
      return await observed(scope, seen, work, () => course.code);
    } finally {
      this.#record(call, course, scope);
    }
  }

  async #make(
    call: Invocation,
    course: Course,
    scope: Scope,
    take: Take<unknown>,
  ): Promise<Outcome<unknown>> {
    const answered = await this.#answer(call, course, scope);
    if (!answered.ok) {
      course.code = answered.failure.code;
      return { ok: false, failure: withRecovery(answered.failure, call.surface, call) };
    }
    const taken = await take(answered.value);
    course.code = taken.ok ? ownFailure(answered.value.result) : taken.failure.code;
    return taken;
  }

  /** The steps up to the connector's answer, in their order; the first that refuses ends the call. */
  async #answer(call: Invocation, course: Course, scope: Scope): Promise<Outcome<Invoked>> {
    const resolved = await clocked(call.times, "catalogMs", () => this.#resolve(call, scope));
    if (!resolved.ok) return resolved;
    course.resolved = resolved.value;
    course.seen.connector = resolved.value.connector.id;
    course.seen.tool = resolved.value.tool.name;
    const target = targetOf(call, resolved.value);
    const refused = classify(target, call.access) ?? this.#validate(target);
    if (refused) return { ok: false, failure: refused };
    const { connector, timeoutMs } = target;
    return retried(target, course, scope, () =>
      this.#admission.admit(connector, timeoutMs, scope, (leftMs) =>
        attempt(target, leftMs, course.seen, scope),
      ),
    );
  }

  async #resolve({ address, shortcut }: Invocation, scope: Scope): Promise<Outcome<Resolution>> {
    if (!shortcut) return this.#catalogs.resolve(address, scope);
    const { connector, property } = shortcut;
    const canonical = await this.#catalogs.shortcut(connector, property, scope);
    return canonical.ok ? this.#catalogs.resolve(canonical.value, scope) : canonical;
  }

  #validate({ address, connector, tool, args }: Target): Failure | undefined {
    // A refresh that changes nothing keeps its tools, and with them what was compiled.
    let schema = this.#schemas.get(tool);
    if (!schema) {
      const compile = connector.kind === "api" ? compileSchema : compileForeignSchema;
      this.#schemas.set(tool, (schema = compile(tool.inputSchema)));
    }
    const findings = schema.check(args);
    if (findings.length === 0) return undefined;
    const places = findings.map(({ path, expected }) => `${path}: expected ${expected}`);
    const message = `${address} refuses its arguments: ${places.join("; ")}.`;
    return failure("invalid_args", message, { address, findings });
  }

  #record(call: Invocation, course: Course, scope: Scope): void {
    const { startedAt, seen, resolved, code } = course;
    const address = resolved ? `${resolved.connector.id}.${resolved.tool.name}` : call.address;
    const event = {
      time: scope.now(),
      source: call.source,
      connector: resolved?.connector.id ?? this.#catalogs.connectorOf(call.address)?.id,
      tool: resolved && eventName(resolved.tool.name),
      address: eventName(address),
      outcome: code === undefined ? ("ok" as const) : ("failed" as const),
      code,
      durationMs: Math.round((performance.now() - startedAt) * 100) / 100,
      attempts: seen.attempts,
      principal: eventName(scope.principal),
      requestId: eventName(scope.requestId),
      runId: call.runId,
    };
    this.#recorder.record(event, scope);
  }
}

/** The code of a result that is passed on whole, although it tells of a failure. */
function ownFailure(result: ToolResult): FailureCode | undefined {
  return result.kind === "mcp" && result.isError === true ? "connector_call_failed" : undefined;
}

/** What a call that was resolved asks of which connector. */
interface Target {
  readonly connector: Connector;
  readonly tool: Tool;
  readonly address: string;
  readonly args: unknown;
  readonly readOnly: boolean;
  readonly retries: number;
  readonly timeoutMs: number;
  readonly times: CallTimes | undefined;
}

function targetOf(call: Invocation, { connector, tool }: Resolution): Target {
  const { args = {}, maxRetries, timeoutMs, times } = call;
  const readOnly = isExplicitlyReadOnly(tool);
  const retries = readOnly ? maxRetries : 0;
  const address = `${connector.id}.${tool.name}`;
  return { connector, tool, address, args: args ?? {}, readOnly, retries, timeoutMs, times };
}

function classify({ address, readOnly }: Target, access: Invocation["access"]) {
  if (access === "write" || readOnly) return undefined;
  return failure(
    "destructive_tool_requires_approval",
    `${address} is not marked read-only: it runs only through call_destructive_tool, ` +
      "as one visible call that a person can refuse.",
    { address },
  );
}

/** One attempt under its deadline; the connector adds its own credential. */
function attempt(
  target: Target,
  timeoutMs: number,
  seen: CallSubject,
  scope: Scope,
): Promise<Outcome<ToolResult>> {
  const { connector, tool, address, args, times } = target;
  return clocked(times, "connectorMs", () =>
    withDeadline(scope, timeoutMs, address, (inner) => {
      seen.attempts++;
      if (times?.attempts !== undefined) times.attempts = seen.attempts;
      return safely(address, inner, () => connector.callTool(tool.name, args, inner));
    }),
  );
}

/** Attempts as often as the target allows; nothing is held while it waits between two. */
async function retried(
  { connector, tool, address, retries }: Target,
  course: Course,
  scope: Scope,
  once: () => Promise<Outcome<ToolResult>>,
): Promise<Outcome<Invoked>> {
  for (let round = 1; ; round++) {
    const answer = await once();
    if (answer.ok)
      return ok({ connector, tool, result: answer.value, attempts: course.seen.attempts });
    const wait = retryDelay(answer.failure, round);
    if (round > retries || wait === undefined) {
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
