import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { SERVICE_NAMES, SERVICES, startCluster, type Cluster, type ServiceName } from '@gateway/cluster';
import { nanoUsdOf, type Tenant } from '@gateway/load';
import { startModelEmulator, type ModelEmulator } from '@gateway/model-emulator';
import type { Logger } from '@gateway/runtime';
import { FIRST_CATALOGUE } from './price-changes';
import type { LabPostgres } from './failover/lab-datastores';
import { type AdminClient, createTenant, signIn } from '@gateway/test-support';

/** A cluster with network proxies, a provider that fails occasionally, and tenants with credit. */
export interface ChaosTestEnv {
  readonly cluster: Cluster;
  readonly emulator: ModelEmulator;
  readonly dashboard: AdminClient;
  /** The Redis that rate-limit uses. */
  readonly redisUrl: string;
  /** URL of a database for a superuser. */
  readonly databaseUrl: (database: string) => string;
  readonly tenants: readonly Tenant[];
  /** Each tenant's credit. */
  readonly creditNanoUsd: ReadonlyMap<string, bigint>;
  stop(): Promise<void>;
}

export interface ChaosTestEnvOptions {
  readonly seed: number;
  /** The folder with the services' builds. */
  readonly programs: string;
  /** A running Redis in any form; the cluster's own when absent. */
  readonly redisUrl?: string;
  /** Databases on running servers; the cluster's own when absent. */
  readonly postgres?: LabPostgres;
  /** Running Kafka brokers; the cluster's own when absent. */
  readonly brokers?: string;
  readonly onLine: (replica: string, line: string) => void;
  readonly log: Logger;
}

/** Short timeouts, so that holds and leases of a crashed process expire soon. */
const ENVIRONMENT = {
  GATEWAY_CATALOGUE: 'database',
  GATEWAY_GENERATION_TIMEOUT_MS: '10000',
  GATEWAY_HOLD_MARGIN_MS: '5000',
  // Most responses are longer than half of a slice, and extend their hold.
  GATEWAY_ELASTIC_HOLD_TOKENS: '64',
  GATEWAY_IDEMPOTENCY_LEASE_MS: '4000',
  GATEWAY_SHUTDOWN_GRACE_MS: '10000',
  LOG_LEVEL: 'info',
};
const TOKENS_PER_SECOND = 200;
const MAX_SEEN_REQUESTS = 1_000_000;
const PROVIDER_FAULTS = { rate: 0.04, kinds: ['503', 'cut-before', 'cut-after:3', 'error-event:2'] };

/** The last tenant soon runs out of credit. */
const CREDITS_USD = { first: '100', second: '100', third: '100', poor: '0.002' };
const WITH_ELASTIC_HOLDS = ['third', 'poor'];

export async function openChaosTestEnv({
  seed,
  programs,
  redisUrl,
  postgres,
  brokers,
  onLine,
  log,
}: ChaosTestEnvOptions): Promise<ChaosTestEnv> {
  const stateDirectory = mkdtempSync(path.join(os.tmpdir(), 'gateway-chaos-'));
  // PostgreSQL may run as another user, which must enter this folder.
  chmodSync(stateDirectory, 0o755);
  const modelsFile = path.join(stateDirectory, 'models.yaml');
  writeFileSync(modelsFile, FIRST_CATALOGUE);
  const emulator = await startModelEmulator({
    seed,
    tokensPerSecond: TOKENS_PER_SECOND,
    maxSeenRequests: MAX_SEEN_REQUESTS,
  });
  let cluster: Cluster | undefined;
  const stop = async (): Promise<void> => {
    await cluster?.stop();
    await emulator.close();
    rmSync(stateDirectory, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const environment = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...ENVIRONMENT };
    cluster = await startCluster({
      stateDirectory,
      programs,
      replicas: Object.fromEntries(SERVICE_NAMES.map((name) => [name, SERVICES[name].replicas])) as Record<
        ServiceName,
        number
      >,
      port: 0,
      dashboardPort: 0,
      modelsFile,
      emulatorUrl: emulator.url,
      ...(redisUrl !== undefined && { redisUrl }),
      ...(postgres !== undefined && { databases: postgres.databases }),
      ...(brokers !== undefined && { brokers }),
      environment,
      withNetworkProxies: true,
      onLine,
      log,
    });
    const { dashboardUrl, adminEmail, adminPassword } = cluster.dev;
    const dashboard = await signIn(dashboardUrl, adminEmail, adminPassword);
    const tenants: Tenant[] = [];
    const creditNanoUsd = new Map<string, bigint>();
    for (const [name, usd] of Object.entries(CREDITS_USD)) {
      const tenant = await createTenant(dashboard, { name, credit: usd });
      const { organizationId, apiKey } = tenant;
      if (WITH_ELASTIC_HOLDS.includes(name)) await tenant.setElasticHolds(true);
      tenants.push({ name, organizationId, apiKey });
      creditNanoUsd.set(organizationId, nanoUsdOf(Number(usd)));
    }
    emulator.setFaults({ ...PROVIDER_FAULTS, seed });
    const { adminUrl } = cluster.datastores.postgres;
    return {
      cluster,
      emulator,
      dashboard,
      redisUrl: redisUrl ?? cluster.datastores.redis.url,
      databaseUrl: (database) => {
        const url = new URL(postgres?.adminUrl() ?? adminUrl);
        url.pathname = `/${database}`;
        return url.toString();
      },
      tenants,
      creditNanoUsd,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
