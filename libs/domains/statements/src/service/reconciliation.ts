import { createChangeTracker, type Clock } from '@gateway/base';
import { createPeriodicTask, type Logger, type PeriodicTask } from '@gateway/runtime';
import { DIFFERENCE_KINDS, type Difference, type LedgerReconciler } from '../core/ports';
import { renderWindow } from './messages';
import type { ReconciliationMetrics } from './metrics';

/** Limits the cost of a run, however many organizations there are. */
const MAX_ORGANIZATIONS_PER_RUN = 500;
/** Another process may have run since. */
const MAX_AGE_RUNS = 3;

export interface ReconciliationPorts {
  readonly reconciler: LedgerReconciler;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: ReconciliationMetrics;
  readonly intervalMs: number;
}

export interface Reconciliation extends PeriodicTask {
  /** One run. Does nothing while another process is running it. */
  run(): Promise<void>;
  /** The number of differences that this process found last; 0 when another process has run since. */
  differences(): number;
}

/** Periodically compares some organizations with their postings and announces their settlement windows. */
export function createReconciliation(options: ReconciliationPorts): Reconciliation {
  const { reconciler, clock, log, metrics, intervalMs } = options;
  const changesTo = createChangeTracker(nameOf);
  let latest = { differences: 0, at: clock.now() };

  async function run(): Promise<void> {
    try {
      const found = await reconciler.reconcile(MAX_ORGANIZATIONS_PER_RUN);
      if (!found) return;
      const { organizations, reconciledUntilUnixMs, differences } = found;
      metrics.windowsAnnounced(await reconciler.announceWindows(MAX_ORGANIZATIONS_PER_RUN, renderWindow));
      metrics.reconciled({ organizations, ranUnixMs: clock.now(), reconciledUntilUnixMs });
      for (const kind of DIFFERENCE_KINDS) {
        metrics.differences(kind, differences.filter((difference) => difference.kind === kind).length);
      }
      latest = { differences: differences.length, at: clock.now() };
      report(differences);
    } catch (error) {
      log.error({ err: error }, 'ledger reconciliation failed; retrying in the next run');
    }
  }

  function report(differences: readonly Difference[]): void {
    const { appeared, gone } = changesTo(differences);
    for (const { organizationId, kind, generationId, expectedNanoUsd, foundNanoUsd } of appeared) {
      log.error(
        {
          organizationId,
          kind,
          generationId,
          expectedNanoUsd: String(expectedNanoUsd),
          foundNanoUsd: String(foundNanoUsd),
        },
        'ledger balances do not match the postings',
      );
    }
    for (const difference of gone) log.info({ difference }, 'ledger balances match the postings again');
  }

  return {
    ...createPeriodicTask(run, intervalMs),
    run,
    differences: () => (clock.now() - latest.at < MAX_AGE_RUNS * intervalMs ? latest.differences : 0),
  };
}

function nameOf({ organizationId, kind, generationId }: Difference): string {
  return `${organizationId} ${kind} ${generationId ?? ''}`;
}
