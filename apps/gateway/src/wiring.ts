import path from 'node:path';
import { createSigningKeys } from '@gateway/actors';
import type { Clock } from '@gateway/base';
import { banner, introduce, type DevFile } from '@gateway/demo';
import {
  createPostgresEventLog,
  EVENT_LOG_SCHEMA,
  eventLogLimitsOf,
  type PostgresEventLog,
} from '@gateway/events';
import { createDatabaseClock } from '@gateway/database';
import { createIncidentReporter, createLifecycle } from '@gateway/module';
import {
  createAdminServer,
  createMetrics,
  systemClock,
  type AdminServer,
  type Logger,
} from '@gateway/runtime';
import type { Pool } from 'pg';
import type { Config } from './config';
import { openDatabase } from './database';
import { startDemoProvider } from './emulator';
import { createModules, encodingsInUse, type ModuleDeps, type Modules, schemeOf } from './modules';

/** Port of health and metrics when none is set; if it is in use, a free one. */
const PREFERRED_ADMIN_PORT = 8082;
/** How long a stop waits for the settlement of finished generations. */
const EVENT_DRAIN_MS = 5_000;

export interface Gateway {
  /**
   * @param options.showSecrets whether the text may contain the key and the password
   * @returns the text to print for the person who started it
   */
  start(options: { readonly showSecrets: boolean }): Promise<string>;
  /** Resolves with the reason when the gateway can no longer serve requests. */
  readonly failed: Promise<Error>;
  /** Stops components in reverse order; also works after an incomplete start. */
  stop(): Promise<void>;
}

/** Shorter times of incidents and their notifications, in tests. */
export interface GatewayTiming {
  readonly incidentIntervalMs: number;
  readonly notifications: NonNullable<ModuleDeps['notificationTiming']>;
}

/** Starts and stops every module in one process with one PostgreSQL. modules.ts connects them. */
export function createGateway(config: Config, log: Logger, timing?: GatewayTiming): Gateway {
  const metrics = createMetrics({ labels: { process: 'gateway' } });
  const { stateDirectory } = config;
  const life = createLifecycle({ log });
  let ready = async () => false;
  let fail: (reason: Error) => void = () => undefined;
  const failed = new Promise<Error>((resolve) => (fail = resolve));

  async function start({ showSecrets }: { readonly showSecrets: boolean }): Promise<string> {
    const admin = await startAdmin();
    const demoProvider = await startDemoProvider(config);
    life.onStop(() => demoProvider.close());
    const database = await openDatabase({
      url: config.DATABASE_URL,
      queryTimeoutMs: config.GATEWAY_DATABASE_QUERY_TIMEOUT_MS,
      stateDirectory,
      log,
      metrics,
    });
    life.onStop(() => database.close());
    void database.failed.then(fail);
    const clock = await openClock(database.pools.eventLog);
    const eventLog = createPostgresEventLog({
      pool: database.pools.eventLog,
      clock,
      log,
      metrics,
      limits: eventLogLimitsOf(config),
    });
    await eventLog.start();
    life.onStop(() => drainAndStop(eventLog));

    const modules = createModules({
      config,
      pools: database.pools,
      eventLog,
      clock,
      emulatorUrl: demoProvider.url,
      signingKeys: await createSigningKeys(clock.now()),
      log,
      metrics,
      freezesMessages: false,
      notificationTiming: timing?.notifications,
    });
    life.onStop(() => modules.tokenizer.close());
    await life.startModules(modules.inOrder);
    await modules.tokenizer.warmUp(encodingsInUse(modules.catalogue.current()));
    await life.subscribe(modules.inOrder, eventLog);
    const reporter = createIncidentReporter({
      modules: modules.inOrder,
      incidents: modules.incidents,
      log,
      intervalMs: timing?.incidentIntervalMs,
    });
    reporter.start();
    life.onStop(() => reporter.stop());

    const devFile = await introduceDemo(modules);
    ready = async () => modules.edge.isReady() && (await database.isAvailable());
    return banner({
      ...devFile,
      adminUrl: `http://${config.GATEWAY_HOST}:${admin.port}`,
      modelId: firstModelId(modules),
      usesEmulator: demoProvider.url !== undefined,
      stateDirectory,
      modelsFile: path.resolve(config.GATEWAY_MODELS_FILE),
      showSecrets,
    });
  }

  /** The embedded database has the clock of this machine. */
  async function openClock(pool: Pool): Promise<Clock> {
    if (config.DATABASE_URL === undefined) return systemClock;
    const clock = createDatabaseClock({
      pool,
      schema: EVENT_LOG_SCHEMA,
      clock: systemClock,
      metrics,
      log,
    });
    await clock.start();
    life.onStop(() => clock.stop());
    return clock;
  }

  /** At this point only settlements still append events. */
  async function drainAndStop(eventLog: PostgresEventLog): Promise<void> {
    const drained = await eventLog.drain(EVENT_DRAIN_MS).catch(() => false);
    if (!drained) log.warn('unread events remain; they are processed at the next start');
    await eventLog.stop();
  }

  async function startAdmin(): Promise<{ readonly port: number }> {
    const create = (port: number): AdminServer =>
      createAdminServer({
        host: config.GATEWAY_HOST,
        port,
        metrics,
        ready: () => ready(),
        log,
      });
    const started = async (port: number) => {
      const server = create(port);
      const address = await server.start();
      life.onStop(() => server.stop());
      return address;
    };
    if (config.GATEWAY_ADMIN_PORT !== undefined) return started(config.GATEWAY_ADMIN_PORT);
    return started(PREFERRED_ADMIN_PORT).catch(() => started(0));
  }

  function introduceDemo({ demoClients: clients, edge, dashboardApi }: Modules): Promise<DevFile> {
    const { GATEWAY_HOST: host, GATEWAY_DASHBOARD_ORIGIN: origin } = config;
    const scheme = schemeOf(config);
    return introduce({
      clients,
      stateDirectory,
      baseUrl: `${scheme}://${host}:${edge.port()}/v1`,
      dashboardUrl: origin ?? `${scheme}://${host}:${dashboardApi.port()}`,
      log,
    });
  }

  async function stop(): Promise<void> {
    ready = async () => false;
    await life.stop();
  }

  return { start, failed, stop };
}

function firstModelId({ catalogue }: Modules): string | undefined {
  return [...catalogue.current().models.values()].find(({ disabled }) => !disabled)?.id;
}
