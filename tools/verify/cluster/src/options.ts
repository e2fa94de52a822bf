import path from 'node:path';
import { parseArgs } from 'node:util';
import { SERVICE_NAMES, SERVICES, type ServiceName } from './services';

export const USAGE = `Usage: npm run cluster -- [--replicas SERVICE=N …] [--pooler]

Runs every service in its own processes on this machine, with PostgreSQL, Redis and Kafka.
Requires redis-server, and Java 17 with Maven for Kafka.

  --replicas  number of replicas, such as edge-proxy=3 or edge=3; may be repeated
              (default: ${SERVICE_NAMES.map((name) => `${name}=${SERVICES[name].replicas}`).join(' ')})
  --pooler    connect to PostgreSQL through PgBouncer in transaction mode; requires pgbouncer

Settings of the services (docs/reference/configuration.md) are read from the environment.
GATEWAY_PORT, GATEWAY_DASHBOARD_PORT and GATEWAY_STATE_DIR (default: .gateway/cluster) apply to the whole cluster.
`;

const MAX_REPLICAS = 9;
const DEFAULT_PORT = 8080;
const DEFAULT_DASHBOARD_PORT = 8081;

export interface ClusterCommand {
  readonly replicas: Readonly<Record<ServiceName, number>>;
  readonly withPooler: boolean;
  readonly port: number;
  readonly dashboardPort: number;
  readonly stateDirectory: string;
  readonly modelsFile: string;
  readonly emulatorUrl: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @returns 'help' if requested @throws Error for invalid arguments */
export function readCommand(argv: readonly string[], environment: Environment): ClusterCommand | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      replicas: { type: 'string', multiple: true, default: [] },
      pooler: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return 'help';
  return {
    replicas: readReplicas(values.replicas),
    withPooler: values.pooler,
    port: portOf(environment, 'GATEWAY_PORT', DEFAULT_PORT),
    dashboardPort: portOf(environment, 'GATEWAY_DASHBOARD_PORT', DEFAULT_DASHBOARD_PORT),
    stateDirectory: path.resolve(environment['GATEWAY_STATE_DIR'] || '.gateway/cluster'),
    modelsFile: path.resolve(environment['GATEWAY_MODELS_FILE'] || 'models.yaml'),
    emulatorUrl: environment['MODEL_EMULATOR_URL'] || undefined,
    environment: forwardedSettings(environment),
  };
}

function readReplicas(given: readonly string[]): Record<ServiceName, number> {
  const replicas: Record<string, number> = Object.fromEntries(
    SERVICE_NAMES.map((name) => [name, SERVICES[name].replicas]),
  );
  for (const text of given) {
    const [, name = '', count] = /^([a-z-]+)=(\d+)$/.exec(text) ?? [];
    const matches = SERVICE_NAMES.filter((service) => service === name || service.split('-').includes(name));
    const [service] = matches;
    if (service === undefined || matches.length > 1)
      throw new Error(`--replicas: unknown service in '${text}'`);
    const number = Number(count);
    if (number < 1 || number > MAX_REPLICAS)
      throw new Error(`--replicas must be 1 to ${MAX_REPLICAS}: '${text}'`);
    replicas[service] = number;
  }
  return replicas as Record<ServiceName, number>;
}

function portOf(environment: Environment, name: string, defaultPort: number): number {
  const text = environment[name];
  if (!text) return defaultPort;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw new Error(`${name}: '${text}' is not a port`);
  return Number(text);
}

/** The environment without the addresses that the cluster sets itself. */
function forwardedSettings(environment: Environment): Record<string, string> {
  const reserved =
    /^(GATEWAY_(HOST|PORT|DASHBOARD_PORT|DASHBOARD_ORIGIN|ADMIN_PORT|RPC_PORT|STATE_DIR|PUBLIC_URL|.*_TARGET)|DATABASE_URL|DATABASE_DIRECT_URL|REDIS_URL|KAFKA_BROKERS)(_FILE)?$/;
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && !reserved.test(entry[0]),
    ),
  );
}
