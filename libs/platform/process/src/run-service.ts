import { createLogSampler } from '@gateway/base';
import type { IncidentsDefinition } from '@gateway/contracts/auth';
import { ADMIN_CALLERS, isServedTo, PERMISSIONS } from '@gateway/contracts/callers';
import { contractDescriptors } from '@gateway/contracts/descriptors';
import {
  createIncidentReporter,
  createLifecycle,
  createRpcMetrics,
  type GatewayModule,
  type Lifecycle,
} from '@gateway/module';
import type { DeniedCall, RpcClient, RpcTransport } from '@gateway/rpc';
import { createGrpcServer, createReplicatedTransport, type GrpcServer } from '@gateway/rpc/grpc';
import {
  ConfigError,
  createAdminServer,
  createLogger,
  createMetrics,
  runProcess,
  type CreateLoggerOptions,
  type Logger,
  type Registry,
} from '@gateway/runtime';
import type { EventSubscriber } from '@gateway/events';
import { startTelemetry } from '@gateway/telemetry';
import { openActorVerifier } from './actor-keys';
import { awaitDependency } from './await-dependency';
import type { DatabaseSettings } from './database-settings';
import { migrateSchemas, type ServiceSchema } from './open-schema';
import type { ServiceConfig } from './settings';
import { openRpcTls, type TlsFolder } from './tls-folder';

/** Provided to the wiring of a service. */
export interface ServiceDeps<Config> {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Stops opened resources in reverse order. */
  readonly life: Lifecycle;
  /** Opens a transport to all replicas of another service, whose certificates must carry its name. */
  connect(service: string, target: string): RpcTransport;
  /** Retries until a dependency of the service is available, and logs each failure. */
  awaitDependency<Value>(what: string, attempt: () => Promise<Value>): Promise<Value>;
}

export interface ServiceWiring {
  /** In start order: dependencies first. */
  readonly modules: readonly GatewayModule[];
  /** For the consumers of the modules. */
  readonly events?: EventSubscriber;
  /** Auth, to which the service reports incidents. Absent: it reports none. */
  readonly incidents?: RpcClient<typeof IncidentsDefinition>;
  /** Whether the datastore of the service is available. Absent: always. */
  readonly ready?: () => boolean | Promise<boolean>;
}

export interface ServiceOptions<Config extends ServiceConfig> {
  /** The name of the app, module and image. */
  readonly name: string;
  /** Throws a ConfigError. */
  readonly loadConfig: () => Config;
  readonly wire: (deps: ServiceDeps<Config>) => Promise<ServiceWiring>;
  /** The schemas of the command `migrate`. */
  readonly schemas?: Config extends DatabaseSettings ? readonly ServiceSchema[] : never;
  /** Additional commands by name. */
  readonly commands?: Readonly<Record<string, ServiceCommand<Config>>>;
}

/** A command for a person at a terminal, which runs instead of the server. */
export interface ServiceCommand<Config> {
  /** The name of its argument in the usage text, such as EMAIL. */
  readonly argument: string;
  /** @returns the text to print. Of an error, the message is printed. */
  run(deps: Pick<ServiceDeps<Config>, 'config' | 'connect'>, argument: string): Promise<string>;
}

/** The exit code for invalid arguments or configuration. */
const USAGE_EXIT_CODE = 2;
/** Interval of log lines about the same client and method. */
const DENIED_LOG_INTERVAL_MS = 10_000;
/** Time to close resources after the grace period of running calls. */
const STOP_MARGIN_MS = 15_000;

/**
 * The main program of every service: configuration, logs, health, metrics, the
 * gRPC server, and graceful start and stop. `--check-config` validates the
 * configuration, `migrate` migrates the schemas, and a service may have commands
 * of its own. Each of these exits when it is done.
 */
export function runService<Config extends ServiceConfig>(
  { name, loadConfig, wire, schemas, commands = {} }: ServiceOptions<Config>,
  args: readonly string[] = process.argv.slice(2),
): void {
  const [word = '', argument] = args;
  const command = Object.hasOwn(commands, word) ? commands[word] : undefined;
  if (command !== undefined && argument !== undefined && args.length === 2) {
    void runCommand(command, readOrExit(loadConfig), argument);
    return;
  }
  const task = taskOrExit(name, args, {
    mayMigrate: schemas !== undefined,
    commands: Object.entries(commands).map((each) => `${each[0]} ${each[1].argument}`),
  });
  const config = readOrExit(loadConfig);
  if (task === 'check-config') {
    process.stdout.write('The configuration is valid.\n');
    return;
  }
  if (task === 'migrate' && schemas !== undefined && hasDatabase(config)) {
    void migrate({ schemas, config, log: createLogger(logOptions(name, config)) });
    return;
  }
  void serve({ name, config, wire, tls: readOrExit(() => openRpcTls(config)) });
}

/** Starts telemetry first: pools and instruments check only at creation whether it is on. */
async function serve<Config extends ServiceConfig>({
  name,
  config,
  wire,
  tls,
}: Pick<ServiceOptions<Config>, 'name' | 'wire'> & {
  readonly config: Config;
  readonly tls: TlsFolder | undefined;
}): Promise<void> {
  const telemetry = await startTelemetry({ serviceName: name, settings: config });
  const log = createLogger({ ...logOptions(name, config), onLine: telemetry.onLogLine });
  telemetry.reportTo(log);
  const service = createService({ name, config, wire, tls, log });
  await runProcess({
    start: () => service.start(),
    abortStart: () => service.abortStart(),
    stop: async () => {
      await service.stop();
      await telemetry.stop();
    },
    graceMs: config.GATEWAY_SHUTDOWN_GRACE_MS + STOP_MARGIN_MS,
    log,
  });
}

function logOptions(name: string, { LOG_LEVEL: level }: ServiceConfig): CreateLoggerOptions {
  return { name, level, pretty: process.stdout.isTTY === true };
}

export interface RunningService {
  start(): Promise<void>;
  /** No longer ready, and a start no longer waits for dependencies: it rejects. */
  abortStart(): void;
  stop(): Promise<void>;
}

/** A service without the process around it. */
export function createService<Config extends ServiceConfig>({
  name,
  config,
  wire,
  tls,
  log,
}: Pick<ServiceOptions<Config>, 'name' | 'wire'> & {
  readonly config: Config;
  /** Plain text when absent. */
  readonly tls?: TlsFolder | undefined;
  readonly log: Logger;
}): RunningService {
  const metrics = createMetrics({ labels: { process: name } });
  const life = createLifecycle({ log });
  const stopping = new AbortController();
  const deniedCalls = createLogSampler(() => performance.now(), { everyMs: DENIED_LOG_INTERVAL_MS });
  let ready: () => Promise<boolean> = async () => false;

  const deps: ServiceDeps<Config> = {
    config,
    log,
    metrics,
    life,
    connect: (service, target) => {
      const transport = createReplicatedTransport({
        target,
        ...(tls && { tls: () => tls.clientTls(service) }),
        onUnresolved: (error) => log.warn({ err: error, target }, 'cannot resolve the name of a service'),
      });
      life.onStop(async () => transport.close());
      return transport;
    },
    awaitDependency: (what, attempt) => awaitDependency(what, attempt, { log, signal: stopping.signal }),
  };

  async function start(): Promise<void> {
    const { GATEWAY_HOST: host, GATEWAY_ADMIN_PORT: port } = config;
    const admin = createAdminServer({ host, port, metrics, ready: () => ready(), log });
    life.onStop(() => admin.stop());
    const { port: adminPort } = await admin.start();
    const { modules, events, incidents, ready: dependenciesReady = () => true } = await wire(deps);
    await life.startModules(modules);
    if (events !== undefined) await life.subscribe(modules, events);
    if (incidents) reportIncidents(incidents, [...modules, databaseOf(dependenciesReady)]);
    const isReady = async (): Promise<boolean> => {
      if (stopping.signal.aborted || !(await dependenciesReady())) return false;
      const states = await Promise.all(modules.map((module) => module.isReady?.() ?? true));
      return states.every(Boolean);
    };
    const services = modules.flatMap((module) => module.services);
    const onCallEnd = createRpcMetrics(metrics);
    const servesPeople = services.some(({ definition }) =>
      Object.keys(PERMISSIONS).some((rpc) => rpc.startsWith(`${definition.fullName}/`)),
    );
    const actors = servesPeople ? openActorVerifier(config.GATEWAY_ACTOR_KEYS_DIR, name) : undefined;
    const openPort = (kind: 'admins' | 'requests', rpcPort: number): GrpcServer =>
      createGrpcServer({
        services: services.filter(({ definition }) => isServedTo(definition.fullName, kind)),
        host,
        port: rpcPort,
        log,
        isReady,
        drainMs: config.GATEWAY_SHUTDOWN_GRACE_MS,
        ...(config.GATEWAY_RPC_REFLECTION && { descriptors: contractDescriptors() }),
        onCallEnd,
        ...(tls && { tls: tls.files, identityDomain: tls.identityDomain }),
        ...(kind === 'requests' && { refusedCallers: ADMIN_CALLERS }),
        ...(actors && { actors }),
        onDenied: logDenied,
      });
    const ports = (['requests', 'admins'] as const)
      .filter((kind) => services.some(({ definition }) => isServedTo(definition.fullName, kind)))
      .map((kind) =>
        openPort(kind, kind === 'admins' ? config.GATEWAY_RPC_ADMIN_PORT : config.GATEWAY_RPC_PORT),
      );
    life.onStop(() => stopServing(ports, modules));
    const rpcPorts = await Promise.all(ports.map(async (server) => (await server.start()).port));
    log.info({ rpcPorts, adminPort }, `${name} is serving`);
    ready = isReady;
  }

  function reportIncidents(
    incidents: RpcClient<typeof IncidentsDefinition>,
    modules: Parameters<typeof createIncidentReporter>[0]['modules'],
  ): void {
    const reporter = createIncidentReporter({ modules, incidents, log });
    reporter.start();
    life.onStop(() => reporter.stop());
  }

  function databaseOf(isAvailable: () => boolean | Promise<boolean>) {
    const details = 'PostgreSQL does not respond';
    return {
      name: 'database',
      incidents: async () =>
        (await isAvailable()) ? [] : [{ cause: 'database_unavailable' as const, subject: name, details }],
    };
  }

  /** A client can repeat its calls at any rate, so its log lines are sampled. */
  function logDenied(denied: DeniedCall): void {
    const suppressed = deniedCalls.sample(`${denied.caller} ${denied.rpc}`);
    if (suppressed !== undefined) log.warn({ ...denied, suppressed }, 'a client may not make this call');
  }

  /** Accepts no new calls. Stops the modules while calls drain, since modules end their unlimited streams. */
  async function stopServing(
    servers: readonly GrpcServer[],
    modules: readonly GatewayModule[],
  ): Promise<void> {
    const drained = servers.map((server) => server.stop());
    for (const module of [...modules].reverse()) {
      await module
        .stop()
        .catch((error: unknown) => log.error({ err: error }, 'a module did not stop cleanly'));
    }
    await Promise.all(drained);
  }

  function abortStart(): void {
    stopping.abort(new Error('the service is stopping'));
  }

  async function stop(): Promise<void> {
    abortStart();
    await life.stop();
  }

  return { start, abortStart, stop };
}

type Task = 'serve' | 'check-config' | 'migrate';

interface Offer {
  readonly mayMigrate: boolean;
  /** Each with its argument. */
  readonly commands: readonly string[];
}

function taskOrExit(name: string, args: readonly string[], { mayMigrate, commands }: Offer): Task {
  const tasks: Readonly<Record<string, Task>> = {
    '--check-config': 'check-config',
    ...(mayMigrate && { migrate: 'migrate' }),
  };
  const [arg, unknown] = args;
  const task = arg === undefined ? 'serve' : tasks[arg];
  if (task !== undefined && unknown === undefined) return task;
  const usage = [...Object.keys(tasks), ...commands].join(' | ');
  process.stderr.write(`${name}: unknown option ${unknown ?? arg}\nUsage: ${name} [${usage}]\n`);
  process.exit(USAGE_EXIT_CODE);
}

/** Exits with 0 on success, else with 1. */
async function runCommand<Config extends ServiceConfig>(
  command: ServiceCommand<Config>,
  config: Config,
  argument: string,
): Promise<void> {
  const tls = readOrExit(() => openRpcTls(config));
  const opened: { close(): void }[] = [];
  const connect = (service: string, target: string): RpcTransport => {
    const transport = createReplicatedTransport({
      target,
      ...(tls && { tls: () => tls.clientTls(service) }),
    });
    opened.push(transport);
    return transport;
  };
  try {
    process.stdout.write(`${await command.run({ config, connect }, argument)}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  } finally {
    for (const transport of opened) transport.close();
  }
}

function hasDatabase<Config extends object>(config: Config): config is Config & DatabaseSettings {
  return 'DATABASE_URL' in config;
}

/** Exits with 0 if all schemas are up to date, else with 1. */
async function migrate(
  options: Pick<Parameters<typeof migrateSchemas>[0], 'schemas' | 'config' | 'log'>,
): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => stopping.abort(new Error(`stopped by ${signal}`)));
  }
  try {
    await migrateSchemas({ ...options, signal: stopping.signal });
  } catch (error) {
    options.log.fatal({ err: error }, 'cannot migrate the schemas');
    process.exitCode = 1;
  }
}

function readOrExit<Config>(loadConfig: () => Config): Config {
  try {
    return loadConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(USAGE_EXIT_CODE);
  }
}
