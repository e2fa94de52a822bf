import type { Clock } from '@gateway/base';
import type { TransactionalAppender } from '@gateway/events';
import type { Pool, PoolClient } from 'pg';
import { createMailAlertSender, type AlertMailer } from './mail/mail-alert-sender';
import { createPostgresCreditAlertStore } from './postgres/credit-alert-store';
import { createPostgresLedgerBooks } from './postgres/ledger-books';
import { createPostgresReconciler } from './postgres/reconciler';
import { createWebhookSender, faultOfWebhookUrl } from './undici/webhook-sender';

export interface StatementsAdapterOptions {
  /** Of the schema `billing_ledger`, migrated. The caller ends it. */
  readonly pool: Pool;
  /** The one that announces settlements: windows follow them in the same log. */
  readonly appender: TransactionalAppender<PoolClient>;
  readonly clock: Clock;
  /** Absent: an alert by mail reports that it was not sent. */
  readonly mailer?: AlertMailer | undefined;
  readonly settings: {
    /** Whether webhooks may be sent into private networks and by plain http. */
    readonly allowPrivateAddresses: boolean;
  };
}

/** Every port of the domain but the ledger's. */
export function createStatementsAdapters(options: StatementsAdapterOptions) {
  const { pool, appender, clock, mailer } = options;
  const { allowPrivateAddresses } = options.settings;
  return {
    books: createPostgresLedgerBooks({ pool, clock }),
    alerts: createPostgresCreditAlertStore({ pool }),
    alertSenders: [createWebhookSender({ clock, allowPrivateAddresses }), createMailAlertSender(mailer)],
    faultOfWebhookUrl: (url: string) => faultOfWebhookUrl(url, allowPrivateAddresses),
    reconciler: createPostgresReconciler({ pool, appender, clock }),
  };
}
