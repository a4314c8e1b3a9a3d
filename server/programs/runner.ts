import directSource from "./direct.ts?travel";
import guestSource from "./guest.ts?travel";
import positionSource from "./position.ts?travel";
import surroundingsSource from "./surroundings.ts?travel";
import { identifier } from "../shared/identifier.ts";
import { onAbort } from "../shared/aborts.ts";
import type { Connector, Executor } from "../shared/contracts.ts";
import { fail, failure, ok, type Failure, type Outcome } from "../shared/failure.ts";
import { LIMITS, type ExecuteLimits } from "../shared/limits.ts";
import { observed, sawAdmission, type QueueState } from "../shared/observation.ts";
import { Permits } from "../shared/permits.ts";
import { withDeadline, type Scope } from "../shared/scope.ts";
import { utf8Length } from "../shared/text.ts";
import type { ViewPayload } from "../view/protocol.ts";
import { notAdmitted } from "./admission.ts";
import { Bridge, type BridgeHost } from "./bridge.ts";
import type { EmittedBlock } from "./emitted.ts";
import { joinLogs, truncated, type FailureEnvelope, type SuccessEnvelope } from "./envelope.ts";
import { underWay } from "./flood.ts";
import type { GuestConfig } from "./guest.ts";
import { InFlight } from "./in-flight.ts";
import { Meter } from "./meter.ts";
import { executorFailure, readAnswer, readOutcome, tampered } from "./outcome.ts";
import { Rests } from "./rests.ts";
import { deeperFault, readProgram, type ProgramSource, type SourceReader } from "./source.ts";
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
export interface RunnerOptions extends Pick<BridgeHost, "catalogs" | "invoker"> {
  readonly connectors: readonly Connector[];
  readonly executor: Executor;
  readonly limits: ExecuteLimits;
  /** Reads large programs; without one they are read in place. */
  readonly sources?: SourceReader | undefined;
}

/** One run while it goes on. */
interface Live {
  readonly code: string;
  readonly sourceBytes: number;
  readonly bridge: Bridge;
  readonly meter: Meter | undefined;
  readonly scope: Scope;
  logs: readonly string[] | undefined;
}

/** Reading a program of this length takes longer than handing it to somebody else. */
const LARGE_CHARS = 32 * 1024;

const GUARD_BYTES = 1024 * 1024;

/** How long after its own deadline an executor may still answer before it is abandoned. */
const GRACE_MS = 500;

/** How long after its own deadline a run can at most hold its place. */
const HELD_MS = 5_000;

/** What `@cloudflare/codemode` has in scope where it puts a program. */
const HIDDEN =
  "__dispatchers,__connectors,__logs,__CODEMODE_BINARY_TAG,__bytesToBase64,__base64ToBytes," +
  "__encodeCodemodeValue,__decodeCodemodeValue,__stringifyForCodemode,__parseForCodemode," +
  "WorkerEntrypoint,CodeExecutor";

/** Around a program: no name, no `this` and no `arguments` of an executor's own code reaches it. */
const BEFORE =
  `()=>{"use strict";return $connecta(new Error(),function(${HIDDEN}){` +
  "const {connecta}=globalThis;return(";
const BEHIND = ")})}";

/** What a name of an executor's own stands for, where there is one. */
const inScope = (name: string, value: string): string =>
  `typeof ${name}==="object"?${value}:undefined`;

/** What makes of a sandbox the surroundings of programs. */
function prelude(config: GuestConfig, most: string): string {
  const direct = `(${directSource})(${inScope("__dispatchers", "__dispatchers.connecta")})`;
  const lent = `connecta,${direct},${most},${inScope("__logs", "__logs")}`;
  const around = `(${surroundingsSource})(${lent})`;
  const given = [around, `(${positionSource})()`, JSON.stringify(config)].join();
  return `globalThis.$connecta=(${guestSource})(${given});`;
}

/** For the bridge that only says what every bridge looks like. */
const noScope = (): Scope => ({
  signal: AbortSignal.abort(),
  now: Date.now,
  defer: () => undefined,
  principal: "",
  requestId: "",
  report: () => undefined,
});

/** Runs programs: admission, the bridge, the executor, and what comes of it. */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #host: BridgeHost;
  readonly #permits: Permits;
  readonly #prelude: string;
  readonly #sandboxLimits: ExecuteLimits;

  constructor(options: RunnerOptions) {
    const { limits, connectors } = options;
    const heldMs = limits.timeoutMs + HELD_MS;
    this.#options = options;
    this.#host = {
      catalogs: options.catalogs,
      invoker: options.invoker,
      rests: new Rests(),
      inFlight: new InFlight(limits, heldMs),
      tellsAnswersSent: options.executor.tellsAnswersSent ?? false,
    };
    this.#permits = new Permits({
      active: limits.maxRuns,
      queued: limits.maxQueuedRuns,
      waitMs: limits.queueTimeoutMs,
      heldMs,
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
      timeoutMs: limits.timeoutMs,
    };
    this.#prelude = prelude(config, JSON.stringify(underWay(limits)));
    if (options.executor.prepare === undefined) return;
    const common = new Bridge(this.#host, limits, noScope()).provider(this.#prelude);
    options.executor.prepare([common], this.#sandboxLimits);
  }

  /** Runs one program and says how it ended; never throws for anything the program does. */
  run(code: string, wantsDiagnostics: boolean, scope: Scope): Promise<Run> {
    const work = (own: Scope) => this.#run(code, wantsDiagnostics, own);
    return observed(scope, { kind: "run" }, work, codeOf);
  }

  async #run(code: string, wantsDiagnostics: boolean, scope: Scope): Promise<Run> {
    const meter = wantsDiagnostics ? new Meter() : undefined;
    // A call that the program did not wait for must not outlive it.
    const running = new AbortController();
    const unlisten = onAbort(scope.signal, () => running.abort());
    const own = { ...scope, signal: running.signal };
    const bridge = new Bridge(this.#host, this.#options.limits, own, meter);
    const sourceBytes = utf8Length(code);
    const live: Live = { code, sourceBytes, bridge, meter, scope: own, logs: undefined };
    const ended = await this.#execute(live);
    if (ended.ok) live.logs = [...(live.logs ?? []), ...(await bridge.finish())];
    bridge.transit.close();
    unlisten();
    running.abort();
    // Where work ends with its request, what is given up here would be held by nobody.
    scope.defer(bridge.ended());
    const { blocks, payload } = bridge.emitted;
    const logs = joinLogs(live.logs);
    const diagnostics = meter?.report(sourceBytes, bridge.emitted);
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

  /** Programs that run and that wait for a place. */
  get queue(): QueueState {
    return this.#permits;
  }

  /** The same with what their host calls have on the way. */
  get load() {
    const { active, waiting } = this.#permits;
    const { bytes, waiting: waitingCalls } = this.#host.inFlight.load;
    return { active, waiting, waitingCalls, bytesInFlight: bytes };
  }

  /** Refuses runs that wait or come later. */
  close(): void {
    this.#permits.close();
  }

  async #execute(live: Live): Promise<Outcome<unknown>> {
    const { sourceBytes, meter, scope } = live;
    const { maxSourceBytes } = this.#options.limits;
    if (sourceBytes > maxSourceBytes) {
      return fail("budget_exceeded", `maxSourceBytes: the program takes ${sourceBytes}.`, {
        budget: "maxSourceBytes",
        bytes: sourceBytes,
        maxBytes: maxSourceBytes,
      });
    }
    const program = await this.#read(live);
    if (!program.ok) return program;
    const asked = meter?.elapsedMs ?? 0;
    scope.handOver?.();
    const admission = await this.#permits.acquire(scope.signal);
    if (meter) meter.admissionMs = meter.elapsedMs - asked;
    sawAdmission(scope, "runs", admission);
    if (!admission.ok) return { ok: false, failure: notAdmitted(admission) };
    try {
      return await this.#sandboxed(live, program.value);
    } finally {
      admission.release();
    }
  }

  async #read({ code, scope }: Live): Promise<Outcome<ProgramSource>> {
    const { sources } = this.#options;
    if (!sources || code.length < LARGE_CHARS) return readProgram(code);
    return sources.read(code, scope.signal);
  }

  async #sandboxed(live: Live, program: ProgramSource): Promise<Outcome<unknown>> {
    const { code, bridge, meter, scope } = live;
    let ended: Failure | undefined;
    const wrapped = `${BEFORE}\n${program.expression}\n${BEHIND}`;
    const deadlineMs = this.#options.limits.timeoutMs + GRACE_MS;
    const begun = meter?.elapsedMs ?? 0;
    const startedAt = performance.now();
    const settled = await withDeadline(scope, deadlineMs, "The program", async ({ signal }) =>
      ok(
        await this.#options.executor.execute(wrapped, [bridge.provider(this.#prelude)], {
          signal,
          limits: this.#sandboxLimits,
          onAnswerSent: () => bridge.transit.sent(),
          onFailure: (reported) => (ended ??= reported),
          ...(meter && { onTimings: (timings) => (meter.timings = timings) }),
        }),
      ),
    ).catch((error: unknown) => {
      // An executor that cannot tell what its engine refused to read fails as a whole.
      const fault = deeperFault(code);
      if (fault) return { ok: false, failure: fault } as const;
      scope.report(error, "the executor");
      return fail("executor_crashed", "The executor failed; run the program again.");
    });
    if (meter) meter.executorMs = meter.elapsedMs - begun;
    if (!settled.ok) return { ok: false, failure: abandoned(settled.failure) };
    const answer = readAnswer(settled.value);
    if (!answer) return { ok: false, failure: tampered() };
    live.logs = answer.logs;
    if (bridge.flood) return { ok: false, failure: bridge.flood };
    if (ended) return { ok: false, failure: atItsPlace(ended, code, 1 + program.addedLines) };
    if (answer.error !== undefined) return executorFailure(answer.error);
    const outcome = readOutcome(answer.result, bridge.issued, program.addedLines);
    switch (outcome.kind) {
      case "value":
        if (meter) meter.resultChars = outcome.chars;
        return { ok: true, value: outcome.value };
      case "preview":
        if (meter) meter.resultChars = outcome.totalChars;
        return { ok: true, value: truncated(outcome.preview, outcome.totalChars) };
      case "ended": {
        const isLate = performance.now() - startedAt >= this.#options.limits.timeoutMs;
        return { ok: false, failure: isLate ? outOfTime() : tampered() };
      }
      case "failure":
        return { ok: false, failure: outcome.failure };
    }
  }
}

function codeOf(run: Run): Failure["code"] | undefined {
  return run.ok ? undefined : run.envelope.error.code;
}

function outOfTime(): Failure {
  return failure("executor_timeout", "The program took longer than it may.");
}

/** An executor that did not answer in time, or whose caller went away. */
function abandoned(reason: Failure): Failure {
  switch (reason.code) {
    case "timeout":
      return outOfTime();
    case "cancelled":
      return failure("executor_cancelled", "The run was cancelled.");
    default:
      return reason;
  }
}
