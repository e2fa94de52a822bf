import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { authSchema } from '@gateway/auth';
import { billingLedgerSchema } from '@gateway/billing-ledger';
import { applyMigrations, createPool, type DatabaseSchema } from '@gateway/database';
import { eventLogSchema } from '@gateway/events';
import { inferenceRouterSchema } from '@gateway/inference-router';
import { createTestDatabase, readCatalog, type TestDatabase } from '@gateway/test-support';
import { usageSchema } from '@gateway/usage';
import type { Pool } from 'pg';
import beforeFirstRelease from './testing/database-before-0.1.0.sql';

const libs = path.resolve(__dirname, '../../../libs');
const SCHEMAS: readonly (readonly [string, DatabaseSchema, string])[] = [
  ['event_log', eventLogSchema, 'platform/events/src/postgres/sql'],
  ['auth', authSchema, 'domains/auth-shared/src/adapters/prisma'],
  ['billing_ledger', billingLedgerSchema, 'domains/billing-ledger/src/adapters/postgres/sql'],
  ['inference_router', inferenceRouterSchema, 'domains/inference-router/src/adapters/postgres/sql'],
  ['usage', usageSchema, 'domains/usage/src/adapters/postgres/sql'],
];

const AUDIT_ENTRIES = path.join(libs, 'platform/audit/src/sql/audit-entries.sql');
/** Their baselines end with the table of audit entries; that of auth has its own. */
const WITH_AUDIT_ENTRIES = ['event_log', 'billing_ledger', 'inference_router'];

let databases: TestDatabase[] = [];
let pools: Pool[] = [];

afterEach(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await Promise.all(databases.map((database) => database.drop()));
  [pools, databases] = [[], []];
});

async function openDatabase(): Promise<(schema: string) => Pool> {
  const database = await createTestDatabase();
  databases.push(database);
  return (schema) => {
    const pool = createPool({ url: database.url, schema, applicationName: 'test', maxConnections: 2 });
    pools.push(pool);
    return pool;
  };
}

/** All SQL files in a folder, sorted by path. */
function sqlFiles(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.sql'))
    .map((file) => path.join(folder, file))
    .sort();
}

const read = (file: string) => readFileSync(file, 'utf8');

describe.each(SCHEMAS)('the schema %s', (name, schema, folder) => {
  const functionFiles = sqlFiles(path.join(libs, folder, 'functions'));
  const tableFiles = [
    ...sqlFiles(path.join(libs, folder)).filter((file) => !functionFiles.includes(file)),
    ...(WITH_AUDIT_ENTRIES.includes(name) ? [AUDIT_ENTRIES] : []),
  ];

  it('matches its SQL files: a migrated database contains the same definitions', async () => {
    const [migrated, fromFiles] = [(await openDatabase())(name), (await openDatabase())(name)];
    await applyMigrations(migrated, schema);
    await fromFiles.query(`create schema ${name}`);
    for (const file of [...tableFiles, ...functionFiles]) await fromFiles.query(read(file));
    // The migration history has no SQL file.
    const withoutHistory = (lines: readonly string[]) =>
      lines.filter((line) => !line.includes('_prisma_migrations'));
    const catalog = withoutHistory(await readCatalog(migrated, name));
    expect(catalog.length).toBeGreaterThan(5);
    expect(catalog).toEqual(withoutHistory(await readCatalog(fromFiles, name)));
  });

  it('has a file for each function, with the same text as in the database', async () => {
    const pool = (await openDatabase())(name);
    await applyMigrations(pool, schema);
    const { rows } = await pool.query<{ name: string; body: string }>(
      'select proname as name, prosrc as body from pg_proc where pronamespace = $1::regnamespace order by 1',
      [name],
    );
    expect(rows.map((row) => `${row.name}.sql`)).toEqual(functionFiles.map((file) => path.basename(file)));
    rows.forEach((row, index) => {
      const text = read(functionFiles[index] ?? '');
      expect(text).toContain(`create or replace function ${row.name}(`);
      // The triggers of a trigger function follow it.
      expect(text).toContain(`as $$${row.body}$$;\n`);
    });
  });

  it('is rejected and left unchanged if commit 77ce3bf created it', async () => {
    const pool = (await openDatabase())(name);
    await pool.query(beforeFirstRelease);
    const state = async () => {
      const { rows: tables } = await pool.query<{ relname: string }>(
        `select relname from pg_class where relnamespace = $1::regnamespace and relkind = 'r' order by 1`,
        [name],
      );
      const contents = [];
      for (const { relname } of tables) contents.push((await pool.query(`table ${relname}`)).rows);
      return { catalog: await readCatalog(pool, name), contents };
    };
    const before = await state();
    expect(before.contents.map((rows) => rows.length > 0)).toEqual([true, true]);
    await expect(applyMigrations(pool, schema)).rejects.toThrow(
      new RegExp(
        `schema ${name} of this database was created by a version before 0.1.0 .*It was left unchanged`,
      ),
    );
    expect(await state()).toEqual(before);
  });
});
