import { hostname } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { IncidentsDefinition } from '@gateway/contracts/auth';
import { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { FINISHED_CONSUMER_GROUP } from '@gateway/events';
import { createKafkaEventLog } from '@gateway/events/kafka';
import { inferenceRouterSchema, openInferenceRouterModule, settleFromLog } from '@gateway/inference-router';
import {
  kafkaOptionsOf,
  openSchema,
  type ServiceCommand,
  type ServiceDeps,
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

/** Finished generations go to Kafka, else to the ledger by RPC, else to this replica's spool. */
export async function wireInferenceRouter(deps: ServiceDeps<Config>): Promise<ServiceWiring> {
  const { config, log, metrics, life, connect } = deps;
  const { pool } = await openSchema(ROUTER, deps);
  const events = createKafkaEventLog({
    ...kafkaOptionsOf(config),
    clientId: 'inference-router',
    clock,
    log,
    metrics,
  });
  life.onStop(() => events.stop());
  // The router reports the ledger's consumer lag, since a ledger that is down cannot.
  events.watchLag(FINISHED_CONSUMER_GROUP);
  const tokenizer = createTokenizer({ metrics });
  life.onStop(() => tokenizer.close());
  const { module } = openInferenceRouterModule({
    config,
    emulatorUrl: config.MODEL_EMULATOR_URL,
    pool,
    encryptionKeys: config.GATEWAY_SECRETS_KEY,
    stateDirectory: path.resolve(config.GATEWAY_STATE_DIR),
    tokenizer,
    processName: hostname(),
    events,
    ledger: createClient(
      BillingLedgerDefinition,
      connect('billing-ledger', config.GATEWAY_BILLING_LEDGER_TARGET),
    ),
    log,
    metrics,
  });
  const auth = connect('auth', config.GATEWAY_AUTH_TARGET);
  return { modules: [module], incidents: createClient(IncidentsDefinition, auth) };
}

/** `settle --from-log`: settles the generations that the router could only log, from log lines on standard input. */
export const settleCommand: ServiceCommand<Config> = {
  argument: '--from-log',
  async run({ config, connect }, argument) {
    if (argument !== '--from-log') throw new Error(`unknown option: settle ${argument}`);
    const transport = connect('billing-ledger', config.GATEWAY_BILLING_LEDGER_TARGET);
    const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
    const { settled, unsettledLines } = await settleFromLog(
      lines,
      createClient(BillingLedgerDefinition, transport),
    );
    const result = `Settled ${settled} generations.`;
    if (unsettledLines.length === 0) return result;
    throw new Error(`${result} Lines that are unreadable or rejected: ${unsettledLines.join(', ')}`);
  },
};
