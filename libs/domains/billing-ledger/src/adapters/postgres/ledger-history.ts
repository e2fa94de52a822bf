import type { Clock } from '@gateway/base';
import { dropPartitions, createPartitions, type PartitionedTable } from '@gateway/database';
import { smallestIdAt } from '@gateway/runtime';
import type { Pool } from 'pg';
import { CLOSED_HOLD_RETENTION_MS } from '../../core/limits';
import type { LedgerHistory } from '../../core/ports';
import { BILLING_LEDGER_SCHEMA } from './sql/schema';

export interface PostgresLedgerHistoryOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly schema?: string;
  /** How long closed holds are stored. Default 90 days. */
  readonly closedHoldRetentionMs?: number;
}

/** Partitions created before their month starts. */
const MONTHS_AHEAD = 1;

/** Never lowered, so a deleted hold stays deleted. */
const RAISE_OLDEST_RETAINED = `
  update closed_hold_retention set
    oldest_retained_hold_id = greatest(oldest_retained_hold_id, $1),
    oldest_retained_unix_ms = greatest(oldest_retained_unix_ms, $2)`;

const DELETE_OLD_RUNS = 'select delete_old_runs($1) as deleted';
const DELETE_OLD_BUDGET_HOURS = 'select delete_old_budget_hours($1) as deleted';

/** Partitions postings and closed holds by month. Their keys are generation ids, which sort by creation time. */
export function createPostgresLedgerHistory({
  pool,
  clock,
  schema = BILLING_LEDGER_SCHEMA,
  closedHoldRetentionMs = CLOSED_HOLD_RETENTION_MS,
}: PostgresLedgerHistoryOptions): LedgerHistory {
  const smallestKeyAt = (unixMs: number) => smallestIdAt('gen', unixMs);
  const postings: PartitionedTable = {
    schema,
    table: 'postings',
    key: 'reference',
    period: 'month',
    smallestKeyAt,
  };
  const closedHolds: PartitionedTable = { ...postings, table: 'closed_holds', key: 'hold_id' };

  async function deleted(statement: string, limit: number): Promise<number> {
    const { rows } = await pool.query<{ deleted: bigint }>(statement, [limit]);
    return Number(rows[0]?.deleted ?? 0);
  }

  return {
    async prepare() {
      const wanted = { nowUnixMs: clock.now(), ahead: MONTHS_AHEAD };
      await createPartitions(pool, postings, wanted);
      await createPartitions(pool, closedHolds, wanted);
    },

    dropExpired: () =>
      dropPartitions(pool, closedHolds, {
        untilUnixMs: clock.now() - closedHoldRetentionMs,
        async mayDrop(client, { untilUnixMs }) {
          await client.query(RAISE_OLDEST_RETAINED, [smallestKeyAt(untilUnixMs), untilUnixMs]);
          return true;
        },
      }),

    deleteOldRuns: (limit) => deleted(DELETE_OLD_RUNS, limit),
    deleteOldBudgetHours: (limit) => deleted(DELETE_OLD_BUDGET_HOURS, limit),
  };
}
