import { MINUTE_MS, type Clock } from '@gateway/base';
import { createPeriodicTask, type Logger } from '@gateway/runtime';
import type { ClaimStore, LedgerHistory, LedgerStore } from '../core/ports';
import type { LedgerMetrics } from './metrics';

/** Rows per statement, so that no lock is held for long. */
const MAX_ROWS = 200;
/** Partitions are created a month ahead, so this need not be frequent. */
const PARTITION_INTERVAL_MS = 10 * MINUTE_MS;

export interface LedgerMaintenancePorts {
  readonly store: LedgerStore;
  readonly claims: ClaimStore;
  readonly history: LedgerHistory;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: LedgerMetrics;
  readonly intervalMs: number;
}

export interface LedgerMaintenance {
  /** Resolves once the current partitions exist, or could not be created. */
  start(): Promise<void>;
  /** Waits for the round in progress. */
  stop(): Promise<void>;
}

/** Periodically voids overdue holds, deletes expired rows and partitions, and measures open holds. */
export function createLedgerMaintenance(options: LedgerMaintenancePorts): LedgerMaintenance {
  const { store, claims, history, clock, log, metrics, intervalMs } = options;
  const recurring = createPeriodicTask(round, intervalMs);
  let stopped = false;
  let partitionsDueUnixMs = 0;

  async function round(): Promise<void> {
    try {
      const voided = await untilDone(() => store.voidOverdueHolds(MAX_ROWS));
      metrics.voided('reaper', voided);
      if (voided > 0) log.warn({ holds: voided }, 'voided overdue holds');
      metrics.claimsDeleted(await untilDone(() => claims.deleteExpiredClaims(MAX_ROWS)));
      await maintainPartitions();
    } catch (error) {
      log.error({ err: error }, 'ledger maintenance failed; retrying in the next round');
    }
    await measure();
  }

  /** Runs also after an error, so that overdue holds show in the metrics. */
  async function measure(): Promise<void> {
    try {
      metrics.holdsOpen(await store.readHealth(), clock.now());
    } catch (error) {
      log.error({ err: error }, 'counting open holds failed; retrying in the next round');
    }
  }

  async function maintainPartitions(): Promise<void> {
    if (clock.now() < partitionsDueUnixMs) return;
    partitionsDueUnixMs = clock.now() + PARTITION_INTERVAL_MS;
    try {
      await history.prepare();
      const partitions = await history.dropExpired();
      if (partitions > 0) log.info({ partitions }, 'dropped closed holds past their retention');
      const runs = await untilDone(() => history.deleteOldRuns(MAX_ROWS));
      if (runs > 0) log.info({ runs }, 'deleted runs whose holds were dropped');
      const hours = await untilDone(() => history.deleteOldBudgetHours(MAX_ROWS));
      if (hours > 0) log.info({ hours }, 'deleted hours of budgets that no rolling window reaches');
    } catch (error) {
      log.warn({ err: error }, 'creating or dropping partitions failed; retrying later');
    }
  }

  async function untilDone(task: () => Promise<number>): Promise<number> {
    let total = 0;
    for (;;) {
      const done = await task();
      total += done;
      if (done < MAX_ROWS || stopped) return total;
    }
  }

  return {
    async start() {
      await maintainPartitions();
      recurring.start();
    },
    stop() {
      stopped = true;
      return recurring.stop();
    },
  };
}
