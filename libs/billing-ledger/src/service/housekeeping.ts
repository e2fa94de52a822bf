import type { Logger } from '@gateway/runtime';
import type { ClaimStore, LedgerStore } from '../core/ports';
import type { LedgerMetrics } from './metrics';

/** Rows that one round of one duty may touch before it lets others at the tables. */
const ROUND_LIMIT = 200;

export interface HousekeepingPorts {
  readonly store: LedgerStore;
  readonly claims: ClaimStore;
  readonly log: Logger;
  readonly metrics: LedgerMetrics;
  readonly intervalMs: number;
}

export interface Housekeeping {
  start(): void;
  /** Waits for the round under way. */
  stop(): Promise<void>;
}

/** Voids overdue holds and forgets old claims, every so often and in bounded rounds. */
export function createHousekeeping(options: HousekeepingPorts): Housekeeping {
  const { store, claims, log, metrics, intervalMs } = options;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let underWay: Promise<void> = Promise.resolve();

  function schedule(): void {
    if (stopped) return;
    timer = setTimeout(() => {
      underWay = round().finally(schedule);
    }, intervalMs);
    timer.unref();
  }

  async function round(): Promise<void> {
    try {
      const voided = await untilDone(() => store.voidOverdueHolds(ROUND_LIMIT));
      metrics.voided('reaper', voided);
      if (voided > 0) log.warn({ holds: voided }, 'voided holds past their deadline');
      metrics.claimsTrimmed(await untilDone(() => claims.trimClaims(ROUND_LIMIT)));
    } catch (error) {
      log.error({ err: error }, 'housekeeping failed; it is tried again');
    }
  }

  async function untilDone(duty: () => Promise<number>): Promise<number> {
    let total = 0;
    for (;;) {
      const done = await duty();
      total += done;
      if (done < ROUND_LIMIT || stopped) return total;
    }
  }

  return {
    start: schedule,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await underWay;
    },
  };
}
