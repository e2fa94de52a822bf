import {
  applyMigrations,
  createDatabaseProbe,
  createPool,
  isTransientDatabaseError,
  settleRole,
  type DatabaseSchema,
} from '@gateway/database';
import type { Lifecycle } from '@gateway/module';
import type { Logger } from '@gateway/runtime';
import type { Pool } from 'pg';
import { awaitDependency } from './await-dependency';
import type { DatabaseSettings } from './database-settings';

/** A schema that a service keeps in its database. */
export interface ServiceSchema extends DatabaseSchema {
  readonly maxConnections: number;
  /** Its users hold locks and listen: no pooler may stand between. Its statements name the schema. */
  readonly holdsSessions?: boolean;
}

export interface OpenSchemaDeps {
  readonly config: DatabaseSettings;
  readonly log: Logger;
  readonly life: Lifecycle;
  awaitDependency<Value>(what: string, attempt: () => Promise<Value>): Promise<Value>;
}

export interface OpenSchema {
  readonly pool: Pool;
  /** For what lasts longer than a transaction; the same as `pool` where there is no pooler. */
  readonly sessions: Pool;
  /** Whether the database answers. */
  answers(): Promise<boolean>;
}

/** Of the pool past a pooler: one that listens, one for what comes and goes. */
const MAX_SESSIONS = 2;

/**
 * A pool on one schema of a database, brought up to date. Any number of
 * processes may do so at once; a database that is not there yet is waited for.
 */
export async function openSchema(
  kept: ServiceSchema,
  { config, log, life, awaitDependency }: OpenSchemaDeps,
): Promise<OpenSchema> {
  const { schema, maxConnections } = kept;
  const { url, directUrl, throughPooler } = placesOf(kept, config);
  const options = { schema, applicationName: `gateway ${schema}`, log };
  const open = (more: { url: string; maxConnections: number; throughPooler?: boolean }): Pool => {
    const pool = createPool({ ...options, ...more });
    life.onStop(() => pool.end());
    return pool;
  };
  const pool = open({ url, maxConnections, throughPooler });
  const sessions = throughPooler ? open({ url: directUrl, maxConnections: MAX_SESSIONS }) : pool;
  await awaitDependency(`the database (schema ${schema})`, () =>
    bringUpToDate(sessions, kept, { log, throughPooler }),
  );
  if (throughPooler) {
    await awaitDependency(`the pooler (schema ${schema})`, () => checkPooler(pool, schema));
  }
  const probe = createDatabaseProbe({ url, schema, log, throughPooler });
  life.onStop(() => probe.end());
  return { pool, sessions, answers: () => probe.answers() };
}

export interface MigrateOptions {
  readonly schemas: readonly ServiceSchema[];
  readonly config: DatabaseSettings;
  readonly log: Logger;
  /** Gives up the wait for a database that is away. */
  readonly signal: AbortSignal;
}

/**
 * Brings the schemas up to date and ends: for a job that runs before new
 * replicas start. Any number may run at once, beside services too. A database
 * that is away is waited for; a migration that fails is not tried again.
 */
export async function migrateSchemas({ schemas, config, log, signal }: MigrateOptions): Promise<void> {
  for (const kept of schemas) {
    const { schema } = kept;
    const { directUrl, throughPooler } = placesOf(kept, config);
    const pool = createPool({
      url: directUrl,
      schema,
      applicationName: `gateway ${schema} migrate`,
      maxConnections: 1,
      log,
    });
    try {
      await awaitDependency(
        `the database (schema ${schema})`,
        () => bringUpToDate(pool, kept, { log, throughPooler }),
        { log, signal, isWorthAnotherTry: isTransientDatabaseError },
      );
      log.info({ schema }, 'the schema is up to date');
    } finally {
      await pool.end();
    }
  }
}

function placesOf({ holdsSessions = false }: ServiceSchema, config: DatabaseSettings) {
  const { DATABASE_URL, DATABASE_DIRECT_URL } = config;
  const directUrl = DATABASE_DIRECT_URL ?? DATABASE_URL;
  const throughPooler = DATABASE_DIRECT_URL !== undefined && !holdsSessions;
  return { url: throughPooler ? DATABASE_URL : directUrl, directUrl, throughPooler };
}

async function bringUpToDate(
  pool: Pool,
  kept: ServiceSchema,
  { log, throughPooler }: { readonly log: Logger; readonly throughPooler: boolean },
): Promise<void> {
  const { schema, migrations, functions } = kept;
  await applyMigrations(pool, { schema, migrations, functions, log });
  if (throughPooler) await settleRole(pool, schema);
}

/** Connections that it made before the role had its settings do not know them. */
async function checkPooler(pool: Pool, schema: string): Promise<void> {
  const { rows } = await pool.query<{ current_schema: string | null }>('select current_schema');
  const found = rows[0]?.current_schema;
  if (found !== schema) throw new Error(`connections of the pooler look up names in '${found}' still`);
}
