import type { UnixMs } from '@gateway/base';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ReconciliationRun } from '../../core/ports';
import { DIFFERENCE_KINDS } from '../../core/reconciliation/compare';

const DELAY_BUCKETS_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

export interface ReconciliationMetrics {
  reconciled(run: ReconciliationRun, now: UnixMs): void;
}

/** The metrics of the write side. */
export interface UsageAggregatorMetrics extends ReconciliationMetrics {
  recorded(generations: number): void;
  /** Stored already, or repeated in the batch. */
  duplicates(generations: number): void;
  visibleAfter(ms: number): void;
  refused(requests: bigint): void;
}

export function createUsageAggregatorMetrics(registry: Registry): UsageAggregatorMetrics {
  const registers = [registry];
  const outcomes = new Counter({
    name: 'gateway_usage_aggregator_generations_total',
    help: 'Settled generations received, by outcome: recorded or duplicate',
    labelNames: ['outcome'],
    registers,
  });
  const recorded = outcomes.labels('recorded');
  const duplicates = outcomes.labels('duplicate');
  const delay = new Histogram({
    name: 'gateway_usage_aggregator_visible_delay_seconds',
    help: 'Time from the settlement of a generation until it can be looked up',
    buckets: DELAY_BUCKETS_SECONDS,
    registers,
  });
  const refused = new Counter({
    name: 'gateway_usage_aggregator_refused_requests_total',
    help: 'Refused requests added to usage',
    registers,
  });
  const differing = new Gauge({
    name: 'gateway_usage_aggregator_reconciliation_differences',
    help: 'Hours and days of an organization that do not match, by kind, as of the last run',
    labelNames: ['kind'],
    registers,
  });
  const lastRun = new Gauge({
    name: 'gateway_usage_aggregator_reconciliation_last_run_timestamp_seconds',
    help: 'When this process last compared usage; 0: never',
    registers,
  });
  const comparedUntil = new Gauge({
    name: 'gateway_usage_aggregator_reconciliation_compared_until_timestamp_seconds',
    help: 'Time of the latest settlements that usage was compared with; 0: none yet',
    registers,
  });
  const hours = new Counter({
    name: 'gateway_usage_aggregator_reconciliation_hours_total',
    help: "Hours of an organization compared with the ledger's settlements",
    registers,
  });

  return {
    recorded: (count) => recorded.inc(count),
    duplicates: (count) => duplicates.inc(count),
    refused: (requests) => refused.inc(Number(requests)),
    visibleAfter: (ms) => delay.observe(Math.max(0, ms) / 1_000),
    reconciled(run, now) {
      for (const kind of DIFFERENCE_KINDS) {
        differing.labels(kind).set(run.differences.filter((difference) => difference.kind === kind).length);
      }
      hours.inc(run.hours);
      lastRun.set(now / 1_000);
      comparedUntil.set(run.comparedUntil / 1_000);
    },
  };
}
