import { nanoUsd, type Clock, type UnixMs } from '@gateway/base';
import type { TransactionalAppender } from '@gateway/events';
import type { Pool, PoolClient } from 'pg';
import { NO_BALANCE } from '../../core/credit/balance';
import type { LedgerStore } from '../../core/ports';
import { addCredit } from './add-credit';
import { extendHolds } from './extend-holds';
import { holdCredit } from './hold-credit';
import { withRetries } from './retry';
import { settleGenerations } from './settle-generations';
import { voidHolds, voidOverdueHolds } from './void-holds';

export interface PostgresLedgerStoreOptions {
  /** Connects to the schema billing_ledger. The caller ends it. */
  readonly pool: Pool;
  /** Appends in this pool's transactions: the event log or its outbox is in the same database. */
  readonly appender: TransactionalAppender<PoolClient>;
  /** The time of settlements, which their announcements carry. */
  readonly clock: Clock;
}

const READ_BALANCE = `
  select credited_nano_usd, charged_nano_usd, held_nano_usd, available_nano_usd
  from accounts where organization_id = $1`;

const READ_RUN = `
  select budget_nano_usd, spent_nano_usd, held_nano_usd, created_unix_ms
  from runs where organization_id = $1 and run_id = $2`;

const HEALTH = `
  select count(*) as open, coalesce(sum(amount_nano_usd), 0)::bigint as held, min(created_unix_ms) as oldest,
         count(*) filter (where deadline_unix_ms < (select now_unix_ms())) as overdue
  from open_holds`;

interface BalanceRow {
  readonly credited_nano_usd: bigint;
  readonly charged_nano_usd: bigint;
  readonly held_nano_usd: bigint;
  readonly available_nano_usd: bigint;
}

interface RunRow {
  readonly budget_nano_usd: bigint;
  readonly spent_nano_usd: bigint;
  readonly held_nano_usd: bigint;
  readonly created_unix_ms: bigint;
}

interface HealthRow {
  readonly open: bigint;
  readonly held: bigint;
  readonly oldest: bigint | null;
  readonly overdue: bigint;
}

/** The ledger in PostgreSQL. SQL functions move the money, one batch per call. */
export function createPostgresLedgerStore({
  pool,
  appender,
  clock,
}: PostgresLedgerStoreOptions): LedgerStore {
  return {
    holdCredit: (holds) => withRetries(() => holdCredit(pool, holds)),
    extendHolds: (holds) => withRetries(() => extendHolds(pool, holds)),
    voidHolds: (holds) => withRetries(() => voidHolds(pool, holds)),
    voidOverdueHolds: (limit) => withRetries(() => voidOverdueHolds(pool, limit)),
    addCredit: (credit, audit) => withRetries(() => addCredit(pool, credit, audit)),

    settleGenerations: (generations, announce, progress) =>
      withRetries(() =>
        settleGenerations(pool, { generations, announce, progress, appender, nowUnixMs: clock.now() }),
      ),

    readBalance: (organizationId) =>
      withRetries(async () => {
        const { rows } = await pool.query<BalanceRow>({
          name: 'billing_ledger.read_balance',
          text: READ_BALANCE,
          values: [organizationId],
        });
        const [account] = rows;
        if (!account) return NO_BALANCE;
        return {
          creditedNanoUsd: nanoUsd(account.credited_nano_usd),
          chargedNanoUsd: nanoUsd(account.charged_nano_usd),
          heldNanoUsd: nanoUsd(account.held_nano_usd),
          availableNanoUsd: nanoUsd(account.available_nano_usd),
        };
      }),

    readRun: (organizationId, runId) =>
      withRetries(async () => {
        const { rows } = await pool.query<RunRow>({
          name: 'billing_ledger.read_run',
          text: READ_RUN,
          values: [organizationId, runId],
        });
        const [run] = rows;
        return (
          run && {
            budgetNanoUsd: nanoUsd(run.budget_nano_usd),
            spentNanoUsd: nanoUsd(run.spent_nano_usd),
            heldNanoUsd: nanoUsd(run.held_nano_usd),
            createdAt: Number(run.created_unix_ms) as UnixMs,
          }
        );
      }),

    readHealth: () =>
      withRetries(async () => {
        const { rows } = await pool.query<HealthRow>(HEALTH);
        const [row] = rows;
        if (!row) throw new Error('counting open holds returned no row');
        return {
          openHolds: row.open,
          heldNanoUsd: row.held,
          oldestHold: row.oldest === null ? undefined : (Number(row.oldest) as UnixMs),
          overdueHolds: row.overdue,
        };
      }),
  };
}
