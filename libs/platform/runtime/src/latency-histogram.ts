import { tracing, type Span } from '@gateway/telemetry';
import { Histogram, type HistogramConfiguration } from 'prom-client';

/** The part of a span that an exemplar needs. */
export type ExemplarOf = Pick<Span, 'traceId' | 'isSampled'>;

export interface BoundLatency {
  /** @param of the span that is measured; the current span when absent. */
  observe(seconds: number, of?: ExemplarOf): void;
}

export interface LatencyHistogram<Label extends string> {
  /** To be bound once and kept. */
  labels(labels: Readonly<Record<Label, string>>): BoundLatency;
}

/**
 * A histogram of times. While traces are recorded, each bucket has the trace of
 * its latest observation as its exemplar, which only OpenMetrics shows.
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
