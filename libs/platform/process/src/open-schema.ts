import {
  configureRole,
  createDatabaseClock,
  createDatabaseMonitor,
  createPool,
  isTransientDatabaseError,
  migrateDatabase,
  type DatabasePool,
  type DatabaseSchema,
} from '@gateway/database';
import type { Clock } from '@gateway/base';
import type { Lifecycle } from '@gateway/module';
import { systemClock, type Logger, type Registry } from '@gateway/runtime';
import type { Pool } from 'pg';
import { awaitDependency } from './await-dependency';
import type { DatabaseSettings } from './database-settings';

/** A schema that a service owns in its database. */
export interface ServiceSchema extends DatabaseSchema {
  readonly maxConnections: number;
  /** Session-level locks and LISTEN are used on all connections, so the pooler is bypassed. */
  readonly holdsSessions?: boolean;
}

export interface OpenSchemaDeps {
  readonly config: DatabaseSettings;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly life: Lifecycle;
  awaitDependency<Value>(what: string, attempt: () => Promise<Value>): Promise<Value>;
}

export interface OpenSchema {
  readonly pool: Pool;
  /** For session state such as LISTEN. The same as `pool` without a pooler. */
  readonly sessions: Pool;
  /** Follows the clock of the database. */
  readonly clock: Clock;
  /** Whether the database accepts writes. */
  isAvailable(): Promise<boolean>;
}

/** Size of the direct pool next to a pooler: one connection for LISTEN, one for other work. */
const MAX_SESSIONS = 2;

/**
 * Migrates a schema and opens a pool on it. Waits for an unavailable database.
 * Processes may do so concurrently.
 */
export async function openSchema(
  serviceSchema: ServiceSchema,
  { config, log, metrics, life, awaitDependency }: OpenSchemaDeps,
): Promise<OpenSchema> {
  const { schema, maxConnections } = serviceSchema;
  const { url, directUrl, throughPooler } = connectionUrls(serviceSchema, config);
  const options = {
    schema,
    applicationName: `gateway ${schema}`,
    queryTimeoutMs: config.GATEWAY_DATABASE_QUERY_TIMEOUT_MS,
    log,
  };
  const open = (more: { url: string; maxConnections: number; throughPooler?: boolean }): DatabasePool => {
    const pool = createPool({ ...options, ...more });
    life.onStop(() => pool.end());
    return pool;
  };
  const pool = open({ url, maxConnections, throughPooler });
  const sessions = throughPooler ? open({ url: directUrl, maxConnections: MAX_SESSIONS }) : pool;
  await awaitDependency(`the database (schema ${schema})`, () =>
    bringUpToDate(serviceSchema, { config, log }),
  );
  if (throughPooler) {
    await awaitDependency(`the pooler (schema ${schema})`, () => checkPooler(pool, schema));
  }
  const clock = createDatabaseClock({ pool, schema, clock: systemClock, metrics, log });
  await clock.start();
  life.onStop(() => clock.stop());
  const pools = [...new Set([pool, sessions])];
  const monitor = createDatabaseMonitor({ url, schema, pools, log, metrics, throughPooler });
  life.onStop(() => monitor.end());
  return { pool, sessions, clock, isAvailable: () => monitor.isAvailable() };
}

export interface MigrateOptions {
  readonly schemas: readonly ServiceSchema[];
  readonly config: DatabaseSettings;
  readonly log: Logger;
  /** Stops waiting for an unavailable database. */
  readonly signal: AbortSignal;
}

/**
 * Migrates the schemas: for a job that runs before new replicas start. Jobs may
 * run concurrently with each other and with services. Waits for an unavailable
 * database, but does not retry a failed migration.
 */
export async function migrateSchemas({ schemas, config, log, signal }: MigrateOptions): Promise<void> {
  for (const serviceSchema of schemas) {
    const { schema } = serviceSchema;
    await awaitDependency(
      `the database (schema ${schema})`,
      () => bringUpToDate(serviceSchema, { config, log }),
      { log, signal, isRetryable: isTransientDatabaseError },
    );
    log.info({ schema }, 'the schema is up to date');
  }
}

function connectionUrls({ holdsSessions = false }: ServiceSchema, config: DatabaseSettings) {
  const { DATABASE_URL, DATABASE_DIRECT_URL } = config;
  const directUrl = DATABASE_DIRECT_URL ?? DATABASE_URL;
  const throughPooler = DATABASE_DIRECT_URL !== undefined && !holdsSessions;
  return { url: throughPooler ? DATABASE_URL : directUrl, directUrl, throughPooler };
}

async function bringUpToDate(
  serviceSchema: ServiceSchema,
  { config, log }: Pick<OpenSchemaDeps, 'config' | 'log'>,
): Promise<void> {
  const { schema, migrations, functions } = serviceSchema;
  const { directUrl, throughPooler } = connectionUrls(serviceSchema, config);
  await migrateDatabase(directUrl, { schema, migrations, functions, log });
  if (!throughPooler) return;
  const pool = createPool({
    url: directUrl,
    schema,
    applicationName: `gateway ${schema} role`,
    maxConnections: 1,
  });
  try {
    await configureRole(pool, schema, config.GATEWAY_DATABASE_QUERY_TIMEOUT_MS);
  } finally {
    await pool.end();
  }
}

/** The pooler may still have connections from before the role was configured. */
async function checkPooler(pool: Pool, schema: string): Promise<void> {
  const { rows } = await pool.query<{ current_schema: string | null }>('select current_schema');
  const found = rows[0]?.current_schema;
  if (found !== schema) throw new Error(`the pooler still has connections with the search path '${found}'`);
}
