import { tracing, type Span } from '@gateway/telemetry';
import { Histogram, type HistogramConfiguration, type Registry } from 'prom-client';
import { createTalliedHistogram } from './tallies';

/** The part of a span that an exemplar needs. */
export type ExemplarOf = Pick<Span, 'traceId' | 'isSampled'>;

export interface BoundLatency {
  /** @param of whose time it is; the span that is current when absent. */
  observe(seconds: number, of?: ExemplarOf): void;
}

export interface LatencyHistogram<Label extends string> {
  /** To be bound once and kept. */
  labels(labels: Readonly<Record<Label, string>>): BoundLatency;
}

/**
 * A histogram of times that, while traces are recorded, names one of them for each
 * bucket: an exemplar, which those who ask for OpenMetrics get.
 */
export function createLatencyHistogram<Label extends string = never>(
  configuration: HistogramConfiguration<Label> & {
    readonly buckets: number[];
    readonly registers: Registry[];
  },
): LatencyHistogram<Label> {
  if (tracing() === undefined) return createTalliedHistogram<Label>(configuration);
  // prom-client refuses exemplars to a registry of Prometheus text, which leaves them out by itself.
  const histogram = new Histogram<Label>({ ...configuration, registers: [], enableExemplars: true });
  for (const registry of configuration.registers) registry.registerMetric(histogram);
  return {
    labels: (labels) => ({
      observe(value, of = tracing()?.current()) {
        // prom-client calls the labels of an exemplar by those of the metric.
        const exemplarLabels = (of?.isSampled ? { trace_id: of.traceId } : {}) as object;
        histogram.observe({ labels, value, exemplarLabels });
      },
    }),
  };
}
