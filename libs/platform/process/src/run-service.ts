import { contractDescriptors } from '@gateway/contracts/descriptors';
import { createLifecycle, createRpcMetrics, type GatewayModule, type Lifecycle } from '@gateway/module';
import type { RpcTransport } from '@gateway/rpc';
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
import { awaitDependency } from './await-dependency';
import type { DatabaseSettings } from './database-settings';
import { migrateSchemas, type ServiceSchema } from './open-schema';
import type { ServiceConfig } from './settings';
import { openTlsFolder } from './tls-folder';

/** What a service is made of. */
export interface ServiceDeps<Config> {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Registry;
  /** Stops what was opened, in reverse. */
  readonly life: Lifecycle;
  /** Calls another service, every replica of it. */
  connect(target: string): RpcTransport;
  /** Waits, with a log line for each try, for what the service cannot start without. */
  awaitDependency<Value>(what: string, attempt: () => Promise<Value>): Promise<Value>;
}

export interface ServiceWiring {
  /** Those that others stand on first. Their services are served, their consumers subscribed. */
  readonly modules: readonly GatewayModule[];
  /** For the consumers of the modules. */
  readonly events?: EventSubscriber;
  /** Whether what it stands on answers; true when absent. */
  readonly ready?: () => boolean | Promise<boolean>;
}

export interface ServiceOptions<Config extends ServiceConfig> {
  /** As everywhere: of the app, the module, the image. */
  readonly name: string;
  /** Throws a ConfigError. */
  readonly loadConfig: () => Config;
  readonly wire: (deps: ServiceDeps<Config>) => Promise<ServiceWiring>;
  /** What `migrate` brings up to date. */
  readonly schemas?: Config extends DatabaseSettings ? readonly ServiceSchema[] : never;
  /** By the word that asks for it. */
  readonly commands?: Readonly<Record<string, ServiceCommand<Config>>>;
}

/** What a program does for somebody at a terminal, instead of serving. */
export interface ServiceCommand<Config> {
  /** What it takes, as the usage names it, such as EMAIL. */
  readonly argument: string;
  /** @returns what is printed. What it throws is printed by its message. */
  run(deps: Pick<ServiceDeps<Config>, 'config' | 'connect'>, argument: string): Promise<string>;
}

/** Of a process that could not do what it was asked because of how it was asked. */
const USAGE_EXIT_CODE = 2;
/** Beyond the grace of what runs: for closing what it used. */
const STOP_MARGIN_MS = 15_000;

/**
 * The main program of every service: configuration, logs, health and metrics,
 * the gRPC server, and an orderly start and stop. `--check-config` says whether
 * the configuration is valid and ends; `migrate` brings the service's schemas up
 * to date and ends; so do the commands of the service's own.
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
  if (task === 'migrate' && schemas !== undefined && keepsData(config)) {
    void migrate({ schemas, config, log: createLogger(logOptions(name, config)) });
    return;
  }
  void serve({ name, config, wire });
}

/** Telemetry comes first: what is made after it looks once whether there is any. */
async function serve<Config extends ServiceConfig>({
  name,
  config,
  wire,
}: Pick<ServiceOptions<Config>, 'name' | 'wire'> & { readonly config: Config }): Promise<void> {
  const telemetry = await startTelemetry({ serviceName: name, settings: config });
  const log = createLogger({ ...logOptions(name, config), onLine: telemetry.onLogLine });
  telemetry.reportTo(log);
  const service = createService({ name, config, wire, log });
  await runProcess({
    start: () => service.start(),
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
  stop(): Promise<void>;
}

/** A service without the process around it. */
export function createService<Config extends ServiceConfig>({
  name,
  config,
  wire,
  log,
}: Pick<ServiceOptions<Config>, 'name' | 'wire'> & {
  readonly config: Config;
  readonly log: Logger;
}): RunningService {
  const metrics = createMetrics({ labels: { process: name } });
  const life = createLifecycle({ log });
  const tls =
    config.GATEWAY_RPC_TLS_DIR === undefined ? undefined : openTlsFolder(config.GATEWAY_RPC_TLS_DIR);
  const stopping = new AbortController();
  let ready: () => Promise<boolean> = async () => false;

  const deps: ServiceDeps<Config> = {
    config,
    log,
    metrics,
    life,
    connect: (target) => {
      const transport = createReplicatedTransport({
        target,
        ...(tls && { tls: () => tls.read() }),
        onUnresolved: (error) => log.warn({ err: error, target }, 'a service cannot be found by its name'),
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
    const { modules, events, ready: standsFirm = () => true } = await wire(deps);
    await life.startModules(modules);
    if (events !== undefined) await life.subscribe(modules, events);
    const isReady = async (): Promise<boolean> => {
      if (stopping.signal.aborted || !(await standsFirm())) return false;
      const states = await Promise.all(modules.map((module) => module.isReady?.() ?? true));
      return states.every(Boolean);
    };
    const services = modules.flatMap((module) => module.services);
    if (services.length > 0) {
      const server = createGrpcServer({
        services,
        host,
        port: config.GATEWAY_RPC_PORT,
        log,
        isReady,
        drainMs: config.GATEWAY_SHUTDOWN_GRACE_MS,
        descriptors: contractDescriptors(),
        onCallEnd: createRpcMetrics(metrics),
        ...(tls && { tls: tls.files }),
      });
      life.onStop(() => stopServing(server, modules));
      const { port: rpcPort } = await server.start();
      log.info({ rpcPort, adminPort }, `${name} is open`);
    } else {
      log.info({ adminPort }, `${name} is open`);
    }
    ready = isReady;
  }

  /** No new calls; those under way end together with the modules, which end the streams that never would. */
  async function stopServing(server: GrpcServer, modules: readonly GatewayModule[]): Promise<void> {
    const drained = server.stop();
    for (const module of [...modules].reverse()) await module.stop();
    await drained;
  }

  async function stop(): Promise<void> {
    stopping.abort(new Error('the service stops'));
    await life.stop();
  }

  return { start, stop };
}

type Task = 'serve' | 'check-config' | 'migrate';

interface Offer {
  readonly mayMigrate: boolean;
  /** With what they take. */
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

/** As a process: it ends with 0 when it is done, with 1 when not. */
async function runCommand<Config extends ServiceConfig>(
  command: ServiceCommand<Config>,
  config: Config,
  argument: string,
): Promise<void> {
  const tls =
    config.GATEWAY_RPC_TLS_DIR === undefined ? undefined : openTlsFolder(config.GATEWAY_RPC_TLS_DIR);
  const opened: { close(): void }[] = [];
  const connect = (target: string): RpcTransport => {
    const transport = createReplicatedTransport({ target, ...(tls && { tls: () => tls.read() }) });
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

function keepsData<Config extends object>(config: Config): config is Config & DatabaseSettings {
  return 'DATABASE_URL' in config;
}

/** As a process: it ends with 0 when all is up to date, with 1 when not. */
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
    options.log.fatal({ err: error }, 'the schemas are not up to date');
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
