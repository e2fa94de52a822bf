import type { Clock } from '@gateway/base';
import type { Logger } from '@gateway/runtime';
import { DIFFERENCE_KINDS, type Difference, type LedgerReconciler } from '../core/ports';
import type { LedgerMetrics } from './metrics';

/** Organizations of one run: what a run costs is bounded, however many there are. */
const MAX_ORGANIZATIONS_PER_RUN = 500;

export interface ReconciliationPorts {
  readonly reconciler: LedgerReconciler;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: LedgerMetrics;
  readonly intervalMs: number;
}

export interface Reconciliation {
  start(): void;
  /** One run; another process may be at it, then nothing is done. */
  run(): Promise<void>;
  /** Waits for the run under way. */
  stop(): Promise<void>;
}

/** Compares the books with the postings, every so often and a part at a time. */
export function createReconciliation(options: ReconciliationPorts): Reconciliation {
  const { reconciler, clock, log, metrics, intervalMs } = options;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let underWay: Promise<void> = Promise.resolve();
  /** Those that were logged, so that one difference is one line and not one a minute. */
  let known = new Set<string>();

  function schedule(): void {
    if (stopped) return;
    timer = setTimeout(() => {
      underWay = run().finally(schedule);
    }, intervalMs);
    timer.unref();
  }

  async function run(): Promise<void> {
    try {
      const found = await reconciler.reconcile(MAX_ORGANIZATIONS_PER_RUN);
      if (!found) return;
      const { organizations, reconciledUntilUnixMs, differences } = found;
      metrics.reconciled({ organizations, ranUnixMs: clock.now(), reconciledUntilUnixMs });
      for (const kind of DIFFERENCE_KINDS) {
        metrics.differences(kind, differences.filter((difference) => difference.kind === kind).length);
      }
      report(differences);
    } catch (error) {
      log.error({ err: error }, 'the ledger could not be reconciled; it is tried again');
    }
  }

  function report(differences: readonly Difference[]): void {
    const names = new Set<string>();
    for (const difference of differences) {
      const { organizationId, kind, generationId, expectedNanoUsd, foundNanoUsd } = difference;
      const name = `${organizationId} ${kind} ${generationId ?? ''}`;
      names.add(name);
      if (known.has(name)) continue;
      log.error(
        {
          organizationId,
          kind,
          generationId,
          expectedNanoUsd: String(expectedNanoUsd),
          foundNanoUsd: String(foundNanoUsd),
        },
        'the books do not agree with the postings',
      );
    }
    for (const name of known) if (!names.has(name)) log.info({ difference: name }, 'the books agree again');
    known = names;
  }

  return {
    start: schedule,
    run,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await underWay;
    },
  };
}
