import type { Clock } from '@gateway/base';
import { createReconciliation, type Reconciliation } from '@gateway/module';
import type { Logger } from '@gateway/runtime';
import { DIFFERENCE_KINDS, type LedgerReconciler } from '../core/ports';
import { renderWindow } from './messages';
import type { ReconciliationMetrics } from './metrics';

/** Limits the cost of a run, however many organizations there are. */
const MAX_ORGANIZATIONS_PER_RUN = 500;

export interface LedgerReconciliationPorts {
  readonly reconciler: LedgerReconciler;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: ReconciliationMetrics;
  readonly intervalMs: number;
}

/** Periodically compares some organizations with their postings and announces their settlement windows. */
export function createLedgerReconciliation(ports: LedgerReconciliationPorts): Reconciliation {
  const { reconciler, clock, metrics } = ports;
  return createReconciliation({
    ...ports,
    what: 'ledger',
    async compare() {
      const found = await reconciler.reconcile(MAX_ORGANIZATIONS_PER_RUN);
      if (!found) return undefined;
      const { organizations, reconciledUntil, differences } = found;
      metrics.windowsAnnounced(await reconciler.announceWindows(MAX_ORGANIZATIONS_PER_RUN, renderWindow));
      metrics.reconciled({ organizations, ranAt: clock.now(), reconciledUntil });
      for (const kind of DIFFERENCE_KINDS) {
        metrics.differences(kind, differences.filter((difference) => difference.kind === kind).length);
      }
      return differences;
    },
    nameOf: ({ organizationId, kind, generationId }) => `${organizationId} ${kind} ${generationId ?? ''}`,
    describe: ({ expectedNanoUsd, foundNanoUsd, ...subject }) => [
      { ...subject, expectedNanoUsd: String(expectedNanoUsd), foundNanoUsd: String(foundNanoUsd) },
      'ledger balances do not match the postings',
    ],
  });
}
