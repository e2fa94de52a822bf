import { createHash, randomUUID } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { applyFunctions } from './functions';
import type { DatabaseLog } from './log';
import { MigrationError } from './migration-error';
import { createPool } from './pool';
import { assertSchemaName } from './schema-name';

/** One step of a schema's history. Its text must never change once it is applied anywhere. */
export interface Migration {
  /** The name of the baseline, or a timestamp and a name such as "20270114093000_add_note"; names ascend. */
  readonly name: string;
  readonly sql: string;
}

/** The database schema of a domain. */
export interface DatabaseSchema {
  readonly schema: string;
  /** The first is the baseline, with the tables of the first release. */
  readonly migrations: readonly Migration[];
  /** Each function's `create or replace function` statement, by name. A trigger function's triggers follow it. */
  readonly functions: Readonly<Record<string, string>>;
}

export interface MigrationOptions extends DatabaseSchema {
  readonly log?: Pick<DatabaseLog, 'info'>;
}

/** The lock key of Prisma's migrate command, so that the two exclude each other. */
const MIGRATION_LOCK = 72_707_369;
/** How long to wait while another process migrates. */
const LOCK_TIMEOUT_MS = 120_000;

const CREATE_HISTORY = `
  create table if not exists "_prisma_migrations" (
    "id"                  varchar(36) primary key not null,
    "checksum"            varchar(64) not null,
    "finished_at"         timestamptz,
    "migration_name"      varchar(255) not null,
    "logs"                text,
    "rolled_back_at"      timestamptz,
    "started_at"          timestamptz not null default now(),
    "applied_steps_count" integer not null default 0
  )`;

interface AppliedMigration {
  readonly migration_name: string;
  readonly checksum: string;
  readonly finished: boolean;
}

type History = ReadonlyMap<string, AppliedMigration>;

/**
 * Creates the schema if it is missing and migrates it. Pending migrations are
 * applied in order, each in a transaction with its row in `_prisma_migrations`
 * (the table and checksums of Prisma's migrate command). Then functions whose
 * text has changed are replaced, and those without a text dropped, in one
 * transaction.
 *
 * Concurrent processes wait for each other. An older version can run next to a
 * newer one: it ignores unknown migrations and then leaves functions unchanged.
 *
 * @throws MigrationError if the schema was created by a version before 0.1.0, an
 *   applied migration was edited, another tool left one unfinished, or a
 *   migration or function fails.
 */
export async function applyMigrations(pool: Pool, options: MigrationOptions): Promise<void> {
  assertSchemaName(options.schema);
  assertAscending(options.migrations);
  const client = await pool.connect();
  try {
    await withLock(client, () => bringUpToDate(client, options));
  } finally {
    // Do not reuse the session: its settings have changed, and after a failure it may hold the lock.
    client.release(true);
  }
}

/** As `applyMigrations`, on a connection of its own whose statements may take any time. */
export async function migrateDatabase(
  url: string,
  options: MigrationOptions & { readonly log?: Pick<DatabaseLog, 'info' | 'warn'> },
): Promise<void> {
  const pool = createPool({
    url,
    schema: options.schema,
    applicationName: `gateway ${options.schema} migrate`,
    maxConnections: 1,
    queryTimeoutMs: 0,
    log: options.log,
  });
  try {
    await applyMigrations(pool, options);
  } finally {
    await pool.end();
  }
}

async function withLock(client: PoolClient, work: () => Promise<void>): Promise<void> {
  await client.query('set statement_timeout = 0');
  await client.query('set idle_in_transaction_session_timeout = 0');
  await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
  await work();
  await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
}

async function bringUpToDate(client: PoolClient, options: MigrationOptions): Promise<void> {
  const { schema, migrations, functions, log } = options;
  await client.query(`set search_path = "${schema}"`);
  // If nothing is pending, nothing is written, so that a read-only replica suffices.
  if (!(await hasHistory(client, schema))) {
    await assertEmpty(client, schema);
    await client.query(`create schema if not exists "${schema}"`);
    await client.query(CREATE_HISTORY);
  }
  const history = await readHistory(client);
  assertBaseline(options, history);
  await applyPending(client, options, history);
  const known = new Set(migrations.map(({ name }) => name));
  const isOlderThanDatabase = [...history.keys()].some((name) => !known.has(name));
  if (!isOlderThanDatabase) await applyFunctions(client, { schema, functions, log });
}

async function applyPending(client: PoolClient, options: MigrationOptions, history: History): Promise<void> {
  const { schema, migrations, log } = options;
  for (const migration of migrations) {
    const checksum = checksumOf(migration);
    const known = history.get(migration.name);
    if (known) {
      assertUnchanged(schema, migration, known, checksum);
      continue;
    }
    await applyOne(client, schema, migration, checksum);
    log?.info({ schema, migration: migration.name }, 'migration applied');
  }
}

async function hasHistory(client: PoolClient, schema: string): Promise<boolean> {
  const { rows } = await client.query<{ has: boolean }>('select to_regclass($1) is not null as has', [
    `"${schema}"._prisma_migrations`,
  ]);
  return rows[0]?.has === true;
}

async function readHistory(client: PoolClient): Promise<History> {
  const { rows } = await client.query<AppliedMigration>(`
    select migration_name, checksum, finished_at is not null as finished
    from "_prisma_migrations" where rolled_back_at is null`);
  return new Map(rows.map((row) => [row.migration_name, row]));
}

async function applyOne(client: PoolClient, schema: string, migration: Migration, checksum: string) {
  try {
    await client.query('begin');
    await client.query(migration.sql);
    await client.query(
      `insert into "_prisma_migrations" (id, checksum, migration_name, finished_at, applied_steps_count)
       values ($1, $2, $3, clock_timestamp(), 1)`,
      [randomUUID(), checksum, migration.name],
    );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    const reason = error instanceof Error ? error.message : String(error);
    throw new MigrationError(`migration ${migration.name} of schema ${schema} failed: ${reason}`, {
      cause: error,
    });
  }
}

/** Refuses a schema with tables that no migration created. */
async function assertEmpty(client: PoolClient, schema: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    'select relname as name from pg_class where relnamespace = to_regnamespace($1) limit 1',
    [`"${schema}"`],
  );
  if (rows[0]) throw new MigrationError(unknownOrigin(schema, `it has ${rows[0].name} and no migrations`));
}

/** Refuses a schema without the baseline: only versions before the first release had other migrations. */
function assertBaseline({ schema, migrations }: MigrationOptions, history: History): void {
  const baseline = migrations[0]?.name;
  const [found] = history.keys();
  if (baseline === undefined || found === undefined || history.has(baseline)) return;
  throw new MigrationError(unknownOrigin(schema, `it has the migration ${found} and not ${baseline}`));
}

const WAY_OUT =
  'It was left unchanged. Use an empty database; without a database of your own, move the state folder away or set ' +
  'GATEWAY_STATE_DIR to another one';

function unknownOrigin(schema: string, evidence: string): string {
  return (
    `the schema ${schema} of this database was created by a version before 0.1.0 (${evidence}), which cannot be ` +
    `upgraded. ${WAY_OUT}`
  );
}

function assertUnchanged(schema: string, migration: Migration, known: AppliedMigration, checksum: string) {
  if (!known.finished) {
    throw new MigrationError(
      `migration ${migration.name} of schema ${schema} was started by another tool and not finished`,
    );
  }
  if (known.checksum !== checksum) {
    throw new MigrationError(
      `the schema ${schema} of this database was created by another build: the migration ${migration.name} was edited ` +
        `after it was applied. ${WAY_OUT}. If you edited it, restore its text and add a new migration`,
    );
  }
}

function assertAscending(migrations: readonly Migration[]): void {
  migrations.forEach((migration, index) => {
    const previous = migrations[index - 1];
    if (previous && previous.name >= migration.name) {
      throw new MigrationError(`migrations are out of order: ${previous.name}, ${migration.name}`);
    }
  });
}

function checksumOf(migration: Migration): string {
  return createHash('sha256').update(migration.sql).digest('hex');
}
