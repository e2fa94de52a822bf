import { billingLedgerSchema } from '@gateway/billing-ledger';
import { BudgetsDefinition, IncidentsDefinition } from '@gateway/contracts/auth';
import { isTransientDatabaseError } from '@gateway/database';
import {
  createPostgresEventLog,
  eventLogLimitsOf,
  eventLogSchema,
  SETTLED_CONSUMER_GROUP,
  relayTopic,
  TOPIC_GENERATION_SETTLED,
} from '@gateway/events';
import { createKafkaEventLog, KafkaUnavailableError } from '@gateway/events/kafka';
import { openMailer } from '@gateway/mail';
import {
  kafkaOptionsOf,
  openSchema,
  type ServiceDeps,
  type ServiceSchema,
  type ServiceWiring,
} from '@gateway/process';
import { createClient } from '@gateway/rpc';
import { openLedgerModules } from '@gateway/statements';
import type { Config } from './config';

const OUTBOX: ServiceSchema = {
  ...eventLogSchema,
  maxConnections: 6,
  holdsSessions: true,
};
const LEDGER: ServiceSchema = {
  ...billingLedgerSchema,
  maxConnections: 10,
};

/** The outbox is migrated first, because the ledger appends to it in its own transactions. */
export const schemas = [OUTBOX, LEDGER];

/**
 * The ledger consumes finished generations from Kafka. It announces settlements in
 * its own transactions, in an outbox that is a PostgreSQL event log. A relay copies
 * the announcements to Kafka.
 */
export async function wireBillingLedger(deps: ServiceDeps<Config>): Promise<ServiceWiring> {
  const { config, log, metrics, life, connect } = deps;
  const outboxSchema = await openSchema(OUTBOX, deps);
  const ledger = await openSchema(LEDGER, deps);
  const events = createKafkaEventLog({
    ...kafkaOptionsOf(config),
    clientId: 'billing-ledger',
    consumerPool: outboxSchema.pool,
    clock: outboxSchema.clock,
    log,
    metrics,
  });
  life.onStop(() => events.stop());
  const outbox = createPostgresEventLog({
    pool: outboxSchema.pool,
    clock: outboxSchema.clock,
    log,
    metrics,
    limits: eventLogLimitsOf(config),
    isTransient: (error) => error instanceof KafkaUnavailableError || isTransientDatabaseError(error),
  });
  await outbox.start();
  life.onStop(() => outbox.stop());
  // Measured here, because usage-aggregator cannot report its lag while it is down.
  events.watchLag(SETTLED_CONSUMER_GROUP);
  await relayTopic({ outbox, log: events }, TOPIC_GENERATION_SETTLED);
  const auth = connect('auth', config.GATEWAY_AUTH_TARGET);
  const { billingLedger, statements } = openLedgerModules({
    config,
    auth: createClient(BudgetsDefinition, auth),
    pool: ledger.pool,
    clock: ledger.clock,
    appender: outbox,
    events,
    mailer: openMailer(config),
    dashboardUrl: () => config.GATEWAY_DASHBOARD_ORIGIN,
    encryptionKeys: config.GATEWAY_SECRETS_KEY,
    log,
    metrics,
  });
  return {
    modules: [billingLedger, statements],
    events,
    incidents: createClient(IncidentsDefinition, auth),
    ready: ledger.isAvailable,
  };
}
