import { tracing, type Span } from '@gateway/telemetry';
import { collectDefaultMetrics, Histogram, Registry, type HistogramConfiguration } from 'prom-client';

export { Registry } from 'prom-client';

export interface CreateMetricsOptions {
  /** Labels of every sample, such as `{ process: 'edge-proxy' }`. */
  readonly labels?: Readonly<Record<string, string>>;
  /** CPU, memory, event loop and garbage collection of this process. Defaults to true. */
  readonly processMetrics?: boolean;
}

export interface RenderedMetrics {
  readonly contentType: string;
  readonly text: string;
}

/** The default of 10 wakes an idle process 100 times a second, which takes nearly 1 % of a core. */
const EVENT_LOOP_SAMPLE_MS = 50;

/**
 * The registry of one process. Each module registers instruments named
 * `gateway_<domain>_…` and binds their labels once, at startup.
 */
export function createMetrics({ labels = {}, processMetrics = true }: CreateMetricsOptions = {}): Registry {
  const registry = new Registry();
  // The only format of prom-client with exemplars. The cast drops the format from the registry's type.
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
  registry.setDefaultLabels({ ...labels });
  if (processMetrics) {
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
  }
  return registry;
}

/** Renders OpenMetrics for clients that accept it, else Prometheus text. */
export async function renderMetrics(metrics: Registry, accept: string | undefined): Promise<RenderedMetrics> {
  const text = await metrics.metrics();
  return /\bapplication\/openmetrics-text\b/.test(accept ?? '')
    ? { contentType: Registry.OPENMETRICS_CONTENT_TYPE, text }
    : { contentType: Registry.PROMETHEUS_CONTENT_TYPE, text: prometheusTextOf(text) };
}

/** In Prometheus text, counters are named with their suffix, and there are no exemplars and no end mark. */
function prometheusTextOf(openMetrics: string): string {
  return openMetrics
    .replace(/^# HELP (\S+) (.*)\n# TYPE \1 counter$/gm, '# HELP $1_total $2\n# TYPE $1_total counter')
    .replace(/ # \{trace_id="[0-9a-f]+"\} \S+ \S+$/gm, '')
    .replace(/^# EOF\n$/m, '');
}

/** The fields of a span that an exemplar needs. */
export type ExemplarOf = Pick<Span, 'traceId' | 'isSampled'>;

export interface BoundLatency {
  /** @param of the measured span. Defaults to the current span. */
  observe(seconds: number, of?: ExemplarOf): void;
}

export interface LatencyHistogram<Label extends string> {
  /** Bind labels once and reuse the result. */
  labels(labels: Readonly<Record<Label, string>>): BoundLatency;
}

/**
 * A histogram of durations. While tracing is on, each bucket has the trace of its
 * latest sampled observation as an exemplar, which only OpenMetrics shows.
 */
export function createLatencyHistogram<Label extends string = never>(
  configuration: HistogramConfiguration<Label>,
): LatencyHistogram<Label> {
  if (tracing() === undefined) return new Histogram<Label>(configuration);
  const histogram = new Histogram<Label>({ ...configuration, enableExemplars: true });
  return {
    labels: (labels) => ({
      observe(value, of = tracing()?.current()) {
        // prom-client types the labels of an exemplar as those of the metric.
        const exemplarLabels = (of?.isSampled ? { trace_id: of.traceId } : {}) as object;
        histogram.observe({ labels, value, exemplarLabels });
      },
    }),
  };
}
