import type { Clock } from '@gateway/base';
import type { TransactionalAppender } from '@gateway/events';
import type { Pool, PoolClient } from 'pg';
import { createPostgresClaimStore } from './postgres/claim-store';
import { createPostgresLedgerHistory } from './postgres/ledger-history';
import { createPostgresLedgerStore } from './postgres/ledger-store';

export interface LedgerAdapterOptions {
  /** Connects to the migrated schema `billing_ledger`. The caller ends it. */
  readonly pool: Pool;
  /** Announces settlements in the ledger's own transactions. */
  readonly appender: TransactionalAppender<PoolClient>;
  readonly clock: Clock;
  readonly settings: { readonly closedHoldRetentionMs: number };
}

/** All adapters of this library on one PostgreSQL pool. */
export function createBillingLedgerAdapters({ pool, appender, clock, settings }: LedgerAdapterOptions) {
  return {
    store: createPostgresLedgerStore({ pool, appender, clock }),
    claims: createPostgresClaimStore({ pool }),
    history: createPostgresLedgerHistory({ pool, clock, ...settings }),
  };
}
