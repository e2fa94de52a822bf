import { nanoUsd, type Clock } from '@gateway/base';
import { createPrismaAdapter } from '@gateway/database';
import type { TransactionalAppender } from '@gateway/events';
import type { Pool, PoolClient } from 'pg';
import { NO_BALANCE } from '../../core/credit/balance';
import type { LedgerStore } from '../../core/ports';
import { addCredit } from './add-credit';
import { holdCredit } from './hold-credit';
import { PrismaClient } from '../prisma/generated/client';
import { withRetries } from './retry';
import { settleGenerations } from './settle-generations';
import { voidHolds, voidOverdueHolds } from './void-holds';

export const BILLING_LEDGER_SCHEMA = 'billing_ledger';

export interface PostgresLedgerStoreOptions {
  /** Of the schema billing_ledger; the caller ends it. */
  readonly pool: Pool;
  /** Appends in the pool's own transactions: the log is in the same database, or is an outbox there. */
  readonly appender: TransactionalAppender<PoolClient>;
  readonly clock: Clock;
  readonly schema?: string;
}

/**
 * The ledger in PostgreSQL. Money moves in SQL functions that take a whole
 * batch; balances are read through Prisma.
 */
export function createPostgresLedgerStore({
  pool,
  appender,
  clock,
  schema = BILLING_LEDGER_SCHEMA,
}: PostgresLedgerStoreOptions): LedgerStore {
  const prisma = new PrismaClient({ adapter: createPrismaAdapter(pool, schema) });

  return {
    holdCredit: (holds, expectation = 'held') =>
      withRetries(() => holdCredit(pool, holds, expectation, clock.now())),
    voidHolds: (holds) => withRetries(() => voidHolds(pool, holds, clock.now())),
    voidOverdueHolds: (limit) => withRetries(() => voidOverdueHolds(pool, limit, clock.now())),
    addCredit: (credit) => withRetries(() => addCredit(pool, credit, clock.now())),

    settleGenerations: (generations, announce) =>
      withRetries(() => settleGenerations(pool, { generations, announce, appender, nowUnixMs: clock.now() })),

    readBalance: (organizationId) =>
      withRetries(async () => {
        const account = await prisma.account.findUnique({ where: { organizationId } });
        if (!account) return NO_BALANCE;
        return {
          creditedNanoUsd: nanoUsd(account.creditedNanoUsd),
          chargedNanoUsd: nanoUsd(account.chargedNanoUsd),
          heldNanoUsd: nanoUsd(account.heldNanoUsd),
          availableNanoUsd: nanoUsd(account.availableNanoUsd),
        };
      }),
  };
}
