import guestSource from "./guest.ts?travel";
import { identifier } from "../catalog/identifier.ts";
import { onAbort } from "../shared/aborts.ts";
import type { Connector, Executor, RunTimings } from "../shared/contracts.ts";
import { fail, failure, ok, type Failure, type Outcome } from "../shared/failure.ts";
import { LIMITS, type ExecuteLimits } from "../shared/limits.ts";
import { Permits } from "../shared/permits.ts";
import { withDeadline, type Scope } from "../shared/scope.ts";
import { utf8Length } from "../shared/text.ts";
import type { ViewPayload } from "../view/protocol.ts";
import { Bridge, type BridgeHost } from "./bridge.ts";
import type { EmittedBlock } from "./emitted.ts";
import {
  joinLogs,
  truncated,
  type Diagnostics,
  type FailureEnvelope,
  type SuccessEnvelope,
} from "./envelope.ts";
import type { GuestConfig } from "./guest.ts";
import { executorFailure, readOutcome } from "./outcome.ts";
import { readProgram } from "./source.ts";
import { atItsPlace } from "./syntax.ts";

/** How a run ended, ready to become a tool result. */
export type Run =
  | {
      readonly ok: true;
      readonly envelope: SuccessEnvelope;
      readonly blocks: readonly EmittedBlock[];
      readonly view?: ViewPayload;
    }
  | { readonly ok: false; readonly envelope: FailureEnvelope };

/** What the runner needs of a deployment. */
export interface RunnerOptions extends BridgeHost {
  readonly connectors: readonly Connector[];
  readonly executor: Executor;
  readonly limits: ExecuteLimits;
}

const RETRY_AFTER_MS = 1_000;
const GUARD_BYTES = 1024 * 1024;

/** How long after its own deadline an executor may still answer before it is abandoned. */
const GRACE_MS = 500;

/** For the bridge that only says what every bridge looks like. */
const NO_SCOPE: Scope = {
  signal: AbortSignal.abort(),
  now: Date.now,
  defer: () => undefined,
  principal: "",
  requestId: "",
  report: () => undefined,
};

/** Runs programs: admission, the bridge, the executor, and what comes of it. */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #permits: Permits;
  readonly #prelude: string;
  readonly #sandboxLimits: ExecuteLimits;

  constructor(options: RunnerOptions) {
    const { limits, connectors } = options;
    this.#options = options;
    this.#permits = new Permits({
      active: limits.maxRuns,
      queued: limits.maxQueuedRuns,
      waitMs: limits.queueTimeoutMs,
    });
    const largest = Math.max(limits.maxArgumentBytes, limits.maxEmittedBytes);
    // The bridge measures precisely and answers typed; the sandbox only guards against worse.
    this.#sandboxLimits = {
      ...limits,
      maxArgumentBytes: largest * 4,
      maxResultBytes: Math.max(limits.maxResultBytes * 2, GUARD_BYTES),
      maxSourceBytes: limits.maxSourceBytes + GUARD_BYTES,
    };
    const config: GuestConfig = {
      shortcuts: connectors.map(({ id }) => [identifier(id), id]),
      maxArgumentChars: largest,
      maxReturnChars: LIMITS.returnChars.value,
    };
    this.#prelude = `globalThis.$connecta=(${guestSource})(connecta,${JSON.stringify(config)});`;
    const common = new Bridge(options, limits, NO_SCOPE).provider(this.#prelude);
    options.executor.prepare?.([common], this.#sandboxLimits);
  }

  /** Runs one program and says how it ended; never throws for anything the program does. */
  async run(code: string, wantsDiagnostics: boolean, scope: Scope): Promise<Run> {
    const started = performance.now();
    // A call that the program did not wait for must not outlive it.
    const running = new AbortController();
    const unlisten = onAbort(scope.signal, () => running.abort());
    const own = { ...scope, signal: running.signal };
    const bridge = new Bridge(this.#options, this.#options.limits, own);
    const trace = new Trace(code, started);
    const ended = await this.#execute(code, bridge, trace, own);
    unlisten();
    running.abort();
    const diagnostics = wantsDiagnostics ? trace.report(bridge) : undefined;
    const logs = joinLogs(trace.logs);
    const { blocks, payload } = bridge.emitted;
    const said = logs === undefined ? {} : { logs };
    if (!ended.ok) {
      const envelope = {
        error: ended.failure,
        ...said,
        ...(blocks.length > 0 && { emittedDiscarded: blocks.length }),
        ...(payload && { uiDiscarded: true as const }),
        ...(diagnostics && { diagnostics }),
      };
      return { ok: false, envelope };
    }
    const envelope = {
      result: ended.value,
      ...(blocks.length > 0 && { emitted: blocks.length }),
      ...(payload && { ui: true as const }),
      ...said,
      ...(diagnostics && { diagnostics }),
    };
    return { ok: true, envelope, blocks, ...(payload && { view: payload }) };
  }

  /** Refuses runs that wait or come later. */
  close(): void {
    this.#permits.close();
  }

  async #execute(
    code: string,
    bridge: Bridge,
    trace: Trace,
    scope: Scope,
  ): Promise<Outcome<unknown>> {
    const { maxSourceBytes } = this.#options.limits;
    if (trace.sourceBytes > maxSourceBytes) {
      return fail("budget_exceeded", `maxSourceBytes: the program takes ${trace.sourceBytes}.`, {
        budget: "maxSourceBytes",
        bytes: trace.sourceBytes,
        maxBytes: maxSourceBytes,
      });
    }
    const program = readProgram(code);
    if (!program.ok) return program;
    const admission = await this.#permits.acquire(scope.signal);
    if (!admission.ok) return { ok: false, failure: notAdmitted(admission.reason) };
    trace.admitted();
    try {
      return await this.#sandboxed(code, program.value, bridge, trace, scope);
    } finally {
      admission.release();
    }
  }

  async #sandboxed(
    code: string,
    program: { readonly expression: string; readonly addedLines: number },
    bridge: Bridge,
    trace: Trace,
    scope: Scope,
  ): Promise<Outcome<unknown>> {
    let ended: Failure | undefined;
    const wrapped = `()=>{"use strict";return $connecta(new Error(),(\n${program.expression}\n))}`;
    const deadlineMs = this.#options.limits.timeoutMs + GRACE_MS;
    const settled = await withDeadline(scope, deadlineMs, "The program", async ({ signal }) =>
      ok(
        await this.#options.executor.execute(wrapped, [bridge.provider(this.#prelude)], {
          signal,
          limits: this.#sandboxLimits,
          onFailure: (reported) => (ended ??= reported),
          onTimings: (timings) => (trace.timings = timings),
        }),
      ),
    ).catch((error: unknown) => {
      scope.report(error, "the executor");
      return fail("executor_crashed", "The executor failed; run the program again.");
    });
    if (!settled.ok) return { ok: false, failure: abandoned(settled.failure) };
    const answer = settled.value;
    trace.ran(answer.logs, answer.result);
    if (ended) return { ok: false, failure: atItsPlace(ended, code, 1 + program.addedLines) };
    if (answer.error !== undefined) return executorFailure(answer.error);
    const outcome = readOutcome(answer.result, bridge.issued, program.addedLines);
    switch (outcome.kind) {
      case "value":
        return { ok: true, value: outcome.value };
      case "preview":
        return { ok: true, value: truncated(outcome.preview, outcome.totalChars) };
      case "failure":
        return { ok: false, failure: outcome.failure };
    }
  }
}

/** An executor that did not answer in time, or whose caller went away. */
function abandoned(reason: Failure): Failure {
  switch (reason.code) {
    case "timeout":
      return failure("executor_timeout", "The program took longer than it may.");
    case "cancelled":
      return failure("executor_cancelled", "The run was cancelled.");
    default:
      return reason;
  }
}

function notAdmitted(reason: "full" | "timeout" | "aborted" | "closed"): Failure {
  switch (reason) {
    case "aborted":
      return failure("executor_cancelled", "The run was cancelled before it started.");
    case "closed":
      return failure("executor_closed", "The server is shutting down.");
    default:
      return failure("executor_overloaded", "Too many programs run at once; try again.", {
        retryAfterMs: RETRY_AFTER_MS,
      });
  }
}

/** What one run is measured by. */
class Trace {
  readonly sourceBytes: number;
  logs: readonly string[] | undefined;
  timings: RunTimings = {};
  readonly #started: number;
  #admitted: number;
  #ended: number;
  #resultChars = 0;

  constructor(code: string, started: number) {
    this.sourceBytes = utf8Length(code);
    this.#started = started;
    this.#admitted = started;
    this.#ended = started;
  }

  admitted(): void {
    this.#admitted = performance.now();
  }

  ran(logs: readonly string[] | undefined, result: unknown): void {
    this.#ended = performance.now();
    this.logs = logs;
    if (typeof result === "string") this.#resultChars = result.length;
  }

  report(bridge: Bridge): Diagnostics {
    const { counts, emitted } = bridge;
    const { setupMs, cpuMs } = this.timings;
    const executorMs = Math.max(0, this.#ended - this.#admitted);
    return {
      totalMs: round(performance.now() - this.#started),
      admissionMs: round(this.#admitted - this.#started),
      executorMs: round(executorMs),
      ...(setupMs !== undefined && { setupMs: round(setupMs) }),
      ...(cpuMs !== undefined && { cpuMs: round(cpuMs) }),
      sourceBytes: this.sourceBytes,
      resultChars: this.#resultChars,
      hostCalls: { count: counts.calls, ms: round(counts.callMs), bytes: counts.resultBytes },
      discovery: { count: counts.searches, ms: round(counts.searchMs) },
      ...(emitted.blocks.length > 0 && {
        emitted: { count: emitted.blocks.length, bytes: emitted.blockBytes },
      }),
      ...(emitted.payload && { ui: emitted.payloadBytes }),
    };
  }
}

function round(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
