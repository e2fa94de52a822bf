import { applyMigrations, createDatabaseProbe, createPool, type Migration } from '@gateway/database';
import type { Lifecycle } from '@gateway/module';
import type { Logger } from '@gateway/runtime';
import type { Pool } from 'pg';

export interface SchemaOptions {
  readonly url: string;
  readonly schema: string;
  readonly migrations: readonly Migration[];
  readonly maxConnections: number;
}

export interface SchemaParts {
  readonly log: Logger;
  readonly life: Lifecycle;
  awaitDependency<Value>(what: string, attempt: () => Promise<Value>): Promise<Value>;
}

export interface OpenSchema {
  readonly pool: Pool;
  /** Whether the database answers. */
  answers(): Promise<boolean>;
}

/**
 * A pool on one schema of a database, brought up to date. Any number of
 * processes may do so at once; a database that is not there yet is waited for.
 */
export async function openSchema(
  { url, schema, migrations, maxConnections }: SchemaOptions,
  { log, life, awaitDependency }: SchemaParts,
): Promise<OpenSchema> {
  const pool = createPool({ url, schema, applicationName: `gateway ${schema}`, maxConnections, log });
  life.onStop(() => pool.end());
  await awaitDependency(`the database (schema ${schema})`, () =>
    applyMigrations(pool, { schema, migrations, log }),
  );
  const probe = createDatabaseProbe({ url, schema, log });
  life.onStop(() => probe.end());
  return { pool, answers: () => probe.answers() };
}
