import { DAY_MS } from '@gateway/base';
import {
  BILLING_LEDGER_SCHEMA,
  billingLedgerMigrations,
  createBillingLedgerModule,
  createPostgresClaimStore,
  createPostgresLedgerHistory,
  createMailAlertSender,
  createPostgresCreditAlertStore,
  createPostgresLedgerBooks,
  createPostgresLedgerStore,
  createWebhookSender,
  faultOfWebhookUrl,
  createPostgresReconciler,
} from '@gateway/billing-ledger';
import { isTransientDatabaseError } from '@gateway/database';
import {
  createKafkaEventLog,
  createPostgresEventLog,
  EVENT_LOG_SCHEMA,
  eventLogMigrations,
  KafkaUnavailableError,
  relayTopic,
  TOPIC_GENERATION_SETTLED,
} from '@gateway/events';
import { kafkaOptionsOf, openSchema, type ServiceParts, type ServiceWiring } from '@gateway/process';
import { newId, systemClock as clock } from '@gateway/runtime';
import type { Config } from './config';

const MAX_LEDGER_CONNECTIONS = 10;
const MAX_EVENT_CONNECTIONS = 6;

/**
 * The ledger reads what is finished from Kafka. What it settles it announces in
 * its own transaction, in an outbox that is a PostgreSQL event log; a relay
 * carries the announcements to Kafka.
 */
export async function wireBillingLedger(parts: ServiceParts<Config>): Promise<ServiceWiring> {
  const { config, log, metrics, life } = parts;
  const url = config.DATABASE_URL;
  // First, since the ledger appends to it in its own transactions.
  const outboxSchema = await openSchema(
    { url, schema: EVENT_LOG_SCHEMA, migrations: eventLogMigrations, maxConnections: MAX_EVENT_CONNECTIONS },
    parts,
  );
  const ledger = await openSchema(
    {
      url,
      schema: BILLING_LEDGER_SCHEMA,
      migrations: billingLedgerMigrations,
      maxConnections: MAX_LEDGER_CONNECTIONS,
    },
    parts,
  );
  const { pool } = ledger;
  const events = createKafkaEventLog({
    ...kafkaOptionsOf(config),
    clientId: 'billing-ledger',
    letters: outboxSchema.pool,
    clock,
    log,
    metrics,
  });
  life.onStop(() => events.stop());
  const outbox = createPostgresEventLog({
    pool: outboxSchema.pool,
    clock,
    log,
    metrics,
    limits: { retentionMs: config.GATEWAY_EVENT_RETENTION_DAYS * DAY_MS },
    isTransient: (error) => error instanceof KafkaUnavailableError || isTransientDatabaseError(error),
  });
  await outbox.start();
  life.onStop(() => outbox.stop());
  await relayTopic({ outbox, log: events }, TOPIC_GENERATION_SETTLED);
  const allowPrivateAddresses = config.GATEWAY_WEBHOOKS_TO_PRIVATE_ADDRESSES;
  const module = createBillingLedgerModule({
    store: createPostgresLedgerStore({ pool, appender: outbox, clock }),
    claims: createPostgresClaimStore({ pool, clock }),
    reconciler: createPostgresReconciler({ pool, clock }),
    history: createPostgresLedgerHistory({
      pool,
      clock,
      closedHoldRetentionMs: config.GATEWAY_CLOSED_HOLD_RETENTION_DAYS * DAY_MS,
    }),
    admin: {
      books: createPostgresLedgerBooks({ pool, clock }),
      alerts: createPostgresCreditAlertStore({ pool }),
      alertSenders: [
        createWebhookSender({ clock, allowPrivateAddresses }),
        // Mails are the embedded gateway's; here an alert by mail says that it was not sent.
        createMailAlertSender(undefined),
      ],
      faultOfWebhookUrl: (webhookUrl) => faultOfWebhookUrl(webhookUrl, allowPrivateAddresses),
      newId,
    },
    deadLetters: events.deadLetters,
    clock,
    log,
    metrics,
  });
  return { modules: [module], events, ready: ledger.answers };
}
