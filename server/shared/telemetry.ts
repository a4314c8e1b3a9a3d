import {
  context,
  createNoopMeter,
  metrics,
  propagation,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Counter,
  type Histogram,
  type Meter,
  type Span,
} from "@opentelemetry/api";
import type { Following, Observation, Subject, Trace } from "./observation.ts";
import type { FailureCode } from "./failure.ts";
import { LIMITS } from "./limits.ts";
import { clampUtf8 } from "./text.ts";

const NAME = "connecta";

/** The bounds that the conventions of MCP set for durations, in seconds. */
const SECONDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

/** Names that a person reads in a trace: those of MCP and GenAI conventions where there are any. */
const TOOL = "gen_ai.tool.name";
const CONNECTOR = "connecta.connector.id";
const SOURCE = "connecta.source";
const METHOD = {
  "mcp.method.name": "tools/call",
  "gen_ai.operation.name": "execute_tool",
} as const;

interface Instruments {
  readonly request: Histogram;
  readonly run: Histogram;
  readonly call: Histogram;
  readonly load: Histogram;
  readonly wait: Histogram;
  readonly refusals: Counter;
}

/**
 * Spans and metrics through the API of OpenTelemetry, which does nothing until the deployment
 * installs an SDK, and the same endings as plain data for the deployment's own listeners.
 */
export class Telemetry {
  readonly #version: string;
  readonly #listeners: readonly ((seen: Observation) => void)[];
  #instruments: Instruments | undefined;
  #provider: unknown;

  /** @param listeners told of everything that ends; they never throw */
  constructor(version: string, listeners: readonly ((seen: Observation) => void)[]) {
    this.#version = version;
    this.#listeners = listeners;
  }

  /**
   * Where the work of one request is observed; `undefined` while nobody does.
   * @param meta the request's `_meta`, which may name the caller's span
   */
  trace(meta: unknown): Trace | undefined {
    if (this.#listeners.length === 0 && !isTracing() && this.#current() === undefined) {
      return undefined;
    }
    const ambient = context.active();
    const caller = remoteParent(meta);
    if (caller === undefined) return this.#under(ambient);
    return this.#under(trace.setSpanContext(ambient, caller), trace.getSpanContext(ambient));
  }

  #under(parent: Context, link?: ReturnType<typeof trace.getSpanContext>): Trace {
    return {
      begin: (subject, requestId) => this.#begin(subject, requestId, parent, link),
      admitted: (seen) => this.#tell(seen),
    };
  }

  #begin(
    subject: Subject,
    requestId: string,
    parent: Context,
    link: ReturnType<typeof trace.getSpanContext>,
  ): Following {
    const since = performance.now();
    const links = link === undefined ? [] : [{ context: link }];
    const options = { kind: KINDS[subject.kind], links };
    const span = trace
      .getTracer(NAME, this.#version)
      .startSpan(NAMES[subject.kind], options, parent);
    const own = trace.setSpan(parent, span);
    return {
      trace: this.#under(own),
      within: (work) => context.with(own, work),
      end: (code) => {
        const ms = performance.now() - since;
        if (span.isRecording()) describe(span, subject, requestId, code);
        span.end();
        this.#tell({ ...subject, ms, ...(code !== undefined && { code }), requestId });
      },
    };
  }

  #tell(seen: Observation): void {
    this.#measure(seen);
    for (const listener of this.#listeners) listener(seen);
  }

  #measure(seen: Observation): void {
    const instruments = this.#current();
    if (instruments === undefined) return;
    const seconds = seen.ms / 1_000;
    if (seen.kind !== "admission") {
      return instruments[seen.kind].record(seconds, metricAttributes(seen, seen.code));
    }
    const queue = { "connecta.queue": seen.queue };
    if (seen.refused === undefined) return instruments.wait.record(seconds, queue);
    instruments.refusals.add(1, { ...queue, "connecta.reason": seen.refused });
  }

  /** Instruments of whoever is installed now: those made before an SDK came would stay deaf. */
  #current(): Instruments | undefined {
    const provider = metrics.getMeterProvider();
    if (provider !== this.#provider) {
      this.#provider = provider;
      const meter = provider.getMeter(NAME, this.#version);
      this.#instruments = meter === createNoopMeter() ? undefined : instrumentsOf(meter);
    }
    return this.#instruments;
  }
}

/** What stands in for a provider until there is one. */
const NO_PROVIDER = new ProxyTracerProvider().getDelegate();

function isTracing(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegate() !== NO_PROVIDER;
}

const KINDS = {
  request: SpanKind.SERVER,
  run: SpanKind.INTERNAL,
  call: SpanKind.INTERNAL,
  load: SpanKind.INTERNAL,
} as const;

/** What a span is called until its end, where names with a tool are known. */
const NAMES = {
  request: "tools/call",
  run: "connecta.run",
  call: "execute_tool",
  load: "connecta.catalog.load",
} as const;

/** Of what a caller sends, the ids of its span and whether it is sampled; no baggage, no state. */
function remoteParent(meta: unknown) {
  if (typeof meta !== "object" || meta === null || !("traceparent" in meta)) return undefined;
  const { traceparent } = meta;
  if (typeof traceparent !== "string") return undefined;
  return trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent }));
}

function describe(
  span: Span,
  subject: Subject,
  requestId: string,
  code: FailureCode | undefined,
): void {
  const outcome = code === undefined ? "ok" : "failed";
  span.setAttributes({
    ...metricAttributes(subject, code),
    "connecta.request.id": requestId,
    "connecta.outcome": outcome,
    ...(subject.kind === "call" && { "connecta.attempts": subject.attempts }),
  });
  if (code !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
  const tool = subject.kind === "request" || subject.kind === "call" ? subject.tool : undefined;
  if (tool === undefined) return;
  const shown = clampUtf8(tool, LIMITS.nameBytes.value);
  span.setAttribute(TOOL, shown);
  span.updateName(`${NAMES[subject.kind]} ${shown}`);
}

/** Few enough values that each can have a time series: a catalog's tools may be thousands. */
function metricAttributes(subject: Subject, code: FailureCode | undefined): Attributes {
  const error = code === undefined ? {} : { "error.type": code };
  switch (subject.kind) {
    case "request":
      return { ...METHOD, [TOOL]: subject.tool, ...error };
    case "run":
      return error;
    case "call": {
      const connector = subject.connector === undefined ? {} : { [CONNECTOR]: subject.connector };
      return {
        "gen_ai.operation.name": METHOD["gen_ai.operation.name"],
        [SOURCE]: subject.source,
        ...connector,
        ...error,
      };
    }
    case "load":
      return { [CONNECTOR]: subject.connector, ...error };
  }
}

function instrumentsOf(meter: Meter): Instruments {
  const duration = (name: string, description: string) =>
    meter.createHistogram(name, {
      description,
      unit: "s",
      advice: { explicitBucketBoundaries: SECONDS },
    });
  return {
    request: duration("mcp.server.operation.duration", "Requests of the seven tools."),
    run: duration("connecta.run.duration", "Programs, from the request to what came of them."),
    call: duration("connecta.call.duration", "Calls of connectors, from address to value."),
    load: duration("connecta.catalog.load.duration", "Loads of a connector's tool list."),
    wait: duration("connecta.admission.wait", "Waits for a place that was given."),
    refusals: meter.createCounter("connecta.admission.refusals", {
      description: "Places that were refused.",
      unit: "{refusal}",
    }),
  };
}
