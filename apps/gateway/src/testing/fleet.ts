import { createSigningKeys } from '@gateway/actors';
import { BILLING_LEDGER_SCHEMA } from '@gateway/billing-ledger';
import type { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { InferenceRouterDefinition } from '@gateway/contracts/inference-router';
import { createPool } from '@gateway/database';
import {
  createBodyThreads,
  createEdgeProxyModule,
  createKeyDirectory,
  createPageThreads,
  createRpcServices,
} from '@gateway/edge-proxy';
import { MAX_TOKENIZED_LENGTH } from '@gateway/tokenizer';
import { createPostgresEventLog } from '@gateway/events';
import { startModelEmulator, type ModelEmulator } from '@gateway/model-emulator';
import { createLifecycle, type Lifecycle } from '@gateway/module';
import { createClient, createInProcessTransport, type RpcClient } from '@gateway/rpc';
import { createLogger, createMetrics, newId, systemClock as clock, type Logger } from '@gateway/runtime';
import { createScratchDirectory, createTestDatabase } from '@gateway/test-support';
import type { Pool } from 'pg';
import { settings, type Config } from '../config';
import { openDatabase } from '../database';
import { ensureDemo } from '@gateway/demo';
import { createModules, type Modules } from '../modules';

type LedgerClient = RpcClient<typeof BillingLedgerDefinition>;

/** Several edges with shared backends, all in the test's process. */
export interface Fleet {
  /** With /v1. */
  readonly edges: readonly [string, string];
  /** An edge that cannot renew the claims of Idempotency-Keys. */
  readonly cutOffEdge: string;
  readonly apiKey: string;
  readonly otherApiKey: string;
  readonly modules: Modules;
  readonly emulator: ModelEmulator;
  readonly databaseUrl: string;
  /** The test's connections to the ledger. */
  readonly pool: Pool;
  /** All logged lines. */
  readonly logLines: readonly string[];
  close(): Promise<void>;
}

/** How long the claim of a terminated edge blocks its key. */
export const LEASE_MS = 3_000;

/** @param environment further settings */
export async function startFleet(environment: Readonly<Record<string, string>> = {}): Promise<Fleet> {
  const logLines: string[] = [];
  const log = createLogger({
    name: 'fleet',
    level: 'info',
    pretty: false,
    destination: { write: (line: string) => void logLines.push(line) },
  });
  const life = createLifecycle({ log });
  try {
    return { ...(await start(life, log, environment)), logLines, close: () => life.stop() };
  } catch (error) {
    await life.stop();
    throw error;
  }
}

async function start(
  life: Lifecycle,
  log: Logger,
  environment: Readonly<Record<string, string>>,
): Promise<Omit<Fleet, 'close' | 'logLines'>> {
  const state = await createScratchDirectory();
  life.onStop(() => state.remove());
  const { url, drop } = await createTestDatabase();
  life.onStop(drop);
  const emulator = await startModelEmulator();
  life.onStop(() => emulator.close());
  const database = await openDatabase({
    url,
    queryTimeoutMs: 8_000,
    stateDirectory: state.path,
    log,
    metrics: createMetrics({ processMetrics: false }),
  });
  life.onStop(() => database.close());
  const eventLog = createPostgresEventLog({
    pool: database.pools.eventLog,
    clock,
    log,
    metrics: createMetrics({ processMetrics: false }),
  });
  await eventLog.start();
  life.onStop(() => eventLog.stop());

  const config: Config = {
    ...settings.parse({
      GATEWAY_PORT: '0',
      GATEWAY_DASHBOARD_PORT: '0',
      GATEWAY_IDEMPOTENCY_LEASE_MS: String(LEASE_MS),
      ...environment,
    }),
    stateDirectory: state.path,
    environment: {},
  };
  const modules = createModules({
    config,
    pools: database.pools,
    eventLog,
    clock,
    emulatorUrl: emulator.url,
    signingKeys: await createSigningKeys(clock.now()),
    log,
    metrics: createMetrics({ processMetrics: false }),
    scryptCost: { N: 16, r: 1, p: 1 },
  });
  life.onStop(() => modules.tokenizer.close());
  await life.startModules(modules.inOrder);
  await life.subscribe(modules.inOrder, eventLog);

  const router = modules.inOrder.find(({ name }) => name === 'inference-router');
  const inferenceRouter = createClient(
    InferenceRouterDefinition,
    createInProcessTransport(router?.services ?? [], { caller: 'edge-proxy', log }),
  );
  const startEdge = async (billingLedger: LedgerClient): Promise<string> => {
    const metrics = createMetrics({ processMetrics: false });
    const edge = createEdgeProxyModule({
      ...createRpcServices({
        ...{ ...modules.edgeClients, billingLedger, inferenceRouter, clock, log, metrics },
        everyInferenceRouter: () => [inferenceRouter],
      }),
      keyDirectory: createKeyDirectory({
        auth: modules.edgeClients.auth,
        edgeId: newId('edge'),
        clock,
        log,
        metrics,
        maxCachedKeys: 100,
      }),
      tokenCounter: modules.tokenizer.openCounter(),
      bodyThreads: createBodyThreads({
        maxBodyBytes: config.GATEWAY_MAX_BODY_BYTES,
        maxTextLength: MAX_TOKENIZED_LENGTH,
      }),
      pageThreads: createPageThreads(),
      clock,
      log,
      metrics,
      settings: { host: config.GATEWAY_HOST, port: 0, claimLeaseMs: LEASE_MS },
    });
    await life.startModules([edge]);
    return urlOf(edge.port());
  };

  const { apiKey } = await ensureDemo(modules.demoClients, undefined, log);
  const { apiKey: otherApiKey } = await ensureDemo(modules.demoClients, undefined, log);
  const pool = createPool({
    url,
    schema: BILLING_LEDGER_SCHEMA,
    applicationName: 'auditor',
    maxConnections: 2,
  });
  life.onStop(() => pool.end());
  return {
    edges: [urlOf(modules.edge.port()), await startEdge(modules.edgeClients.billingLedger)],
    cutOffEdge: await startEdge(withoutRenewals(modules.edgeClients.billingLedger)),
    apiKey,
    otherApiKey,
    modules,
    emulator,
    databaseUrl: url,
    pool,
  };
}

function withoutRenewals(ledger: LedgerClient): LedgerClient {
  return {
    ...ledger,
    renewIdempotencyClaims: () => Promise.reject(new Error('the ledger is unreachable from this edge')),
  };
}

function urlOf(port: number | undefined): string {
  return `http://127.0.0.1:${port}/v1`;
}
