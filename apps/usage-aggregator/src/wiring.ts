import { IncidentsDefinition } from '@gateway/contracts/auth';
import { eventLogSchema } from '@gateway/events';
import { createKafkaEventLog } from '@gateway/events/kafka';
import {
  kafkaOptionsOf,
  openSchema,
  type ServiceDeps,
  type ServiceSchema,
  type ServiceWiring,
} from '@gateway/process';
import { createClient } from '@gateway/rpc';
import { openUsageAggregatorModule, usageSchema } from '@gateway/usage';
import type { Config } from './config';

const USAGE: ServiceSchema = { ...usageSchema, maxConnections: 6 };
const DEAD_LETTERS: ServiceSchema = {
  ...eventLogSchema,
  maxConnections: 6,
  holdsSessions: true,
};

export const schemas = [USAGE, DEAD_LETTERS];

export async function wireUsageAggregator(deps: ServiceDeps<Config>): Promise<ServiceWiring> {
  const { config, log, metrics, life, connect } = deps;
  const usage = await openSchema(USAGE, deps);
  const deadLetters = await openSchema(DEAD_LETTERS, deps);
  const events = createKafkaEventLog({
    ...kafkaOptionsOf(config),
    clientId: 'usage-aggregator',
    consumerPool: deadLetters.pool,
    clock: deadLetters.clock,
    log,
    metrics,
  });
  life.onStop(() => events.stop());
  const { pool, clock, isAvailable } = usage;
  const module = openUsageAggregatorModule({ config, pool, clock, events, log, metrics });
  return {
    modules: [module],
    events,
    incidents: createClient(IncidentsDefinition, connect('auth', config.GATEWAY_AUTH_TARGET)),
    ready: isAvailable,
  };
}
