import type { Clock, Mailer } from '@gateway/base';
import type { TransactionalAppender } from '@gateway/events';
import type { Logger } from '@gateway/runtime';
import { createSecretCipher } from '@gateway/secrets';
import { createWebhookSender, webhookUrlIssue } from '@gateway/webhooks';
import type { Pool, PoolClient } from 'pg';
import { createBudgetAlertSender } from './budget-alert-sender';
import { createAlertPages, type AlertPagesOptions } from './mail/alert-pages';
import { createMailAlertSender } from './mail/mail-alert-sender';
import { createPostgresBudgetAlertStore } from './postgres/budget-alert-store';
import { createPostgresCreditAlertStore } from './postgres/credit-alert-store';
import { createPostgresStatementStore } from './postgres/statement-store';
import { createPostgresReconciler } from './postgres/reconciler';
import { createWebhookSecrets } from './postgres/webhook-secrets';
import { createWebhookAlertSender } from './webhook/webhook-alert-sender';

export interface StatementsAdapterOptions extends AlertPagesOptions {
  /** Connects to the migrated schema `billing_ledger`. The caller ends it. */
  readonly pool: Pool;
  /** The appender of the settlements, so that windows follow them in the same log. */
  readonly appender: TransactionalAppender<PoolClient>;
  readonly clock: Clock;
  /** If absent, email alerts fail with a message. */
  readonly mailer?: Mailer | undefined;
  /** The first key encrypts, all decrypt. Absent: no webhook can be stored. */
  readonly encryptionKeys: readonly string[] | undefined;
  readonly log: Logger;
  readonly settings: {
    /** Whether webhooks may be sent into private networks and by plain http. */
    readonly allowPrivateAddresses: boolean;
  };
}

/** All adapters of this library. */
export function createStatementsAdapters(options: StatementsAdapterOptions) {
  const { pool, appender, clock, mailer, encryptionKeys, log } = options;
  const { allowPrivateAddresses } = options.settings;
  const cipher = encryptionKeys && createSecretCipher(encryptionKeys);
  const secrets = createWebhookSecrets({ pool, cipher, log });
  const pages = createAlertPages(options);
  const webhooks = createWebhookSender({ clock, allowPrivateAddresses });
  return {
    statements: createPostgresStatementStore({ pool, clock }),
    alerts: createPostgresCreditAlertStore({ pool, secrets }),
    alertSenders: [createWebhookAlertSender(webhooks), createMailAlertSender(mailer, pages)],
    budgetAlerts: {
      alerts: createPostgresBudgetAlertStore({ pool, secrets }),
      sender: createBudgetAlertSender({ webhooks, mailer, pages }),
      sendsMail: mailer !== undefined,
    },
    webhookUrlIssue: (url: string) => webhookUrlIssue(url, allowPrivateAddresses),
    reconciler: createPostgresReconciler({ pool, appender, clock }),
  };
}
