import type { Clock } from '@gateway/base';
import { createReconciliation, type Reconciliation } from '@gateway/module';
import type { Logger } from '@gateway/runtime';
import type { UsageReconciler } from '../../core/ports';
import type { Sums } from '../../core/reconciliation/compare';
import type { ReconciliationMetrics } from './metrics';

const MAX_HOURS_PER_RUN = 2_000;

export interface UsageReconciliationPorts {
  readonly reconciler: UsageReconciler;
  readonly clock: Clock;
  readonly log: Logger | undefined;
  readonly metrics: ReconciliationMetrics;
  readonly intervalMs: number;
}

/** Periodically compares some of the stored usage with the ledger's settlements. */
export function createUsageReconciliation(ports: UsageReconciliationPorts): Reconciliation {
  const { reconciler, clock, metrics } = ports;
  return createReconciliation({
    ...ports,
    what: 'usage',
    async compare() {
      const found = await reconciler.reconcile(MAX_HOURS_PER_RUN);
      if (found) metrics.reconciled(found, clock.now());
      return found?.differences;
    },
    nameOf: ({ organizationId, kind, startsAt, from }) => `${organizationId} ${kind} ${startsAt} ${from}`,
    describe: ({ organizationId, kind, startsAt, expected, found }) => [
      {
        organizationId,
        kind,
        starts: new Date(startsAt).toISOString(),
        expected: readable(expected),
        found: readable(found),
      },
      kind === 'settlements'
        ? 'usage does not match the settlements of the ledger'
        : 'usage sums do not match their rows',
    ],
  });
}

function readable({ generations, costNanoUsd, chargedNanoUsd }: Sums) {
  return {
    generations: String(generations),
    costNanoUsd: String(costNanoUsd),
    chargedNanoUsd: String(chargedNanoUsd),
  };
}
