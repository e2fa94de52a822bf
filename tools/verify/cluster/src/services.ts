/** The services of `npm run cluster`, dependencies first, although any order works. */

export const SERVICES = {
  auth: { replicas: 2 },
  'rate-limit': { replicas: 2 },
  'billing-ledger': { replicas: 2 },
  'usage-aggregator': { replicas: 1 },
  'generation-query': { replicas: 1 },
  'inference-router': { replicas: 2 },
  'edge-proxy': { replicas: 2 },
  'dashboard-api': { replicas: 1 },
} as const satisfies Record<string, { readonly replicas: number }>;

export type ServiceName = keyof typeof SERVICES;
export const SERVICE_NAMES = Object.keys(SERVICES) as ServiceName[];

/** URLs of the datastores. */
export interface DatastoreAddresses {
  /** A database per domain, owned by a role that cannot connect to other databases. */
  readonly databases: Readonly<Record<DatabaseName, string>>;
  /** Direct URLs, if `databases` lead through a pooler. */
  readonly directDatabases?: Readonly<Record<DatabaseName, string>> | undefined;
  readonly redisUrl: string;
  readonly broker: string;
}

export const DATABASES = ['auth', 'billing_ledger', 'usage', 'inference_router'] as const;
export type DatabaseName = (typeof DATABASES)[number];

export interface Wiring extends DatastoreAddresses {
  /** All replicas of a service as a comma-separated list of `host:port`. */
  readonly targetOf: (service: ServiceName, caller: ServiceName) => string;
  readonly publicUrl: string;
  readonly dashboardUrl: string;
  readonly replicas: Readonly<Record<ServiceName, number>>;
  /** State folder of a replica of the router. */
  readonly stateDirectoryOf: (replica: number) => string;
  readonly modelsFile: string;
  readonly emulatorUrl: string | undefined;
  /** Encrypts stored secrets. */
  readonly secretsKey: string;
}

type Settings = Record<string, string | undefined>;

/** A service's settings except its ports. */
export function settingsOf(service: ServiceName, replica: number, wiring: Wiring): Settings {
  const { broker, redisUrl, replicas } = wiring;
  const target = (called: ServiceName) => wiring.targetOf(called, service);
  const database = (name: DatabaseName) => ({
    DATABASE_URL: wiring.databases[name],
    DATABASE_DIRECT_URL: wiring.directDatabases?.[name],
  });
  const all: Record<ServiceName, () => Settings> = {
    auth: () => ({ ...database('auth'), GATEWAY_SECRETS_KEY: wiring.secretsKey }),
    'rate-limit': () => ({
      REDIS_URL: redisUrl,
      GATEWAY_RATE_LIMIT_REPLICAS: String(replicas['rate-limit']),
    }),
    'billing-ledger': () => ({
      ...database('billing_ledger'),
      GATEWAY_SECRETS_KEY: wiring.secretsKey,
      KAFKA_BROKERS: broker,
      GATEWAY_AUTH_TARGET: target('auth'),
    }),
    'usage-aggregator': () => ({
      ...database('usage'),
      KAFKA_BROKERS: broker,
      GATEWAY_AUTH_TARGET: target('auth'),
    }),
    'generation-query': () => database('usage'),
    'inference-router': () => ({
      ...database('inference_router'),
      KAFKA_BROKERS: broker,
      GATEWAY_AUTH_TARGET: target('auth'),
      GATEWAY_BILLING_LEDGER_TARGET: target('billing-ledger'),
      GATEWAY_STATE_DIR: wiring.stateDirectoryOf(replica),
      GATEWAY_MODELS_FILE: wiring.modelsFile,
      GATEWAY_SECRETS_KEY: wiring.secretsKey,
      MODEL_EMULATOR_URL: wiring.emulatorUrl,
    }),
    'edge-proxy': () => ({
      GATEWAY_AUTH_TARGET: target('auth'),
      GATEWAY_RATE_LIMIT_TARGET: target('rate-limit'),
      GATEWAY_BILLING_LEDGER_TARGET: target('billing-ledger'),
      GATEWAY_INFERENCE_ROUTER_TARGET: target('inference-router'),
      GATEWAY_GENERATION_QUERY_TARGET: target('generation-query'),
      GATEWAY_USAGE_AGGREGATOR_TARGET: target('usage-aggregator'),
      GATEWAY_DASHBOARD_ORIGIN: wiring.dashboardUrl,
    }),
    'dashboard-api': () => ({
      GATEWAY_AUTH_TARGET: target('auth'),
      GATEWAY_BILLING_LEDGER_TARGET: target('billing-ledger'),
      GATEWAY_INFERENCE_ROUTER_TARGET: target('inference-router'),
      GATEWAY_GENERATION_QUERY_TARGET: target('generation-query'),
      GATEWAY_USAGE_AGGREGATOR_TARGET: target('usage-aggregator'),
      GATEWAY_PUBLIC_URL: wiring.publicUrl,
    }),
  };
  return all[service]();
}
