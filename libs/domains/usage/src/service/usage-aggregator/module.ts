import { createAuditService } from '@gateway/audit';
import type { Clock, ConsumerProgress } from '@gateway/base';
import { UsageAggregatorDefinition } from '@gateway/contracts/usage-aggregator';
import { isDatabaseUnavailable } from '@gateway/database';
import { handlersUnavailableAsNoCapacity } from '@gateway/errors';
import {
  createDeadLetterService,
  deadLetterIncidents,
  type InspectableEventLog,
  SETTLED_CONSUMER_GROUP,
  UnprocessableEventsError,
  type LoggedEvent,
  type Unprocessable,
} from '@gateway/events';
import type { GatewayModule } from '@gateway/module';
import { bindService } from '@gateway/rpc';
import type { Logger } from '@gateway/runtime';
import type { Registry } from 'prom-client';
import type { RefusalStore, SettlementStore, UsageReconciler } from '../../core/ports';
import type { AnnouncedHour } from '../../core/reconciliation/settled-window';
import type { StoredGeneration } from '../../core/settled-generation';
import { createUsageAggregatorHandlers } from './handlers';
import { decodeEvent } from './messages';
import { createUsageAggregatorMetrics } from './metrics';
import { createUsageReconciliation } from './reconciliation';
import { createMaintenance } from './maintenance';

export interface UsageAggregatorPorts {
  readonly store: SettlementStore;
  readonly refusals: RefusalStore;
  readonly reconciler: UsageReconciler;
  /** The event log whose lag and dead letters are served, for this module's consumer group. */
  readonly events?: InspectableEventLog;
  readonly clock: Clock;
  readonly metrics: Registry;
  readonly log?: Logger;
  /** Generations are stored for this many days and up to a month longer; if absent, permanently. */
  readonly retentionDays?: number | undefined;
  /** How often announced settlements are compared. Default 60,000. */
  readonly reconciliationIntervalMs?: number;
}

const NAME = 'usage-aggregator';
const DEFAULT_RECONCILIATION_INTERVAL_MS = 60_000;

/** The write side: stores settled generations, refused requests and their sums, and compares usage with the ledger. */
export function createUsageAggregatorModule(ports: UsageAggregatorPorts): GatewayModule {
  const { store, refusals, reconciler, clock, log } = ports;
  const metrics = createUsageAggregatorMetrics(ports.metrics);
  const { retentionDays } = ports;
  const maintenance = createMaintenance({ tables: store, refusals, clock, log, retentionDays });
  const reconciliation = createUsageReconciliation({
    reconciler,
    clock,
    log,
    metrics,
    intervalMs: ports.reconciliationIntervalMs ?? DEFAULT_RECONCILIATION_INTERVAL_MS,
  });

  async function handle(events: readonly LoggedEvent[], progress?: ConsumerProgress): Promise<void> {
    const { generations, announced, unprocessable } = decodeAll(events);
    const isLastEffect = announced.length === 0 && unprocessable.length === 0;
    const recorded = await store.record(generations, isLastEffect ? progress : undefined);
    metrics.recorded(recorded);
    metrics.duplicates(generations.length - recorded);
    const now = clock.now();
    for (const { settledAt } of generations) metrics.visibleAfter(now - settledAt);
    // After the generations, because an announcement follows the settlements that it sums.
    await reconciler.storeAnnounced(announced);
    // The valid events are stored by now; a redelivery does not change them.
    if (unprocessable.length > 0) throw new UnprocessableEventsError(unprocessable);
  }

  const consumers = [{ ...SETTLED_CONSUMER_GROUP, handle }];

  return {
    name: NAME,
    services: [
      bindService(
        UsageAggregatorDefinition,
        handlersUnavailableAsNoCapacity(
          createUsageAggregatorHandlers({ refusals, clock, metrics }),
          isDatabaseUnavailable,
        ),
      ),
      ...(ports.events
        ? [
            createDeadLetterService(ports.events, consumers, clock),
            createAuditService([ports.events.deadLetters.auditEntries]),
          ]
        : []),
    ],
    consumers,
    async incidents() {
      const differences = reconciliation.differences();
      return [
        ...(ports.events ? await deadLetterIncidents(ports.events, consumers) : []),
        ...(differences > 0
          ? [{ cause: 'usage_mismatch' as const, subject: NAME, details: `differences: ${differences}` }]
          : []),
      ];
    },
    async start() {
      reconciliation.start();
      await maintenance.start();
    },
    async stop() {
      await Promise.all([maintenance.stop(), reconciliation.stop()]);
    },
  };
}

function decodeAll(events: readonly LoggedEvent[]) {
  const generations: StoredGeneration[] = [];
  const announced: AnnouncedHour[] = [];
  const unprocessable: Unprocessable[] = [];
  for (const event of events) {
    try {
      const decoded = decodeEvent(event.payload);
      if (decoded.kind === 'generation') generations.push(decoded.generation);
      else announced.push(...decoded.announced);
    } catch (error) {
      unprocessable.push({ event, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  return { generations, announced, unprocessable };
}
