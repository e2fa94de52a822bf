import { hostname } from 'node:os';
import path from 'node:path';
import { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { READERS_OF_FINISHED } from '@gateway/events';
import { createKafkaEventLog } from '@gateway/events/kafka';
import {
  createBreakerObserver,
  createFileCatalogue,
  createFileSpool,
  createInferenceRouterModule,
  createOpenAiTransport,
  createOpossumBreakers,
  createPostgresDrainStore,
  EMULATOR_VARIABLE,
  inferenceRouterSchema,
  nodeTimers,
  readSecretsFrom,
} from '@gateway/inference-router';
import {
  kafkaOptionsOf,
  openSchema,
  type ServiceParts,
  type ServiceSchema,
  type ServiceWiring,
} from '@gateway/process';
import { createClient } from '@gateway/rpc';
import { systemClock as clock } from '@gateway/runtime';
import { createTokenizer } from '@gateway/tokenizer';
import type { Config } from './config';

const ROUTER: ServiceSchema = {
  ...inferenceRouterSchema,
  maxConnections: 2,
};

export const schemas = [ROUTER];

/** Long answers that wait to be counted; the next is estimated, since its end must be recorded. */
const MAX_WAITING_COUNTS = 1_000;

/** What is finished goes to Kafka, else to the ledger itself, else to this replica's own spool. */
export async function wireInferenceRouter(parts: ServiceParts<Config>): Promise<ServiceWiring> {
  const { config, log, metrics, life, connect } = parts;
  const { pool } = await openSchema(ROUTER, parts);
  const events = createKafkaEventLog({
    ...kafkaOptionsOf(config),
    clientId: 'inference-router',
    clock,
    log,
    metrics,
  });
  life.onStop(() => events.stop());
  // The ledger cannot tell that it does not read, when it is away.
  events.watchLag(READERS_OF_FINISHED);
  const tokenizer = createTokenizer({ metrics });
  life.onStop(() => tokenizer.close());
  const emulatorUrl = config.MODEL_EMULATOR_URL;
  const module = createInferenceRouterModule({
    catalogue: createFileCatalogue({
      path: path.resolve(config.GATEWAY_MODELS_FILE),
      variables: emulatorUrl === undefined ? {} : { [EMULATOR_VARIABLE]: emulatorUrl },
      secrets: readSecretsFrom(config.environment),
      clock,
      log,
    }),
    transport: createOpenAiTransport(),
    breakers: createOpossumBreakers({ clock, observer: createBreakerObserver(metrics, log) }),
    drainStore: createPostgresDrainStore(pool),
    processName: hostname(),
    tokenCounter: tokenizer.openCounter({ maxWaiting: MAX_WAITING_COUNTS }),
    spool: createFileSpool({ directory: path.resolve(config.GATEWAY_STATE_DIR, 'spool') }),
    events,
    ledger: createClient(BillingLedgerDefinition, connect(config.GATEWAY_BILLING_LEDGER_TARGET)),
    clock,
    timers: nodeTimers,
    random: Math.random,
    log,
    metrics,
    drainMs: config.GATEWAY_SHUTDOWN_GRACE_MS,
  });
  return { modules: [module] };
}
