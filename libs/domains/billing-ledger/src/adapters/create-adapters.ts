import type { Clock } from '@gateway/base';
import type { TransactionalAppender } from '@gateway/events';
import type { Pool, PoolClient } from 'pg';
import { createPostgresClaimStore } from './postgres/claim-store';
import { createPostgresLedgerHistory } from './postgres/ledger-history';
import { createPostgresLedgerStore } from './postgres/ledger-store';

export interface LedgerAdapterOptions {
  /** Of the schema `billing_ledger`, migrated. The caller ends it. */
  readonly pool: Pool;
  /** Announces what is settled, in the ledger's own transactions. */
  readonly appender: TransactionalAppender<PoolClient>;
  readonly clock: Clock;
  readonly settings: { readonly closedHoldRetentionMs: number };
}

/** Every port of the domain, over one PostgreSQL pool. */
export function createBillingLedgerAdapters({ pool, appender, clock, settings }: LedgerAdapterOptions) {
  return {
    store: createPostgresLedgerStore({ pool, appender, clock }),
    claims: createPostgresClaimStore({ pool, clock }),
    history: createPostgresLedgerHistory({ pool, clock, ...settings }),
  };
}
