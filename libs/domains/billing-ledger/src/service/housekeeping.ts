import { MINUTE_MS, type Clock } from '@gateway/base';
import { createRecurring, type Logger } from '@gateway/runtime';
import type { ClaimStore, LedgerHistory, LedgerStore } from '../core/ports';
import type { LedgerMetrics } from './metrics';

/** Rows that one round of one duty may touch before it lets others at the tables. */
const ROUND_LIMIT = 200;
/** How often the tables of the past and the time ahead are looked at. There is a month to do it in. */
const HISTORY_INTERVAL_MS = 10 * MINUTE_MS;

export interface HousekeepingPorts {
  readonly store: LedgerStore;
  readonly claims: ClaimStore;
  readonly history: LedgerHistory;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: LedgerMetrics;
  readonly intervalMs: number;
}

export interface Housekeeping {
  /** Resolves once the tables of the present are there, or could not be made. */
  start(): Promise<void>;
  /** Waits for the round under way. */
  stop(): Promise<void>;
}

/** Voids overdue holds, forgets what is old and measures what is open, every so often and in bounded rounds. */
export function createHousekeeping(options: HousekeepingPorts): Housekeeping {
  const { store, claims, history, clock, log, metrics, intervalMs } = options;
  const recurring = createRecurring(round, intervalMs);
  let stopped = false;
  let historyDueUnixMs = 0;

  async function round(): Promise<void> {
    try {
      const voided = await untilDone(() => store.voidOverdueHolds(ROUND_LIMIT));
      metrics.voided('reaper', voided);
      if (voided > 0) log.warn({ holds: voided }, 'voided holds past their deadline');
      metrics.claimsTrimmed(await untilDone(() => claims.trimClaims(ROUND_LIMIT)));
      await keepHistory();
    } catch (error) {
      log.error({ err: error }, 'housekeeping failed; it is tried again');
    }
    await measure();
  }

  /** Whatever became of the rest: what could not be voided is what has to show. */
  async function measure(): Promise<void> {
    try {
      metrics.holdsOpen(await store.readHealth(), clock.now());
    } catch (error) {
      log.error({ err: error }, 'open holds could not be counted; it is tried again');
    }
  }

  async function keepHistory(): Promise<void> {
    if (clock.now() < historyDueUnixMs) return;
    historyDueUnixMs = clock.now() + HISTORY_INTERVAL_MS;
    try {
      await history.prepare();
      const tables = await history.forget();
      if (tables > 0) log.info({ tables }, 'forgot closed holds past their retention');
    } catch (error) {
      log.warn({ err: error }, 'the tables of the past could not be changed; it is tried again');
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
    async start() {
      await keepHistory();
      recurring.start();
    },
    stop() {
      stopped = true;
      return recurring.stop();
    },
  };
}
