import type { Clock } from '@gateway/base';
import { dropPartitions, makePartitions, type PartitionedTable } from '@gateway/database';
import { leastIdAt } from '@gateway/runtime';
import type { Pool } from 'pg';
import { CLOSED_HOLD_RETENTION_MS } from '../../core/limits';
import type { LedgerHistory } from '../../core/ports';
import { BILLING_LEDGER_SCHEMA } from './sql/schema';

export interface PostgresLedgerHistoryOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly schema?: string;
  /** How long closed holds are known. Default 90 days. */
  readonly closedHoldRetentionMs?: number;
}

/** Partitions that are ready before their month begins. */
const MONTHS_AHEAD = 1;

/** Later calls only ever raise it: what is forgotten stays so. */
const RAISE_FIRST_KEPT = `
  update closed_hold_retention set first_kept_hold_id = greatest(first_kept_hold_id, $1)`;

/** Postings and closed holds by month. Their keys are ids of generations, which sort by the time of their making. */
export function createPostgresLedgerHistory({
  pool,
  clock,
  schema = BILLING_LEDGER_SCHEMA,
  closedHoldRetentionMs = CLOSED_HOLD_RETENTION_MS,
}: PostgresLedgerHistoryOptions): LedgerHistory {
  const leastKeyAt = (unixMs: number) => leastIdAt('gen', unixMs);
  const postings: PartitionedTable = {
    schema,
    table: 'postings',
    key: 'reference',
    period: 'month',
    leastKeyAt,
  };
  const closedHolds: PartitionedTable = { ...postings, table: 'closed_holds', key: 'hold_id' };

  return {
    async prepare() {
      const wanted = { nowUnixMs: clock.now(), ahead: MONTHS_AHEAD };
      await makePartitions(pool, postings, wanted);
      await makePartitions(pool, closedHolds, wanted);
    },

    forget: () =>
      dropPartitions(pool, closedHolds, {
        untilUnixMs: clock.now() - closedHoldRetentionMs,
        async mayDrop(client, { untilUnixMs }) {
          await client.query(RAISE_FIRST_KEPT, [leastKeyAt(untilUnixMs)]);
          return true;
        },
      }),
  };
}
