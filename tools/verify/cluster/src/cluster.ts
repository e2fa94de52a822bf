import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AuthAdminDefinition, AuthDefinition } from '@gateway/contracts/auth';
import { BillingLedgerDefinition } from '@gateway/contracts/billing-ledger';
import { findFreePort } from '@gateway/database';
import { introduce, type DevFile } from '@gateway/demo';
import { startTcpRelay, type TcpRelay } from '@gateway/dev-infra';
import { startModelEmulator } from '@gateway/model-emulator';
import { createClient } from '@gateway/rpc';
import { createReplicatedTransport } from '@gateway/rpc/grpc';
import type { Logger } from '@gateway/runtime';
import { startEngines, type Engines } from './engines';
import { createReplica, type Replica } from './replica';
import { ensureSecretsKey } from './secrets-key';
import { SERVICE_NAMES, settingsOf, type ServiceName, type Wiring } from './services';
import { openWires, type Wires } from './wires';

export interface ClusterOptions {
  /** What PostgreSQL, Kafka and the spools keep, and dev.json. */
  readonly stateDirectory: string;
  /** Where the builds of the services are. */
  readonly programs: string;
  readonly replicas: Readonly<Record<ServiceName, number>>;
  /** Of the public API and the dashboard; 0 picks free ones. */
  readonly port: number;
  readonly dashboardPort: number;
  readonly modelsFile: string;
  /** A model emulator that runs already; one is started when absent. */
  readonly emulatorUrl?: string | undefined;
  /** Settings for every service, such as LOG_LEVEL or keys of providers. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether services reach each other, Redis and PostgreSQL through wires that can be cut. */
  readonly withWires?: boolean;
  /** Whether PgBouncer stands before PostgreSQL, in transaction mode. */
  readonly withPooler?: boolean;
  readonly onLine: (replica: string, line: string) => void;
  readonly log: Logger;
}

export interface Cluster {
  /** How clients, admins and the demo reach it. */
  readonly dev: DevFile;
  readonly replicas: readonly Replica[];
  readonly engines: Engines;
  readonly wires: Wires | undefined;
  /** What stands for an ingress before the edges. */
  readonly front: TcpRelay;
  /** Resolves when every replica is ready. */
  ready(): Promise<void>;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const POLL_MS = 50;
/** Tokens per second of the emulator's answers, so that a stream is seen to stream. */
const TOKENS_PER_SECOND = 60;

/** The engines, every service in as many processes as asked, and a balancer before the edges. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { stateDirectory, log } = options;
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (let next = stops.pop(); next; next = stops.pop()) {
      await next().catch((error: unknown) => log.error({ err: error }, 'something did not stop cleanly'));
    }
  };
  try {
    mkdirSync(stateDirectory, { recursive: true });
    const [engines, emulatorUrl] = await Promise.all([
      startEngines({ stateDirectory, withPooler: options.withPooler ?? false, log }),
      options.emulatorUrl ?? startEmulator(stops),
    ]);
    stops.push(() => engines.stop());
    const ports = await findPorts(options.replicas);
    const all: Replica[] = [];
    const readyOnes = (service: ServiceName) =>
      all
        .filter((replica) => replica.service === service && replica.isReady())
        .map(({ httpPort }) => ({ host: HOST, port: httpPort }));
    const front = await startTcpRelay({ port: options.port, upstreams: () => readyOnes('edge-proxy') });
    stops.push(() => front.stop());
    const dashboard = await startTcpRelay({
      port: options.dashboardPort,
      upstreams: () => readyOnes('dashboard-api'),
    });
    stops.push(() => dashboard.stop());

    const rpcPorts = (service: ServiceName) => ports[service].map(({ rpc }) => rpc);
    const wires = options.withWires ? await openWires(engines, rpcPorts) : undefined;
    if (wires) stops.push(() => wires.stop());
    const baseUrl = `http://${HOST}:${front.port}/v1`;
    const dashboardUrl = `http://${HOST}:${dashboard.port}`;
    const wiring: Wiring = {
      ...(wires?.engines ?? engines),
      targetOf:
        wires?.targetOf ??
        ((service) =>
          rpcPorts(service)
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
          NODE_ENV: 'production',
          GATEWAY_HOST: HOST,
          GATEWAY_RPC_PORT: String(own.rpc),
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
    const dev = await introduceDemo();
    return { dev, replicas: all, engines, wires, front, ready, stop };

    async function introduceDemo(): Promise<DevFile> {
      const connect = (service: ServiceName) =>
        createReplicatedTransport({
          target: rpcPorts(service)
            .map((port) => `${HOST}:${port}`)
            .join(','),
        });
      const [auth, ledger] = [connect('auth'), connect('billing-ledger')];
      try {
        const clients = {
          auth: createClient(AuthDefinition, auth),
          authAdmin: createClient(AuthAdminDefinition, auth),
          billingLedger: createClient(BillingLedgerDefinition, ledger),
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

/** Those that call others first, so that what runs can finish. */
async function stopReplicas(all: readonly Replica[]): Promise<void> {
  for (const service of ['edge-proxy', 'dashboard-api', 'inference-router'] as const) {
    await Promise.all(all.filter((one) => one.service === service).map((one) => one.stop()));
  }
  await Promise.all(all.map((one) => one.stop()));
}

async function startEmulator(stops: (() => Promise<void>)[]): Promise<string> {
  const emulator = await startModelEmulator({ host: HOST, port: 0, tokensPerSecond: TOKENS_PER_SECOND });
  stops.push(() => emulator.close());
  return emulator.url;
}

interface Ports {
  readonly admin: number;
  readonly rpc: number;
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
