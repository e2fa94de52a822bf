import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AuthAdminDefinition, AuthDefinition } from '@gateway/contracts/auth';
import { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { ADMIN_CALLERS, DEFAULT_IDENTITY_DOMAIN } from '@gateway/contracts/callers';
import { writeActorKeys, writeServiceCertificates } from '@gateway/certificates';
import { findFreePort } from '@gateway/database';
import { introduce, type DevFile } from '@gateway/demo';
import { startTcpRelay, type TcpRelay } from '@gateway/dev-infra';
import { startModelEmulator } from '@gateway/model-emulator';
import { openActorSigner, openTlsFolder } from '@gateway/process';
import { createActingTransport, createClient } from '@gateway/rpc';
import { createReplicatedTransport } from '@gateway/rpc/grpc';
import type { Logger } from '@gateway/runtime';
import { sharedCompileCache } from '@gateway/test-support';
import { startDatastores, type Datastores } from './datastores';
import { createReplica, type Replica } from './replica';
import { ensureSecretsKey } from './secrets-key';
import {
  SERVICE_NAMES,
  settingsOf,
  type DatastoreAddresses,
  type ServiceName,
  type Wiring,
} from './services';
import { openNetworkProxies, type NetworkProxies } from './network-proxies';

export interface ClusterOptions {
  /** Contains the data of PostgreSQL and Kafka, the spools, and dev.json. */
  readonly stateDirectory: string;
  /** The folder with the services' builds. */
  readonly programs: string;
  readonly replicas: Readonly<Record<ServiceName, number>>;
  /** Ports of the public API and the dashboard; 0 picks a free one. */
  readonly port: number;
  readonly dashboardPort: number;
  readonly modelsFile: string;
  /** A running model emulator; one is started when absent. */
  readonly emulatorUrl?: string | undefined;
  /** A running Redis in any form, for rate-limit instead of the cluster's own. */
  readonly redisUrl?: string | undefined;
  /** The services' databases on another PostgreSQL, instead of the cluster's own. */
  readonly databases?: DatastoreAddresses['databases'] | undefined;
  /** Running Kafka brokers, `host:port` separated by commas, instead of the cluster's own. */
  readonly brokers?: string | undefined;
  /** Settings for every service, such as LOG_LEVEL or provider keys. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether services connect to each other, Redis and PostgreSQL through proxies that tests can cut. */
  readonly withNetworkProxies?: boolean;
  /** Whether services connect to PostgreSQL through PgBouncer in transaction mode. */
  readonly withPooler?: boolean;
  readonly onLine: (replica: string, line: string) => void;
  readonly log: Logger;
}

export interface Cluster {
  /** URLs and credentials for clients and admins. */
  readonly dev: DevFile;
  readonly replicas: readonly Replica[];
  readonly datastores: Datastores;
  readonly networkProxies: NetworkProxies | undefined;
  /** Simulates the ingress in front of the edges. */
  readonly front: TcpRelay;
  /** Resolves when every replica is ready. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const POLL_MS = 50;
/** Certificates are issued at every start. */
const CERTIFICATE_DAYS = 365;
/** Tokens per second of the emulator's responses, slow enough to see a stream arrive. */
const TOKENS_PER_SECOND = 60;

/** Starts the datastores, the replicas of every service, and a load balancer in front of the edges. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { stateDirectory, log } = options;
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (let next = stops.pop(); next; next = stops.pop()) {
      await next().catch((error: unknown) => log.error({ err: error }, 'failed to stop a process cleanly'));
    }
  };
  try {
    mkdirSync(stateDirectory, { recursive: true });
    const certificates = path.join(stateDirectory, 'rpc-tls');
    const services = [...SERVICE_NAMES, 'demo'];
    await writeServiceCertificates(certificates, {
      services,
      domain: DEFAULT_IDENTITY_DOMAIN,
      validDays: CERTIFICATE_DAYS,
    });
    await writeActorKeys(certificates, {
      services,
      signers: [...ADMIN_CALLERS],
      rotationDays: CERTIFICATE_DAYS,
      nowUnixMs: Date.now(),
    });
    const [datastores, emulatorUrl] = await Promise.all([
      startDatastores({
        stateDirectory,
        withPooler: options.withPooler ?? false,
        brokers: options.brokers,
        log,
      }),
      options.emulatorUrl ?? startEmulator(stops),
    ]);
    stops.push(() => datastores.stop());
    const ports = await findPorts(options.replicas);
    const all: Replica[] = [];
    const readyReplicas = (service: ServiceName) =>
      all
        .filter((replica) => replica.service === service && replica.isReady())
        .map(({ httpPort }) => ({ host: HOST, port: httpPort }));
    const front = await startTcpRelay({ port: options.port, upstreams: () => readyReplicas('edge-proxy') });
    stops.push(() => front.stop());
    const dashboard = await startTcpRelay({
      port: options.dashboardPort,
      upstreams: () => readyReplicas('dashboard-api'),
    });
    stops.push(() => dashboard.stop());

    const rpcPorts = (service: ServiceName, caller: string) =>
      ports[service].map(({ rpc, rpcAdmin }) => (ADMIN_CALLERS.has(caller) ? rpcAdmin : rpc));
    const networkProxies = options.withNetworkProxies
      ? await openNetworkProxies(datastores, rpcPorts)
      : undefined;
    if (networkProxies) stops.push(() => networkProxies.stop());
    const baseUrl = `http://${HOST}:${front.port}/v1`;
    const dashboardUrl = `http://${HOST}:${dashboard.port}`;
    const wiring: Wiring = {
      ...(networkProxies?.datastores ?? datastores),
      ...(options.redisUrl !== undefined && { redisUrl: options.redisUrl }),
      ...(options.databases !== undefined && { databases: options.databases, directDatabases: undefined }),
      targetOf:
        networkProxies?.targetOf ??
        ((service, caller) =>
          rpcPorts(service, caller)
            .map((port) => `${HOST}:${port}`)
            .join(',')),
      publicUrl: baseUrl,
      dashboardUrl,
      replicas: options.replicas,
      stateDirectoryOf: (replica) => path.join(stateDirectory, `inference-router-${replica}`),
      modelsFile: options.modelsFile,
      emulatorUrl,
      secretsKey: ensureSecretsKey(stateDirectory),
    };
    for (const service of SERVICE_NAMES) {
      ports[service].forEach((own, index) => {
        const name = `${service}-${index + 1}`;
        const environment = {
          ...options.environment,
          ...withoutUndefined(settingsOf(service, index + 1, wiring)),
          ...sharedCompileCache(options.programs),
          NODE_ENV: 'production',
          GATEWAY_HOST: HOST,
          GATEWAY_RPC_PORT: String(own.rpc),
          GATEWAY_RPC_ADMIN_PORT: String(own.rpcAdmin),
          GATEWAY_RPC_TLS_DIR: path.join(certificates, service),
          GATEWAY_ACTOR_KEYS_DIR: path.join(certificates, service),
          GATEWAY_ADMIN_PORT: String(own.admin),
          GATEWAY_PORT: String(own.http),
          GATEWAY_DASHBOARD_PORT: String(own.http),
        };
        const { programs } = options;
        const onLine = (line: string) => options.onLine(name, line);
        all.push(createReplica({ service, name, ports: own, environment, programs, onLine }));
      });
    }
    stops.push(() => stopReplicas(all));
    await Promise.all(all.map((replica) => replica.start()));

    const ready = async (): Promise<void> => {
      while (!all.every((replica) => replica.isReady())) await delay(POLL_MS);
    };
    await ready();
    const dev = await createDemo();
    return { dev, replicas: all, datastores, networkProxies, front, ready, stop };

    async function createDemo(): Promise<DevFile> {
      const own = path.join(certificates, 'demo');
      const tls = openTlsFolder(own, DEFAULT_IDENTITY_DOMAIN);
      const signer = openActorSigner(own, 'demo');
      const connect = (service: ServiceName) =>
        createReplicatedTransport({
          tls: () => tls.clientTls(service),
          target: rpcPorts(service, 'demo')
            .map((port) => `${HOST}:${port}`)
            .join(','),
        });
      const [auth, ledger] = [connect('auth'), connect('billing-ledger')];
      try {
        const clients = {
          auth: createClient(AuthDefinition, auth),
          authAdmin: createClient(
            AuthAdminDefinition,
            createActingTransport(auth, { audience: 'auth', signer }),
          ),
          billingLedger: createClient(
            BillingLedgerDefinition,
            createActingTransport(ledger, { audience: 'billing-ledger', signer }),
          ),
        };
        return await introduce({ clients, stateDirectory, baseUrl, dashboardUrl, log });
      } finally {
        auth.close();
        ledger.close();
      }
    }
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Stops calling services first, so that requests in flight can finish. */
async function stopReplicas(all: readonly Replica[]): Promise<void> {
  for (const service of ['edge-proxy', 'dashboard-api', 'inference-router'] as const) {
    await Promise.all(all.filter((replica) => replica.service === service).map((replica) => replica.stop()));
  }
  await Promise.all(all.map((replica) => replica.stop()));
}

async function startEmulator(stops: (() => Promise<void>)[]): Promise<string> {
  const emulator = await startModelEmulator({ host: HOST, port: 0, tokensPerSecond: TOKENS_PER_SECOND });
  stops.push(() => emulator.close());
  return emulator.url;
}

interface Ports {
  readonly admin: number;
  readonly rpc: number;
  readonly rpcAdmin: number;
  readonly http: number;
}

async function findPorts(
  replicas: Readonly<Record<ServiceName, number>>,
): Promise<Record<ServiceName, readonly Ports[]>> {
  const found: Partial<Record<ServiceName, Ports[]>> = {};
  for (const service of SERVICE_NAMES) {
    const own: Ports[] = [];
    for (let n = 0; n < replicas[service]; n += 1) {
      own.push({
        admin: await findFreePort(),
        rpc: await findFreePort(),
        rpcAdmin: await findFreePort(),
        http: await findFreePort(),
      });
    }
    found[service] = own;
  }
  return found as Record<ServiceName, Ports[]>;
}

function withoutUndefined(settings: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
