import { createChangeTracker, type Clock } from '@gateway/base';
import { createPeriodicTask, type Logger, type PeriodicTask } from '@gateway/runtime';
import type { ReconciliationRun, UsageReconciler } from '../../core/ports';
import type { Difference, Sums } from '../../core/reconciliation/compare';
import type { ReconciliationMetrics } from './metrics';

const MAX_HOURS_PER_RUN = 2_000;
/** Another process may have run since. */
const MAX_AGE_RUNS = 3;

export interface ReconciliationPorts {
  readonly reconciler: UsageReconciler;
  readonly clock: Clock;
  readonly log: Logger | undefined;
  readonly metrics: ReconciliationMetrics;
  readonly intervalMs: number;
}

export interface Reconciliation extends PeriodicTask {
  /** One run. Does nothing while another process is running it. */
  run(): Promise<void>;
  /** The number of differences that this process found last; 0 when another process has run since. */
  differences(): number;
}

/** Periodically compares some of the stored usage with the ledger's settlements. */
export function createReconciliation(options: ReconciliationPorts): Reconciliation {
  const { reconciler, clock, log, metrics, intervalMs } = options;
  const changesTo = createChangeTracker(nameOf);
  let latest = { differences: 0, at: clock.now() };

  async function run(): Promise<void> {
    try {
      const found = await reconciler.reconcile(MAX_HOURS_PER_RUN);
      if (!found) return;
      metrics.reconciled(found, clock.now());
      latest = { differences: found.differences.length, at: clock.now() };
      report(found);
    } catch (error) {
      log?.error({ err: error }, 'usage reconciliation failed; retrying in the next run');
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
          ? 'usage does not match the settlements of the ledger'
          : 'usage sums do not match their rows',
      );
    }
    for (const difference of gone) log?.info({ difference }, 'usage matches again');
  }

  return {
    ...createPeriodicTask(run, intervalMs),
    run,
    differences: () => (clock.now() - latest.at < MAX_AGE_RUNS * intervalMs ? latest.differences : 0),
  };
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
