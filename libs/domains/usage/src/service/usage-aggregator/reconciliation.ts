import { createChangeTracker, type Clock } from '@gateway/base';
import { createRecurring, type Logger, type Recurring } from '@gateway/runtime';
import type { ReconciliationRun, UsageReconciler } from '../../core/ports';
import type { Difference, Sums } from '../../core/reconciliation/compare';
import type { ReconciliationMetrics } from './metrics';

/** Hours of an organization that one run compares. */
const MAX_HOURS_PER_RUN = 2_000;

export interface ReconciliationPorts {
  readonly reconciler: UsageReconciler;
  readonly clock: Clock;
  readonly log: Logger | undefined;
  readonly metrics: ReconciliationMetrics;
  readonly intervalMs: number;
}

export interface Reconciliation extends Recurring {
  /** One run; another process may be at it, then nothing is done. */
  run(): Promise<void>;
}

/** Compares what is kept here with what the ledger says that it settled, every so often and a part at a time. */
export function createReconciliation(options: ReconciliationPorts): Reconciliation {
  const { reconciler, clock, log, metrics, intervalMs } = options;
  const changesTo = createChangeTracker(nameOf);

  async function run(): Promise<void> {
    try {
      const found = await reconciler.reconcile(MAX_HOURS_PER_RUN);
      if (!found) return;
      metrics.reconciled(found, clock.now());
      report(found);
    } catch (error) {
      log?.error({ err: error }, 'usage could not be reconciled; it is tried again');
    }
  }

  function report({ differences }: ReconciliationRun): void {
    const { appeared, gone } = changesTo(differences);
    for (const { organizationId, kind, startsUnixMs, expected, found } of appeared) {
      log?.error(
        {
          organizationId,
          kind,
          starts: new Date(startsUnixMs).toISOString(),
          expected: readable(expected),
          found: readable(found),
        },
        kind === 'settlements'
          ? 'usage does not agree with what the ledger settled'
          : 'sums of usage do not agree with what they are the sums of',
      );
    }
    for (const difference of gone) log?.info({ difference }, 'usage agrees again');
  }

  return { ...createRecurring(run, intervalMs), run };
}

function nameOf({ organizationId, kind, startsUnixMs, fromUnixMs }: Difference): string {
  return `${organizationId} ${kind} ${startsUnixMs} ${fromUnixMs}`;
}

function readable({ generations, costNanoUsd, chargedNanoUsd }: Sums) {
  return {
    generations: String(generations),
    costNanoUsd: String(costNanoUsd),
    chargedNanoUsd: String(chargedNanoUsd),
  };
}
