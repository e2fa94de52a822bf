import type { Clock } from '@gateway/base';
import {
  createDeadLetterService,
  type WatchedEventLog,
  READERS_OF_SETTLED,
  UnprocessableEventsError,
  type LoggedEvent,
  type Unprocessable,
} from '@gateway/events';
import type { GatewayModule } from '@gateway/module';
import type { Logger } from '@gateway/runtime';
import type { Registry } from 'prom-client';
import type { SettlementStore, UsageReconciler } from '../../core/ports';
import type { ToldHour } from '../../core/reconciliation/settled-window';
import type { SettledGeneration } from '../../core/settled-generation';
import { decodeEvent } from './messages';
import { createUsageAggregatorMetrics } from './metrics';
import { createReconciliation } from './reconciliation';
import { createUpkeep } from './upkeep';

export interface UsageAggregatorPorts {
  readonly store: SettlementStore;
  readonly reconciler: UsageReconciler;
  /** Whose lag and dead letters are served, for the group of this module. */
  readonly events?: WatchedEventLog;
  readonly clock: Clock;
  readonly metrics: Registry;
  readonly log?: Logger;
  /** Generations are kept for so many days, and up to a month longer; absent: for ever. */
  readonly retentionDays?: number | undefined;
  /** How often what the ledger told is compared, in milliseconds. Default a minute. */
  readonly reconciliationIntervalMs?: number;
}

const NAME = 'usage-aggregator';
const DEFAULT_RECONCILIATION_INTERVAL_MS = 60_000;

/** The write side: stores what was settled, so that it can be looked up and added up, and compares it with the ledger. */
export function createUsageAggregatorModule(ports: UsageAggregatorPorts): GatewayModule {
  const { store, reconciler, clock, log } = ports;
  const metrics = createUsageAggregatorMetrics(ports.metrics);
  const upkeep = createUpkeep({ tables: store, clock, log, retentionDays: ports.retentionDays });
  const reconciliation = createReconciliation({
    reconciler,
    clock,
    log,
    metrics,
    intervalMs: ports.reconciliationIntervalMs ?? DEFAULT_RECONCILIATION_INTERVAL_MS,
  });

  async function handle(events: readonly LoggedEvent[]): Promise<void> {
    const { generations, told, unprocessable } = decodeAll(events);
    const recorded = await store.record(generations);
    metrics.recorded(recorded);
    metrics.duplicates(generations.length - recorded);
    const now = clock.now();
    for (const { settledAt } of generations) metrics.visibleAfter(now - settledAt);
    // After the generations: what the ledger tells comes behind those that it is about.
    await reconciler.keep(told);
    // The good ones are stored by now; delivered once more, they change nothing.
    if (unprocessable.length > 0) throw new UnprocessableEventsError(unprocessable);
  }

  const consumers = [{ ...READERS_OF_SETTLED, handle }];

  return {
    name: NAME,
    services: ports.events ? [createDeadLetterService(ports.events, consumers)] : [],
    consumers,
    async start() {
      reconciliation.start();
      await upkeep.start();
    },
    async stop() {
      await Promise.all([upkeep.stop(), reconciliation.stop()]);
    },
  };
}

function decodeAll(events: readonly LoggedEvent[]) {
  const generations: SettledGeneration[] = [];
  const told: ToldHour[] = [];
  const unprocessable: Unprocessable[] = [];
  for (const event of events) {
    try {
      const decoded = decodeEvent(event.payload);
      if (decoded.kind === 'generation') generations.push(decoded.generation);
      else told.push(...decoded.told);
    } catch (error) {
      unprocessable.push({ event, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  return { generations, told, unprocessable };
}
