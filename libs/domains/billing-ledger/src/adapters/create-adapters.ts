import type { Clock } from '@gateway/base';
import type { TransactionalAppender } from '@gateway/events';
import type { Pool, PoolClient } from 'pg';
import { createMailAlertSender, type AlertMailer } from './mail/mail-alert-sender';
import { createPostgresClaimStore } from './postgres/claim-store';
import { createPostgresCreditAlertStore } from './postgres/credit-alert-store';
import { createPostgresLedgerBooks } from './postgres/ledger-books';
import { createPostgresLedgerHistory } from './postgres/ledger-history';
import { createPostgresLedgerStore } from './postgres/ledger-store';
import { createPostgresReconciler } from './postgres/reconciler';
import { createWebhookSender, faultOfWebhookUrl } from './undici/webhook-sender';

export interface LedgerAdapterOptions {
  /** Of the schema `billing_ledger`, migrated. The caller ends it. */
  readonly pool: Pool;
  /** Announces what is settled, in the ledger's own transactions. */
  readonly appender: TransactionalAppender<PoolClient>;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  /** Absent: an alert that goes by mail says that it was not sent. */
  readonly mailer?: AlertMailer | undefined;
  readonly settings: {
    readonly closedHoldRetentionMs: number;
    /** Whether webhooks may go into private networks and by plain http. */
    readonly allowPrivateAddresses: boolean;
  };
}

/** Every port of the domain, over one PostgreSQL pool. */
export function createBillingLedgerAdapters({
  pool,
  appender,
  clock,
  newId,
  mailer,
  settings: { closedHoldRetentionMs, allowPrivateAddresses },
}: LedgerAdapterOptions) {
  return {
    store: createPostgresLedgerStore({ pool, appender, clock }),
    claims: createPostgresClaimStore({ pool, clock }),
    history: createPostgresLedgerHistory({ pool, clock, closedHoldRetentionMs }),
    reconciler: createPostgresReconciler({ pool, appender, clock }),
    admin: {
      books: createPostgresLedgerBooks({ pool, clock }),
      alerts: createPostgresCreditAlertStore({ pool }),
      alertSenders: [createWebhookSender({ clock, allowPrivateAddresses }), createMailAlertSender(mailer)],
      faultOfWebhookUrl: (url: string) => faultOfWebhookUrl(url, allowPrivateAddresses),
      newId,
    },
  };
}
