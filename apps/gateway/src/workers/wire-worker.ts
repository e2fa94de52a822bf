import { createPool } from '@gateway/database';
import { createPostgresEventLog, EVENT_LOG_SCHEMA, eventLogLimitsOf } from '@gateway/events';
import { INFERENCE_ROUTER_SCHEMA } from '@gateway/inference-router';
import type { Lifecycle } from '@gateway/module';
import { createLocalTransport } from '@gateway/rpc/local';
import { systemClock as clock, type Logger, type Registry } from '@gateway/runtime';
import { createTokenizer } from '@gateway/tokenizer';
import type { Config } from '../config';
import { clientsOver, createEdge, createRouter, encodingsInUse } from '../modules';
import type { Beginning } from './messages';

export interface WorkerParts {
  readonly config: Config;
  readonly beginning: Beginning;
  readonly life: Lifecycle;
  readonly log: Logger;
  readonly metrics: Registry;
}

/**
 * An edge and a router. Both reach what is there once by the main process's
 * socket, but the database for what a router writes itself.
 *
 * @returns the port where the edge listens.
 */
export async function wireWorker({ config, beginning, life, log, metrics }: WorkerParts): Promise<number> {
  const { databaseUrl, socketPath, emulatorUrl, spoolDirectory, dashboardPort, workers } = beginning;
  const open = (schema: string, maxConnections: number) => {
    const pool = createPool({
      url: databaseUrl,
      schema,
      applicationName: `gateway worker ${beginning.worker} ${schema}`,
      maxConnections,
      log,
    });
    life.onStop(() => pool.end());
    return pool;
  };
  const events = createPostgresEventLog({
    pool: open(EVENT_LOG_SCHEMA, 2),
    clock,
    log,
    metrics,
    limits: eventLogLimitsOf(config),
  });
  life.onStop(() => events.stop());
  const stores = createLocalTransport({ path: socketPath, log });
  life.onStop(async () => stores.close());
  const clients = clientsOver(stores);
  const tokenizer = createTokenizer({ metrics });
  life.onStop(() => tokenizer.close());

  const { catalogue, inferenceRouter, routerClient } = createRouter({
    config,
    emulatorUrl,
    drains: open(INFERENCE_ROUTER_SCHEMA, 1),
    events,
    ledger: clients.billingLedger,
    tokenizer,
    spoolDirectory,
    freezesMessages: false,
    log,
    metrics,
  });
  await life.startModules([inferenceRouter]);
  await tokenizer.warmUp(encodingsInUse(catalogue.current()));
  const edge = createEdge({
    // What all bodies together may take is a promise of the whole gateway.
    config: {
      ...config,
      GATEWAY_MAX_BODY_BYTES_OF_ALL: Math.ceil(config.GATEWAY_MAX_BODY_BYTES_OF_ALL / workers),
    },
    clients,
    routerClient,
    tokenizer,
    dashboardPort: () => dashboardPort,
    log,
    metrics,
  });
  await life.startModules([edge]);
  return edge.port() as number;
}
