import {
  context,
  metrics,
  propagation,
  trace,
  type Context,
  type TextMapGetter,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type MetricData,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from "@opentelemetry/sdk-trace-base";

/** An SDK as a deployment would install it, with everything exported kept in memory. */
export interface Installed {
  spans(): ReadableSpan[];
  metrics(): Promise<readonly MetricData[]>;
  /** Forgets what was exported. */
  reset(): void;
  remove(): Promise<void>;
}

/** Longer than any test: exports happen when they are asked for. */
const NEVER_MS = 2 ** 30;

/** Installs an SDK for everything in this process; remove it when done. */
export function installSdk(): Installed {
  const spanExporter = new InMemorySpanExporter();
  const tracing = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(spanExporter)],
  });
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: NEVER_MS,
  });
  const metering = new MeterProvider({ readers: [reader] });
  trace.setGlobalTracerProvider(tracing);
  metrics.setGlobalMeterProvider(metering);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(traceParent);
  return {
    spans: () => spanExporter.getFinishedSpans(),
    async metrics() {
      metricExporter.reset();
      await reader.forceFlush();
      return metricExporter
        .getMetrics()
        .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
    },
    reset: () => spanExporter.reset(),
    async remove() {
      trace.disable();
      metrics.disable();
      context.disable();
      propagation.disable();
      await Promise.all([tracing.shutdown(), metering.shutdown()]);
    },
  };
}

/** Reads `traceparent` and, so that a test can see who takes it over, `baggage`. */
const traceParent = {
  inject: () => undefined,
  fields: () => ["traceparent", "baggage"],
  extract<Carrier>(parent: Context, carrier: Carrier, getter: TextMapGetter<Carrier>): Context {
    const [, traceId = "", spanId = "", flags = ""] = String(
      getter.get(carrier, "traceparent"),
    ).split("-");
    const extracted = trace.setSpanContext(parent, {
      traceId,
      spanId,
      traceFlags: Number.parseInt(flags, 16),
      isRemote: true,
    });
    const said = getter.get(carrier, "baggage");
    if (typeof said !== "string") return extracted;
    return propagation.setBaggage(extracted, propagation.createBaggage({ said: { value: said } }));
  },
};
